"""The commands that measure."""
import collections
import contextlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from . import plan, tables
from .sets import Build, Set, fail, mpiexec, output_of


class Steps:
    """Says at the beginning how long all will take, and at each step what is left, if the others
    take as much longer than they were thought to as those that are done."""

    def __init__(self, seconds, kept, most=""):
        self.all = self.left = sum(seconds)
        self.count, self.done, self.begin = len(seconds), 0, time.monotonic()
        print(f"{self.count} steps, {most}{self.minutes()}, into {kept.folder}")
        if os.getloadavg()[0] > 0.3:
            print(f"load average {os.getloadavg()[0]:.1f}: other processes will disturb the times")

    def minutes(self):
        done = self.all - self.left
        pace = (time.monotonic() - self.begin) / done if done else 1
        return f"about {max(1, round(self.left * pace / 60))} min"

    def next(self, what, seconds):
        self.done += 1
        print(f"[{self.done}/{self.count}] {what}; {self.minutes()} left", flush=True)
        self.left -= seconds


def set_of(o):
    return Set(o.top / "doc/measurements" / o.set)


def quick(words):
    """The words with the first five sizes of a range, or the first one of a list."""
    words = re.sub(r"(--sizes) (\d+):\w+", lambda m: f"{m[1]} {m[2]}:{16 * int(m[2])}", words)
    return re.sub(r"(--sizes \w+),\S*", r"\1", words)


# ---- run ----


BUSY = """import os
parent = os.getppid()
while os.getppid() == parent:
    for _ in range(1000000):
        pass"""


@contextlib.contextmanager
def busy_processes(count, nice=19, **more):
    """Meanwhile so many processes want to run all the time. They end when this one has ended,
    whatever ended it."""
    command = ["nice", "-n", str(nice), sys.executable, "-c", BUSY]
    processes = [subprocess.Popen(command, **more) for _ in range(count)]
    try:
        yield
    finally:
        for p in processes:
            p.kill()
            p.wait()


def chosen_of(o, planned):
    """Those whose files --only names."""
    chosen = [p for p in planned if re.fullmatch(o.only or ".*", p.file)]
    if not chosen:
        fail(f"--only {o.only}: there are {', '.join(dict.fromkeys(p.file for p in planned))}")
    return chosen


def run(o):
    build, kept, chosen = Build(o.build), set_of(o), chosen_of(o, plan.RUNS)
    if o.quick:
        chosen = [r._replace(seconds=1, words=quick(r.words) + " --rounds 2") for r in chosen]
    steps = Steps([r.seconds + 2 for r in chosen], kept)
    kept.measured_with(build)
    for r in chosen:
        steps.next(r.file, r.seconds + 2)
        words, settings = f"{r.words} --seconds {r.seconds}", {}
        if r.mapping:
            settings["MPIR_CVAR_NUMACOLL_TOPOLOGY"] = plan.MAPPED_MACHINE
            settings["MPIR_CVAR_NUMACOLL_MAPPING"] = r.mapping
        about = {"title": r.title, "command": f"{mpiexec(r.ranks)} numacoll-bench {words}"}
        with busy_processes(r.busy):
            rows = build.bench(r.ranks, words, settings)[0]
        kept.keep(r.file, rows, numacoll=build.name, settings=settings, **about)


# ---- papers and variants ----


def barrier_us(build):
    """Of two ranks: it tells whether their processors share an L3 now, which some machines' hosts
    change (doc/measurements.md, "The machine")."""
    return build.bench(2, "barrier --algorithms numacoll --rounds 1 --seconds 1")[0][0]["median_us"]


def launched(o, planned, settings):
    use_processors(plan.LAUNCHED_PROCESSORS)
    build, kept, chosen = Build(o.build), set_of(o), chosen_of(o, planned)
    if o.quick:
        chosen = [f._replace(seconds=1, words=quick(f.words)) for f in chosen]
    rounds = 1 if o.quick else plan.LAUNCHES
    steps = Steps([f.seconds + 7 for f in chosen] * rounds, kept)
    kept.measured_with(build)
    rows = collections.defaultdict(list)
    for r in range(rounds):
        for f in chosen:
            steps.next(f"launch {r}, {f.file}", f.seconds + 7)
            words = f"{f.words} --rounds 3 --seconds {f.seconds}"
            before, of = barrier_us(build), build.bench(2, words, settings)[0]
            barriers = {"barrier_before_us": before, "barrier_after_us": barrier_us(build)}
            for row in of:
                cells = {c: row[c] for c in ("collective", "bytes", "algorithm", "median_us")}
                rows[f.file].append({"round": r, **cells, **barriers})
            about = {"title": f.title, "command": f"{mpiexec(2)} numacoll-bench {words}"}
            kept.keep(f.file, rows[f.file], numacoll=build.name, settings=settings, **about)


def papers(o):
    launched(o, plan.PAPERS, plan.ROOM)


def variants(o):
    launched(o, plan.VARIANTS, {})


# ---- compare ----


def compare(o):
    builds, kept, chosen = [Build(o.a), Build(o.b)], set_of(o), chosen_of(o, plan.COMPARED)
    if builds[0].name == builds[1].name:
        fail(f"two builds of one name, {builds[0].name}: name one of them, NAME=PREFIX")
    rounds = plan.COMPARED_ROUNDS
    if o.quick:
        chosen, rounds = [c._replace(seconds=1, words=quick(c.words)) for c in chosen], 2
    steps = Steps([c.seconds + 2 for c in chosen] * 2 * rounds, kept)
    kept.measured_with(builds[1])
    for build in builds:
        build.compile_bench()
    rows = collections.defaultdict(list)
    for r in range(rounds):
        for c in chosen:
            words, times = f"{c.words} --rounds 3 --seconds {c.seconds}", {}
            for which in (0, 1) if r % 2 == 0 else (1, 0):
                steps.next(f"round {r + 1}, {c.file}, {builds[which].name}", c.seconds + 2)
                for row in builds[which].bench(c.ranks, words, plan.COMPARED_SETTINGS)[0]:
                    cell = row["collective"], c.ranks, row["bytes"], r
                    times.setdefault(cell, {})[which] = row["median_us"]
            names = "collective ranks bytes round a_us b_us".split()
            rows[c.file] += [dict(zip(names, (*cell, t[0], t[1]))) for cell, t in times.items()]
    title = f"{builds[1].name} over {builds[0].name}"
    for file, of in rows.items():
        command = "; ".join(
            f"{mpiexec(c.ranks)} numacoll-bench {c.words} --rounds 3 --seconds {c.seconds}"
            for c in chosen
            if c.file == file
        )
        about = {"title": title, "command": command, "settings": plan.COMPARED_SETTINGS}
        kept.keep(file, of, numacoll=title, **about)
        print(tables.table_of(kept, [file]), end="\n\n")


# ---- instructions ----


def compiled(name, build, folder):
    """A program of this folder, compiled with the build's library."""
    source, program = pathlib.Path(__file__).parent / (name + ".c"), f"{folder}/{name}"
    subprocess.run([build.mpicc, "-O2", "-o", program, source], check=True)
    return program


def instructions_of(path):
    """Of one rank, from the entry to the return of measured_calls(), without those of waits."""
    total = waited = 0
    callee, called = "", False
    for line in path.read_text().splitlines():
        if called and callee == plan.WAIT:
            waited += int(line.split()[1])
        called = line.startswith("calls=")
        if line.startswith("cfn="):
            callee = line[4:].split(".")[0]  # a copy of the compiler's is name.part.0
        elif line.startswith("summary:"):
            total = int(line.split()[1])
    return total - waited


def count(build, collective, calls, folder):
    """Instructions of rank 0 and of rank 1."""
    words = f"""valgrind -q --tool=callgrind --compress-strings=no --zero-before=measured_calls
        --dump-after=measured_calls --callgrind-out-file={folder}/out.%q{{PMI_RANK}}
        {folder}/calls {collective} {calls}"""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    if build.start(2, words.split(), plan.ALL, **quiet).wait():
        fail(f"{build.name}: {words}: failed")
    return [instructions_of(folder / f"out.{rank}.1") for rank in (0, 1)]


def count_per_call(build, collective, folder):
    few, many = (count(build, collective, n, folder) for n in (plan.FEW, plan.MANY))
    return [(m - f) / (plan.MANY - plan.FEW) for f, m in zip(few, many)]


def instructions(o):
    builds, kept = [Build(text) for text in o.builds], set_of(o)
    steps = Steps([20 * plan.COUNTED_RUNS] * len(builds) * len(plan.COUNTED), kept)
    kept.measured_with(builds[0])
    rows = []
    for b in builds:
        if plan.WAIT not in output_of("nm", b.prefix + "/lib/libmpi.so").split():
            fail(f"{b.name} has no function {plan.WAIT}: WAIT in measuring/plan.py is out of date")
        with tempfile.TemporaryDirectory() as d:
            compiled("calls", b, d)
            for c in plan.COUNTED:
                steps.next(f"{c}, {b.name}", 20 * plan.COUNTED_RUNS)
                for r in range(plan.COUNTED_RUNS):
                    for rank, n in enumerate(count_per_call(b, c, pathlib.Path(d))):
                        cell = {"build": b.name, "collective": c, "rank": rank, "run": r}
                        rows.append({**cell, "per_call": f"{n:.1f}"})
    command = f"{mpiexec(2)} valgrind --tool=callgrind calls COLLECTIVE {plan.FEW} and {plan.MANY}"
    numacoll = ", ".join(b.name for b in builds)
    kept.keep("instructions", rows, numacoll=numacoll, title="instructions", command=command)
    print(tables.table_of(kept, ["instructions"]))


# ---- program ----


def unpacked(packages):
    """ScaLAPACK's programs, unpacked but not installed: their folder of libraries, the packages."""
    root = pathlib.Path(__file__).resolve().parents[2] / "build/measure/program"
    root.mkdir(parents=True, exist_ok=True)
    missing = [p for p in packages if not list(root.glob(p + "_*.deb"))]
    if missing:
        command = ["apt-get", "download", *missing]
        if subprocess.run(command, cwd=root).returncode:
            fail(" ".join(command) + ": failed; apt-get update?")
    files = {p: next(root.glob(p + "_*.deb")) for p in packages}
    for p in missing:
        subprocess.run(["dpkg-deb", "-x", files[p], root], check=True)
    system = next(root.glob("usr/lib/*/scalapack")).parent
    return system, sorted(f.stem for f in files.values())


def libraries_of(system):
    return f"{system}:{system}/blas:{system}/lapack"


def end(job):
    """Ends a job that still runs."""
    if job.poll() is None:
        job.terminate()  # mpiexec ends the ranks
        try:
            job.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            job.kill()
            job.wait()


def said_by(job, limit):
    """What a job wrote to stdout and stderr; None if it does not end in time."""
    try:
        return job.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    finally:
        end(job)


def seconds_of(build, program, settings, libraries, limit, **more):
    """One run of a program of ScaLAPACK; None if it does not end in time."""
    more.update(
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
        cwd=program.parent,
    )
    begin = time.monotonic()
    job = build.start(plan.PROGRAM_RANKS, [program], settings, libraries, **more)
    said = said_by(job, limit)
    if said is None:
        return None
    if job.returncode or "END OF TESTS" not in said[0]:
        fail(f"{program}, {settings}: exit status {job.returncode}\n{said[0][-1000:]}")
    return time.monotonic() - begin


def use_processors(count):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])


def program(o):
    build, kept = Build(o.build), set_of(o)
    system, packages = unpacked(plan.PROGRAM_PACKAGES.split())
    use_processors(2)
    cells = [(p, l) for p in plan.PROGRAMS for l in plan.LIBRARIES]
    limits = [plan.PROGRAM_LIMIT if l != "all" else 3 * plan.PROGRAM_RUNS for _, l in cells]
    steps = Steps(limits, kept, "at most ")
    kept.measured_with(build)
    rows = []
    for (p, l), limit in zip(cells, limits):
        steps.next(f"{p}, {plan.LIBRARIES[l]}", limit)
        path, libraries = system / "scalapack/mpich-tests" / p, libraries_of(system)
        if l != "distribution":
            libraries = f"{build.prefix}/lib:{libraries}"
        settings = plan.ALL if l == "all" else {}
        for r in range(plan.PROGRAM_RUNS):
            seconds = seconds_of(build, path, settings, libraries, plan.PROGRAM_LIMIT)
            cell = {"program": p, "library": l, "run": r, "limit": plan.PROGRAM_LIMIT}
            rows.append({**cell, "seconds": f"{seconds:.2f}" if seconds else ""})
            if not seconds:
                break
    command = f"{mpiexec(plan.PROGRAM_RANKS)} PROGRAM, on 2 processors"
    about = {"title": "ScaLAPACK's test programs", "packages": packages, "command": command}
    kept.keep("program", rows, numacoll=build.name, **about)
    print(tables.table_of(kept, ["program"]))
