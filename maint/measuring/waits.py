"""The command that measures how ranks wait, numacoll and Open MPI in turn."""
import collections
import contextlib
import csv
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

from . import groups, plan, tables
from .runs import Steps, busy_processes, compiled, libraries_of, said_by, seconds_of
from .runs import set_of, unpacked, use_processors
from .sets import Build, OpenMPI, fail

COLLECTIVES = {"barrier", "bcast", "allreduce"}  # operations of waits.c that numacoll serves


class Library:
    """How jobs are run with a library; as it is, with Open MPI."""

    tests = "openmpi-tests"  # the folder of ScaLAPACK's programs
    settings = proving = {}

    def __init__(self, build, folder, system):
        self.build, self.system = build, system
        self.waits = compiled("waits", build, folder)
        self.libraries = system and libraries_of(system)

    def prepare(self):
        """Called before a job."""

    def check(self, rows):
        """Called with what the job measured."""


class Numacoll(Library):
    """It is selected for everything, and jobs of waits.c prove that they used it."""

    tests, settings = "mpich-tests", plan.ALL

    def __init__(self, build, folder, system):
        super().__init__(build, folder, system)
        self.libraries = system and f"{build.prefix}/lib:{self.libraries}"
        self.report = folder / "report"
        self.proving = {
            **plan.ALL,
            "MPIR_CVAR_COLLECTIVE_FALLBACK": "error",
            "MPIR_CVAR_NUMACOLL_REPORT": "2",
            "MPIR_CVAR_NUMACOLL_REPORT_FILE": str(self.report),
        }

    def prepare(self):
        if self.report.exists():
            self.report.unlink()

    def check(self, rows):
        """That numacoll served the collectives of the rows and handed nothing back to MPICH."""
        said = self.report.read_text()
        served = set(re.findall(r"(\w+) served [1-9]\d* fell_back 0\b", said))
        missing = ({"barrier"} | COLLECTIVES & {r["operation"] for r in rows}) - served
        if missing or re.search(r"fell_back [1-9]", said):
            fail(f"numacoll did not serve {', '.join(missing)}:\n{said}")


# ---- one job ----


def job_of(library, wait, settings, limit, more):
    """A job of waits.c: what it wrote, its seconds; None if it does not end in time."""
    words = [library.waits, *wait.words.split()]
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "universal_newlines": True}
    begin = time.monotonic()
    job = library.build.start(wait.ranks, words, settings, **piped, **more)
    said = said_by(job, limit)
    if said is None:
        return None
    output, error = said
    if job.returncode:
        fail(f"{' '.join(words)}, {wait.ranks} ranks: exit status {job.returncode}\n{error}")
    return output, time.monotonic() - begin


def lasted(library, wait, limit, more):
    """The seconds of a job from start to end; None if it does not end in time."""
    if wait.words == "empty":
        done = job_of(library, wait, library.settings, limit, more)
        return done and done[1]
    path, settings = library.system / "scalapack" / library.tests / wait.words, library.settings
    return seconds_of(library.build, path, settings, library.libraries, limit, **more)


def rows_of(library, wait, limit, more):
    """The rows of one job for the file; one without values if it does not end in time."""
    if plan.WAITED_FILES[wait.file][1] == "seconds":
        seconds = lasted(library, wait, limit, more)
        return [{"seconds": f"{seconds:.2f}" if seconds else ""}]
    library.prepare()
    done = job_of(library, wait, library.proving, limit, more)
    if done is None:
        return [{"operation": ""}]
    rows = list(csv.DictReader(done[0].splitlines()))
    library.check(rows)
    return rows


@contextlib.contextmanager
def surroundings(wait):
    """Meanwhile the busy processes of a case run. Gives the words that start a job there."""
    load, more = wait.load, {"start_new_session": True}
    count = len(os.sched_getaffinity(0)) if load.busy is None else load.busy
    with contextlib.ExitStack() as stack:
        if load.one_group or wait.quota:
            more["preexec_fn"] = stack.enter_context(groups.made(wait.quota)).join
        beside = more if load.one_group else {"start_new_session": True}
        stack.enter_context(busy_processes(count, load.nice, **beside))
        yield more


# ---- all of them ----


def chosen_waits(o):
    waits = [w for w in plan.WAITS if re.fullmatch(o.only or ".*", w.file)]
    if not waits:
        fail(f"--only {o.only}: there are {', '.join(plan.WAITED_FILES)}")
    if o.quick:
        words, left_out = plan.WAITS_QUICK, plan.WAITS_NOT_QUICK
        waits = [w for w in waits if not re.fullmatch(left_out, w.case)]
        waits = [w._replace(words=words.get(w.words, w.words), seconds=3) for w in waits]
    why = groups.why_not()
    if why:
        grouped = [w for w in waits if w.load.one_group or w.quota]
        skipped = ", ".join(dict.fromkeys(w.file for w in grouped))
        print(f"skipped, for no cgroup can be made ({why}): {skipped}")
        waits = [w for w in waits if w not in grouped]
    return waits


def measure(libraries, waits, r, limit, steps, rows):
    """One round; adds to the rows of each file. What was not done once is not tried again."""
    for w in waits:
        steps.next(f"round {r + 1}, {w.file}, {w.case}", w.seconds)
        with surroundings(w) as more:
            for name in list(libraries)[:: 1 if r % 2 == 0 else -1]:
                cell = {"case": w.case, "library": name}
                before = [x for x in rows[w.file] if cell.items() <= x.items()]
                if any("" in x.values() for x in before):
                    continue
                cell.update(round=r, limit=limit)
                rows[w.file] += [{**cell, **x} for x in rows_of(libraries[name], w, limit, more)]


def command_of(waits, file):
    """What the file's jobs were, as text."""
    own = [w for w in waits if w.file == file]
    ranks = ",".join(dict.fromkeys(str(w.ranks) for w in own))
    words = dict.fromkeys(w.words for w in own)
    program = "PROGRAM" if own[0].words in plan.WAITED_PROGRAMS else "waits"
    return f"mpiexec -n {ranks} {program} {' | '.join(words)}; {OpenMPI.yielding} -n ..."


def keep(kept, rows, waits, build, peer):
    for file, of in rows.items():
        about = {"title": plan.WAITED_FILES[file][0], "command": command_of(waits, file)}
        kept.keep(file, of, numacoll=build.name, openmpi=peer.version, settings=plan.ALL, **about)


def programs_of(waits):
    """The folder of ScaLAPACK's libraries; None where no case needs it."""
    if not any(w.words in plan.WAITED_PROGRAMS for w in waits):
        return None
    return unpacked([*plan.PROGRAM_PACKAGES.split(), plan.WAITED_PACKAGE])[0]


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def end_tidily(*_):
    """An exception, so that the job, the busy processes and the group are ended."""
    for s in SIGNALS:
        signal.signal(s, signal.SIG_IGN)
    fail("ended by a signal")


def waits(o):
    for s in SIGNALS:
        signal.signal(s, end_tidily)
    use_processors(plan.WAITS_PROCESSORS)
    build, peer, kept, waits = Build(o.build), OpenMPI(), set_of(o), chosen_waits(o)
    rounds, limit = plan.WAITS_ROUNDS, plan.WAITS_LIMIT
    if o.quick:
        rounds, limit = 1, plan.WAITS_QUICK_LIMIT
    system = programs_of(waits)
    steps = Steps([w.seconds for w in waits] * rounds, kept)
    kept.measured_with(build)
    rows = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as d:
        folders = [pathlib.Path(d, name) for name in ("numacoll", "openmpi")]
        for f in folders:
            f.mkdir()
        libraries = {
            "numacoll": Numacoll(build, folders[0], system),
            "Open MPI": Library(peer, folders[1], system),
        }
        for r in range(rounds):
            measure(libraries, waits, r, limit, steps, rows)
            keep(kept, rows, waits, build, peer)
    for file in rows:
        print(tables.table_of(kept, [file]), end="\n\n")
