"""What maint/measure measures and shows: data only."""
import collections

ALL = {"MPIR_CVAR_NUMACOLL_COLLECTIVES": "all"}
SET = "two-processors"  # the set that README.md and doc/measurements.md describe

# ---- run: numacoll beside MPICH ----

BARRIERS = "auto,central,flat,flat_gr,combining,mcs,tournament,dissemination,hierarchical"
BARRIER = "barrier --algorithms auto,numacoll --sweep BARRIER=" + BARRIERS
BLOCKS = "scatterv,gatherv,allgatherv --off-cache"
REDUCE = "reduce,allreduce --off-cache --rotate-root"

BESIDE = "barrier,bcast,allreduce --sizes 4"

# the file, what a table calls it, ranks, seconds, words for numacoll-bench, the mapping assumed,
# how many processes at nice 19 are busy meanwhile
Run = collections.namedtuple(
    "Run", "file title ranks seconds words mapping busy", defaults=[None, 0]
)
RUNS = [
    Run("bcast-2", "2 ranks", 2, 90, "bcast --off-cache --sizes 1:16M"),
    Run("bcast-2-in-cache", "2 ranks, in cache", 2, 20, "bcast --sizes 1:16K"),
    Run("bcast-4", "4 ranks", 4, 90, "bcast --off-cache --sizes 4:1M"),
    Run("bcast-8", "8 ranks", 8, 120, "bcast --off-cache --sizes 4:1M"),
    Run("barrier-2", "2 ranks", 2, 20, BARRIER),
    Run("barrier-4", "4 ranks", 4, 40, BARRIER),
    Run("barrier-16-core", "16 ranks, map-by core", 16, 60, BARRIER, "core"),
    Run("barrier-16-numa", "16 ranks, map-by numa", 16, 60, BARRIER, "numa"),
    Run("barrier-16-package", "16 ranks, map-by package", 16, 60, BARRIER, "package"),
    Run("blocks-2", "2 ranks", 2, 180, BLOCKS + " --sizes 4:1M"),
    Run("blocks-4", "4 ranks", 4, 180, BLOCKS + " --sizes 4:1M"),
    Run("blocks-8", "8 ranks", 8, 240, BLOCKS + " --sizes 4:1M"),
    Run("reduce-2", "2 ranks", 2, 150, REDUCE + " --sizes 4:4M"),
    Run("reduce-4", "4 ranks", 4, 120, REDUCE + " --sizes 4:64K"),
    Run("reduce-8", "8 ranks", 8, 180, REDUCE + " --sizes 4:64K"),
    Run("idle-4", "4 ranks", 4, 30, BESIDE),
    Run("busy-4", "4 ranks, one busy process", 4, 30, BESIDE, busy=1),
    Run("idle-8", "8 ranks", 8, 30, BESIDE),
    Run("busy-8", "8 ranks, one busy process", 8, 30, BESIDE, busy=1),
]
MAPPED_MACHINE = "synthetic:package:2 numa:2 core:4 pu:1"

# ---- compare: launches of each build in each round, as ranks, seconds, words ----

NINE = "bcast,scatter,scatterv,gather,gatherv,allgather,allgatherv,reduce,allreduce"
COMPARED = [
    (2, 30, "barrier," + NINE + " --off-cache --sizes 4:4M"),
    (8, 8, "barrier," + NINE + " --off-cache --sizes 64"),
    (8, 8, NINE + " --off-cache --sizes 64K"),
]
COMPARED_ROUNDS = 7

# ---- instructions ----

COUNTED = "bcast barrier scatter gather allgather reduce allreduce".split()  # as calls.c knows them
FEW, MANY = 1000, 3000  # calls of the two runs whose difference counts
COUNTED_RUNS = 3
WAIT = "nc_wait_slowly"  # how long a rank waits is chance: what it executes in there does not count

# ---- program ----

PROGRAMS = {"xdlu": "LU (xdlu)", "xdqr": "QR (xdqr)", "xdsep": "eigenvalues (xdsep)"}
PROGRAM_RANKS, PROGRAM_RUNS, PROGRAM_LIMIT = 4, 3, 60
PROGRAM_PACKAGES = """scalapack-mpi-test scalapack-test-common libscalapack-mpich2.2 libmpich12
    libucx0 liblapack3 libblas3 libgfortran5 libquadmath0"""
LIBRARIES = {
    "distribution": "MPICH of the distribution",
    "off": "this build, numacoll not chosen",
    "all": "this build, MPIR_CVAR_NUMACOLL_COLLECTIVES=all",
}

# ---- tables and pictures ----

SHOWN = [0, 1] + [4**n for n in range(1, 13)]  # bytes
NAMES = {"auto": "MPICH"}  # of algorithms

FILES = {
    "bcast": ["bcast"],
    "blocks": ["scatterv", "gatherv", "allgatherv"],
    "reduce": ["reduce", "allreduce"],
}
# A picture: its heading, and panels: title, files, value, collective (None: all in the files).
# {..} are keys of machine.json.
PICTURES = {
    "ratios": (
        "Time of a call of numacoll / time of MPICH's own choice",
        [
            (
                "2 ranks on {processors} processors",
                ["bcast-2", "blocks-2", "reduce-2"],
                "ratio",
                None,
            ),
            (
                "8 ranks on {processors} processors",
                ["bcast-8", "blocks-8", "reduce-8"],
                "ratio",
                None,
            ),
        ],
    ),
    "times": (
        "2 ranks on {processors} processors: microseconds per call",
        [(c, [f"{f}-2"], "median_us", c) for f, collectives in FILES.items() for c in collectives],
    ),
    "barriers": (
        "Barriers on {processors} processors: microseconds per call",
        [
            (f"{n} ranks", [f"barrier-{n}{mapping}"], "median_us", None)
            for n, mapping in ((2, ""), (4, ""), (16, "-core"))
        ],
    ),
}
