"""Builds, and sets of kept files."""
import collections
import csv
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from . import plan

SOURCES = ["src", "tools", "cvars.yaml", "maint/graft", "maint/gencvars"]  # what a build is made of


def fail(text):
    sys.exit("measure: " + text)


def output_of(*words):
    return subprocess.run(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True
    ).stdout.strip()


def commit_of(prefix):
    """The last commit that changed what PREFIX was built from; + where files differ from it."""
    root = output_of("git", "-C", prefix, "rev-parse", "--show-toplevel")
    if not root:
        fail(f"{prefix} is in no checkout: give it a name, NAME={prefix}")
    log = output_of("git", "-C", root, "log", "-1", "--format=%h %ct", "--", *SOURCES)
    commit, when = log.split()
    if os.stat(f"{prefix}/lib/libmpi.so").st_mtime < int(when):
        fail(f"{prefix} is older than commit {commit}: install again, or give it a name")
    return commit + "+" * bool(output_of("git", "-C", root, "status", "-s", "--", *SOURCES))


def crowded(ranks):
    """Whether they outnumber the processors."""
    return ranks > len(os.sched_getaffinity(0))


def mpiexec(ranks):
    """Bound to cores where there are enough."""
    bound = "" if crowded(ranks) else "-bind-to core "
    return f"mpiexec {bound}-n {ranks}"


def without(prefixes):
    """The environment without what would change how a library works."""
    return {k: v for k, v in os.environ.items() if not k.startswith(prefixes)}


def check_way(row):
    for setting, way in plan.WAYS.items():
        if setting in row["algorithm"] and row["single_copy"] != way:
            fail(
                f"{row['algorithm']}: {row['bytes']} bytes of {row['collective']} went another way"
            )


class MPI:
    """A library, whose jobs `start` starts; numacoll_bench is its own one, or a plain one."""

    def compile_bench(self):
        """Makes a plain numacoll-bench in build/measure, which `bench` runs from then on."""
        build = pathlib.Path(__file__).resolve().parents[2] / "build"
        folder = build / "measure" / self.name.replace(" ", "").lower()
        command = ["make", "-s", "-C", f"{build}/tools", "plain"]
        if subprocess.run([*command, f"MPICC={self.mpicc}", f"OUT={folder}"]).returncode:
            fail(f"no plain numacoll-bench in {folder}: build this checkout first")
        self.numacoll_bench = f"{folder}/numacoll-bench"

    def bench(self, ranks, words, settings={}):
        """numacoll-bench, whose bar shows on a terminal; the rows of its CSV, and its JSON."""
        with tempfile.TemporaryDirectory() as d:
            words = f"{self.numacoll_bench} {words} --csv {d}/csv --json {d}/json".split()
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
            job = self.start(ranks, words, settings, universal_newlines=True, **quiet)
            error = job.communicate()[1]
            if job.returncode:
                fail(f"{self.name}: {' '.join(words)}: {error.strip()}")
            rows = read(f"{d}/csv")
            for row in rows:
                check_way(row)
            return rows, json.loads(pathlib.Path(d, "json").read_text())


class OpenMPI(MPI):
    """The distribution's: bound to cores where there are enough, else waiting ranks yield."""

    name, mpicc = "Open MPI", "mpicc.openmpi"
    bound = "mpirun.openmpi --bind-to core"
    yielding = "mpirun.openmpi --oversubscribe --bind-to none --mca mpi_yield_when_idle 1"

    def __init__(self):
        if not all(shutil.which(c) for c in (self.mpicc, "mpirun.openmpi")):
            fail("no Open MPI is installed: apt-get install openmpi-bin libopenmpi-dev")
        self.version = output_of("mpirun.openmpi", "--version").split()[2]

    def mpiexec(self, ranks):
        return f"{self.yielding if crowded(ranks) else self.bound} -n {ranks}"

    def start(self, ranks, words, settings={}, libraries=None, **more):
        env = without("OMPI_")
        env.update(settings, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        if libraries:
            env["LD_LIBRARY_PATH"] = libraries
        return subprocess.Popen([*self.mpiexec(ranks).split(), *words], env=env, **more)


class Build(MPI):
    """An installed MPICH with numacoll."""

    def __init__(self, text):
        name, _, prefix = text.rpartition("=")
        self.prefix = str(pathlib.Path(prefix).resolve())
        self.numacoll_bench = self.prefix + "/bin/numacoll-bench"
        if not os.path.exists(self.numacoll_bench):
            fail(f"{prefix}: no numacoll-bench is installed there")
        self.name = name or commit_of(self.prefix)
        self.mpicc = self.prefix + "/bin/mpicc"

    def start(self, ranks, words, settings={}, libraries=None, **more):
        """A job, under the settings of MPICH that are given and no others; a subprocess.Popen."""
        env = without("MPIR_CVAR_")
        env.update(settings, LD_LIBRARY_PATH=libraries or self.prefix + "/lib")
        command = [f"{self.prefix}/bin/{mpiexec(ranks)}", *words]
        return subprocess.Popen(command[0].split() + command[1:], env=env, **more)


def read(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


def grouped(rows, *keys):
    """The rows by the values of these columns, in the order of the file."""
    groups = collections.defaultdict(list)
    for row in rows:
        groups[tuple(row[k] for k in keys)].append(row)
    return groups


class Set:
    """A folder of CSV files, and what machine.json says of each."""

    def __init__(self, folder):
        self.folder, self.name = folder, folder.name
        described = folder / "machine.json"
        about = json.loads(described.read_text()) if described.exists() else {}
        self.machine, self.files = about.get("machine"), about.get("files", {})
        self.now = {}

    def rows(self, file):
        return read(self.folder / (file + ".csv"))

    def measured_with(self, build):
        """Called before anything is kept: the set has to be one of this machine."""
        load = round(os.getloadavg()[0], 2)
        machine = build.bench(2, "barrier -a numacoll -t 1 -r 1")[1]["machine"]
        self.measured_on(machine, load_before=load)

    def measured_on(self, machine, **about):
        """Called before anything is kept. machine: as numacoll-bench describes it. about: what the
        files are described by beside it."""
        machine = dict(machine)
        mpich, kernel = machine.pop("mpi").split()[-1], machine.pop("kernel")
        machine["memory_gib"] = round(machine.pop("memory_bytes") / 2**30)
        machine.pop("tuned", None)  # its name has MPICH's version
        if self.machine not in (None, machine):
            fail(f"set {self.name} was measured on another machine: give another name")
        self.machine = machine
        self.now = {"mpich": mpich, "kernel": kernel, **about}

    def keep(self, file, rows, **about):
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / (file + ".csv"), "w", newline="") as f:
            columns = dict.fromkeys(column for row in rows for column in row)
            out = csv.DictWriter(f, columns, lineterminator="\n")
            out.writeheader()
            out.writerows(rows)
        self.files[file] = {"date": datetime.date.today().isoformat(), **self.now, **about}
        about = {"machine": self.machine, "files": dict(sorted(self.files.items()))}
        (self.folder / "machine.json").write_text(json.dumps(about, indent=1) + "\n")


def all_sets(top):
    return [Set(f.parent) for f in sorted(top.glob("doc/measurements/*/machine.json"))]
