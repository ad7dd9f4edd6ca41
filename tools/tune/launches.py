"""The launches of numacoll-bench: which there are, and one of them."""
import collections
import contextlib
import json
import math
import os
import re
import subprocess
import sys

from . import candidates

ROUNDS = 3  # of a launch
LEAST = 0.01  # seconds that numacoll-bench may be given
START = 0.5  # seconds that a launch takes beside what it is given, about
ASKING = 20  # seconds, at most, of a launch that only says on what machine it is

# KiB of shared memory that the communicators of a node may take, and how many MPICH reckons with at
# most; a launch makes a communicator for each algorithm, a job has those it needs. Where the
# environment does not say how many, numacoll-bench makes room
LIMIT, MOST_KIB = "MPIR_CVAR_COLL_SHM_LIMIT_PER_NODE", 2097151
# Keeps a processor busy as long as the process that started it lives
KEEP_BUSY = """
import os, sys
while os.getppid() == int(sys.argv[1]):
    for _ in range(100000):
        pass
"""

# In what state ranks are measured: alone on the machine, or beside a process that keeps a processor
# busy, with other buffers in each call; or with the same ones, so that these are in the cache, and
# then also reading all that they receive, within the time of the call
ALONE, BUSY, CACHED, USING = "alone", "busy", "cached", "using"
SAID = {
    ALONE: "",
    BUSY: "beside a busy process",
    CACHED: "in the cache",
    USING: "in the cache, using what they receive",
}
BUFFERS = {CACHED: [], USING: ["--use"]}  # as words for numacoll-bench; the other states' below
OTHER_BUFFERS = ["--off-cache"]

# What is measured in one launch: all these collectives with all these algorithms, in a state
Group = collections.namedtuple("Group", "ranks collectives labels state")


def groups_of(labels, states):
    """The groups: collectives with the same algorithms are measured together. labels: {(ranks,
    collective): [label]}; states(ranks): those in which they are measured."""
    together = collections.OrderedDict()
    for (ranks, collective), names in labels.items():
        together.setdefault((ranks, tuple(names)), []).append(collective)
    return [
        Group(ranks, names, list(ls), state)
        for (ranks, ls), names in together.items()
        for state in states(ranks)
    ]


def end(process):
    """Ends a job that still runs; mpiexec ends its ranks."""
    if process.poll() is None:
        process.terminate()
        try:
            process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextlib.contextmanager
def beside(state):
    """Meanwhile a process keeps a processor busy, if that is the state."""
    words = [sys.executable, "-c", KEEP_BUSY, str(os.getpid())]
    process = subprocess.Popen(words, stderr=subprocess.DEVNULL) if state == BUSY else None
    try:
        yield process
    finally:
        if process:
            process.kill()
            process.wait()


def again():
    """What numacoll-bench calls the default once more, by the variables of this process."""
    return candidates.again(candidates.variables_of(os.environ))


def environment(group, settings):
    """That of a launch: room for a communicator of each algorithm."""
    env = {**os.environ, **(settings or {})}
    limit = env.get(LIMIT, "")
    if limit.isdigit():  # else MPICH says what is wrong with it
        env[LIMIT] = str(max(int(limit), min(int(limit) * len(group.labels), MOST_KIB)))
    return env


def bench(
    launcher, program, group, sizes, seconds, left, file, words=(), settings=None, starts=None
):
    """One launch; what numacoll-bench says of it as JSON, a text that says why it failed, or None
    if it is not done when `left` seconds are over. seconds: how long it is to take, about. file:
    where it may write meanwhile. starts: the words before the program, of some of the ranks each,
    if not all are started alike."""
    names = [again() if label == candidates.AGAIN else label for label in group.labels]
    call = [program, ",".join(group.collectives), "--algorithms", ",".join(names)]
    call += [
        "--baseline",
        candidates.DEFAULT,
        "--sizes",
        ",".join(map(str, sizes)),
        "--rounds",
        str(ROUNDS),
    ]
    call += ["--seconds", f"{max(LEAST, seconds):.2f}", "--json", str(file), *words]
    call += BUFFERS.get(group.state, OTHER_BUFFERS)
    command = list(launcher)
    for i, start in enumerate(starts or [["-n", str(group.ranks)]]):
        command += [*([":"] if i else []), *start, *call]
    if file.exists():  # of a launch that was interrupted
        file.unlink()
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        env=environment(group, settings),
    )
    limit = min(60 + 10 * seconds, left)
    try:
        error = process.communicate(timeout=limit)[1]
    except subprocess.TimeoutExpired:
        return None if limit == left else f"not done after {limit:.0f} s"
    finally:
        end(process)
        # in it are words of the environment, in whatever encoding
        said = file.read_bytes().decode("utf-8", "replace") if file.exists() else ""
        if file.exists():
            file.unlink()
    if process.returncode or not said:
        return first_of(error) or f"exit status {process.returncode}"
    return json.loads(said)


def first_of(text):
    """The line of numacoll, or else the first one, of what a launch that failed has written."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    ours = [line for line in lines if re.match(r"numacoll(-bench)?: ", line)]
    return (ours or lines or [""])[0]


def ask(launcher, program, ranks):
    """What numacoll-bench says, as JSON, of ranks that are started so, in a launch that measures
    nothing; {} if it does not say; {"failed": why} if it cannot run."""
    call = [program, "barrier", "--algorithms", "numacoll", "--rounds", "1", "--seconds", "0.01"]
    try:
        process = subprocess.Popen(
            [*launcher, "-n", str(ranks), *call, "--format", "json"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
        )
    except OSError:
        return {}
    try:
        said, text = process.communicate(timeout=ASKING)
        if process.returncode > 0:
            return {"failed": first_of(text) or f"exit status {process.returncode}"}
        said = json.loads(said)
        return said if isinstance(said, dict) else {}
    except (subprocess.TimeoutExpired, ValueError):
        return {}
    finally:
        end(process)


def says_crowded(machine):
    """Whether ranks outnumber their processors, by their affinity masks or by a CPU quota, as
    numacoll sees it; None if it does not say. machine: its name for tuned files (mpich/tuned.c);
    "" where libmpi is another."""
    return machine.endswith("_crowded") if machine else None


def cells_of(result, labels):
    """[(collective, bytes, label, microseconds, ratio to the default)], of each size in the order
    of labels."""
    names = {again(): candidates.AGAIN}
    cells = []
    for m in result["measurements"]:
        of = [
            [m["collective"], r["bytes"], names.get(r["algorithm"], r["algorithm"])]
            + [r["median_us"], r["ratio"]]
            for r in m["results"]
        ]
        cells += sorted(of, key=lambda cell: (cell[1], labels.index(cell[2])))
    return cells


def samples(records):
    """From the records of a group's launches, all of them good ones, {collective: {label: [cell of
    each size]}} as decide takes them, and the same of microseconds; both with the default's."""
    ratios, times = {}, {}
    for record in records:
        for collective, size, label, us, ratio in record["cells"]:
            for table, value in ((ratios, math.log(ratio)), (times, us)):
                of_label = table.setdefault(collective, {}).setdefault(label, {})
                of_label.setdefault(size, []).append(value)
    return tuple(
        {c: {l: list(of.values()) for l, of in labels.items()} for c, labels in table.items()}
        for table in (ratios, times)
    )


def sizes_of(records, collective):
    """The sizes in the order of the cells; [0] of a collective without."""
    return list(dict.fromkeys(size for c, size, *_ in records[0]["cells"] if c == collective))
