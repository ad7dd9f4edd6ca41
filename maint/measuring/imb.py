"""The command that measures by Intel MPI Benchmarks, which is not part of this repository:
numacoll, MPICH's own choice and Open MPI in turn. Its defaults, but as many calls of each size in
every round, and with another root in each call."""
import os
import pathlib
import re
import subprocess
import tempfile

from . import plan, tables
from .peers import in_turn
from .runs import Steps, set_of, use_processors
from .sets import Build, OpenMPI, fail


def benched(library, program, settings, words):
    """Average microseconds per call, of each benchmark and size."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "universal_newlines": True}
    job = library.start(plan.IMB_RANKS, [program, *words], settings, **pipes)
    text = job.communicate()[0]
    if job.returncode:
        fail(f"{library.name}: {program}: {text[-400:].strip()}")
    version = re.search(r"^#\s+Intel\(R\) MPI Benchmarks (\S+)", text, re.MULTILINE)
    rows, benchmark = [], None
    for line in text.splitlines():
        named = re.match(r"# Benchmarking (\S+)", line)
        benchmark = named[1].lower() if named else benchmark
        cells = line.split()
        if len(cells) == 5 and cells[0].isdigit():  # bytes, calls, least, most, average
            rows.append({"collective": benchmark, "bytes": cells[0], "median_us": cells[4]})
    return rows, version[1].rstrip(",") if version else ""


def imb(o):
    use_processors(plan.PEERS_PROCESSORS)
    build, peer, kept = Build(o.build), OpenMPI(), set_of(o)
    for program in (o.ours, o.openmpi):
        if not os.access(program, os.X_OK):
            fail(f"{program}: not a program; doc/measurements.md says how it is compiled")
    launches = {
        "numacoll": (build, o.ours, plan.SERVED),
        "MPICH": (build, o.ours, {}),
        "Open MPI": (peer, o.openmpi, {}),
    }
    steps = Steps([plan.IMB_SECONDS] * plan.PEERS_ROUNDS * len(launches), kept)
    kept.measured_with(build)
    rows, version = [], ""
    with tempfile.TemporaryDirectory() as d:
        lengths = pathlib.Path(d, "lengths")
        lengths.write_text("".join(f"{n}\n" for n in plan.IMB_SIZES))
        words = [*plan.IMB.split(), "-msglen", str(lengths)]
        for r in range(plan.PEERS_ROUNDS):
            for name in in_turn(launches, r):
                steps.next(f"round {r + 1}, {name}", plan.IMB_SECONDS)
                of, version = benched(*launches[name], words)
                rows += [{"round": r, "library": name, **row} for row in of]
    about = {
        "title": plan.PEERED_FILES["imb"],
        "command": f"IMB-MPI1 {plan.IMB} -msglen FILE, sizes {plan.IMB_SIZES}",
    }
    kept.keep("imb", rows, numacoll=build.name, openmpi=peer.version, imb=version, **about)
    print(tables.table_of(kept, ["imb"]))
