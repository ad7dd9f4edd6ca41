"""What the scripts of test/mpi share: they run MPI programs, compare numacoll's counts, and print
TAP lines."""
import contextlib
import ctypes
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
PREFIX = pathlib.Path(sys.argv[1]).resolve()
V = "MPIR_CVAR_NUMACOLL_"
FORCED = {"MPIR_CVAR_BCAST_INTRA_ALGORITHM": "numacoll", V + "REPORT": "2", "NCTEST_CALLS": "1"}
# rings of 64 KiB, so that longer messages do not fit
SHORT_RINGS = {V + "QUEUE_LENGTH": "8", V + "FRAGMENT_SIZE": "8192"}
# the programs of coll/; a folder for each library, because each MPICH has an mpi.h of its own
BIN = HERE / "coll/bin" / PREFIX.parent.name
PRELOAD = BIN / "refuse.so"
count = bad = 0


def generated(*words):
    """The words that maint/gencvars prints with these arguments."""
    gencvars = HERE.parent.parent / "maint/gencvars"
    return subprocess.run(
        [gencvars, *words], stdout=subprocess.PIPE, universal_newlines=True, check=True
    ).stdout.split()


ROWS = generated("--rows")


def algorithms(variable):
    """The values of an enum variable that each name an algorithm."""
    return [value for value in generated("--values", variable) if value != "auto"]


def collective_of(program):
    """The collective a program is named after, or "": reduce_scatter_block_x is not of reduce."""
    return max((row for row in ROWS if program.startswith(row + "_")), key=len, default="")


def differs(found, expected):
    """A problem for `report`: what was found instead of what was expected; "" if they are equal."""
    return "" if found == expected else f"{found}\ninstead of\n{expected}"


def report(name, problem):
    global count, bad
    count += 1
    bad += bool(problem)
    print(f"{'not ok' if problem else 'ok'} {count} - {name}", flush=True)
    for line in str(problem or "").splitlines():
        print("# " + line)


def environment(settings):
    """The environment of a run: of MPICH's variables only those in `settings`, and always the
    library of PREFIX."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("MPIR_CVAR_")}
    env["LD_LIBRARY_PATH"] = str(PREFIX / "lib")
    env.update(settings)
    return env


def allows(*words):
    """Whether programs can be run by these words, here and by this user. Namespaces need root,
    and containers may refuse them even so."""
    nothing = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    found = shutil.which(words[0])
    return bool(found) and subprocess.run([*words, "true"], **nothing).returncode == 0


def own_dev_shm():
    """Begins the script again with a /dev/shm of its own, if that may be mounted: it then does not
    see what other jobs on the machine make there."""
    apart = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs tmpfs /dev/shm && exec "$@"', "sh"]
    if "NCTEST_APART" not in os.environ and allows(*apart):
        os.environ["NCTEST_APART"] = "1"
        os.execvp(apart[0], [*apart, sys.executable, *sys.argv])


def command(program, ranks, refuse="", arguments=()):
    preload = (
        ["-genv", "LD_PRELOAD", str(PRELOAD), "-genv", "NCTEST_REFUSE", refuse] if refuse else []
    )
    return [
        str(PREFIX / "bin/mpiexec"),
        *preload,
        "-n",
        str(ranks),
        str(BIN / program),
        *arguments,
    ]


LIMIT = int(os.environ.get("NCTEST_LIMIT", "120"))  # seconds of a run


def processes_of(run_):
    """The numbers of the processes whose environment has this mark of a run."""
    mark = f"NCTEST_RUN={run_}".encode()
    found = []
    for entry in os.scandir("/proc"):
        with contextlib.suppress(OSError, ValueError):
            if mark in pathlib.Path(entry.path, "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
    return found


def end_what_is_left(run_):
    """Ends processes that outlived their mpiexec, which has two seconds to end them. With MPICH
    4.2.3 every fatal error leaves ranks: its proxy dies of a message with more than one line."""
    until = time.monotonic() + 2
    left_over = processes_of(run_)
    while left_over and time.monotonic() < until:
        time.sleep(0.05)
        left_over = processes_of(run_)
    if left_over:
        print(f"# mpiexec left {len(left_over)} processes, which are ended now", flush=True)
    for process in left_over:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def until_mpiexec_lives(attempt):
    """A run. mpiexec forwards its input, and dies of SIGPIPE if all ranks have just ended: then
    there is another run, five at most. (A rank's signal is an exit status of mpiexec.)"""
    for _ in range(5):
        done = attempt()
        if done.returncode != -signal.SIGPIPE:
            break
    return done


def run(words, settings, seconds=LIMIT):
    return until_mpiexec_lives(lambda: run_once(words, settings, seconds))


def run_once(words, settings, seconds):
    run_ = f"{os.getpid()}-{time.time()}"
    try:
        return subprocess.run(
            words,
            env={**environment(settings), "NCTEST_RUN": run_},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            timeout=seconds,
        )
    finally:
        end_what_is_left(run_)


# how mpiexec ends if a rank is ended by one of these
CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGFPE)


def until_told(text, attempt):
    """A run that may end with an error whose text is this. mpiexec ends the ranks at once if one
    aborts, and the text may be lost: then there is another run, five at most."""
    for _ in range(5):
        done = attempt()
        if not done or done.returncode in (0, *CRASHES) or text in done.stderr:
            break
    return done


def made(done):
    """The calls that a program says it made: {collective: number}."""
    return {name: int(n) for name, n in re.findall(r"^calls (\w+) (\d+)", done.stdout, re.M)}


def served(done, collective="bcast"):
    """numacoll's last report on a collective: calls served, calls that fell back, and the
    reasons."""
    lines = re.findall(
        rf"^numacoll: {collective} served (\d+) fell_back (\d+)(.*)", done.stderr, re.M
    )
    return (int(lines[-1][0]), int(lines[-1][1]), lines[-1][2]) if lines else (0, 0, "")


def outcome(done, expect_served, reason="", says="", own={}):
    """What is wrong with a run, or an empty string. Its data must be right, and its calls all
    served, or all fallen back for this reason. says: text that must be on standard error. own:
    how many calls of a collective MPICH makes itself at most, which may be served too."""
    if done.returncode or " No Errors" not in done.stdout:
        return f"exit status {done.returncode}\n{(done.stderr + done.stdout).strip()[-400:]}"
    for collective, calls in made(done).items():
        s, f, why = served(done, collective)
        s -= min(max(s - calls, 0), own.get(collective, 0))
        if (
            expect_served
            and (s, f) != (calls, 0)
            or not expect_served
            and (s, f, why) != (0, calls, f" {reason}={calls}")
        ):
            return f"{calls} calls of {collective}: served {s} fell_back {f}{why}"
    if says and says not in done.stderr:
        return f"does not say: {says}\n{done.stderr[-400:]}"
    return ""


def first_line(done):
    return (done.stderr.splitlines() or [""])[0]


def kernel_copies():
    """Whether this process may read the memory of a child by process_vm_readv."""
    number = (ctypes.c_char * 8)(*b"numacoll")
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
    found = (ctypes.c_char * 8)()
    here = (ctypes.c_size_t * 2)(ctypes.addressof(found), 8)
    there = (ctypes.c_size_t * 2)(ctypes.addressof(number), 8)
    library = ctypes.CDLL(None)
    one, flags = ctypes.c_ulong(1), ctypes.c_ulong(0)
    library.process_vm_readv(child, here, one, there, one, flags)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return found.raw == number.raw


# variable and value, counter, what REPORT says if it is used and if not, a function that says
# whether it can be tried here
SINGLE_COPIES = (
    ("SINGLE_COPY", "cma", "cma", "single copy by cma", "single copy refused", kernel_copies),
    ("SHARED_BUFFERS", "on", "shared", "shared buffers", "shared buffers refused", lambda: True),
)


def compile_programs(programs=()):
    """Compiles these programs of test/mpi/coll; all of them if none is named."""
    words = ["make", "-s", "-C", HERE / "coll", f"MPICC={PREFIX}/bin/mpicc", f"OUT={BIN}"]
    subprocess.run(words + [f"{BIN}/{program}" for program in sorted(programs)], check=True)


def compile_preload():
    """Compiles the library that `command` preloads for `refuse`."""
    BIN.mkdir(parents=True, exist_ok=True)
    words = ["cc", "-O1", "-shared", "-fPIC", HERE / "refuse.c", "-o", PRELOAD, "-ldl"]
    subprocess.run(words, check=True)


def finish():
    print(f"1..{count}")
    sys.exit(bad > 0)
