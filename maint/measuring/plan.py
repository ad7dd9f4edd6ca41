"""What maint/measure measures and shows: data only."""
import collections


def record(name, fields, *defaults):
    """A namedtuple; the defaults are of its last fields."""
    made = collections.namedtuple(name, fields)
    made.__new__.__defaults__ = defaults
    return made


ALL = {"MPIR_CVAR_NUMACOLL_COLLECTIVES": "all"}
# KiB: room for the queues of all variants, so that none is shortened
ROOM = {"MPIR_CVAR_COLL_SHM_LIMIT_PER_NODE": "2097151"}
SERVED = {**ALL, "MPIR_CVAR_COLLECTIVE_FALLBACK": "error"}  # no call is left to MPICH
SET = "two-processors"  # the set that README.md and doc/measurements.md describe

# how an algorithm that has this setting in its name must have copied
WAYS = {"shared_buffers=on": "shared", "single_copy=cma": "cma"}

# ---- run: numacoll beside MPICH ----

BARRIERS = "auto,central,flat,flat_gr,combining,mcs,tournament,dissemination,hierarchical"
BARRIER = "barrier --algorithms auto,numacoll --sweep BARRIER=" + BARRIERS
BLOCKS = "scatterv,gatherv,allgatherv --off-cache"
REDUCE = "reduce,allreduce --off-cache --rotate-root"

BESIDE = "barrier,bcast,allreduce --sizes 4"

# the file, what a table calls it, ranks, seconds, words for numacoll-bench, the mapping assumed,
# how many processes at nice 19 are busy meanwhile
Run = record("Run", "file title ranks seconds words mapping busy", None, 0)
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

# ---- compare: launches of each build in each round, by a plain numacoll-bench ----

NINE = "bcast,scatter,scatterv,gather,gatherv,allgather,allgatherv,reduce,allreduce"
# the file, ranks, seconds, words for numacoll-bench
Compared = record("Compared", "file ranks seconds words")
COMPARED = [
    Compared("compare", 2, 10, f"barrier,{NINE} --off-cache --sizes 4,16,64,256,1K,4K,16K"),
    Compared("compare-long", 2, 10, NINE + " --off-cache --sizes 64K,256K,1M,4M"),
    Compared("compare-8", 8, 8, f"barrier,{NINE} --off-cache --sizes 64"),
    Compared("compare-8", 8, 8, NINE + " --off-cache --sizes 64K"),
]
COMPARED_ROUNDS = 7
COMPARED_SETTINGS = {**SERVED, **ROOM}

# ---- instructions ----

COUNTED = """bcast barrier scatter scatterv gather gatherv allgather reduce allreduce
    alltoallv reduce_scatter_block""".split()  # as calls.c knows them
FEW, MANY = 1000, 3000  # calls of the two runs whose difference counts
COUNTED_RUNS = 3
WAIT = "nc_wait_any"  # how long a rank waits is chance: what it executes in there does not count

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

# ---- model: what numacoll-model predicts beside what numacoll-tune has measured ----

MODEL_SET = "model"
MODEL_FACTOR = 2  # by which a prediction may be wrong
MODEL_APART = 1.2  # how much longer one of two algorithms takes if their order counts
MODEL_ALIKE = 1.01  # the model sees no difference up to here

# ---- waits: numacoll and Open MPI in turn, more ranks than processors ----

WAITS_SET, WAITS_PROCESSORS, WAITS_ROUNDS = "busy", 2, 3
WAITS_LIMIT, WAITS_QUICK_LIMIT = 30, 5  # seconds that a job may take

# What the jobs run beside: busy processes (None: one per processor), their nice value, and whether
# they are in one scheduling group with the job, as in a container. Else they are in a session of
# their own, which is a scheduling group of its own where the kernel has autogroups.
Load = record("Load", "busy nice one_group", 0, 0, False)
IDLE, ONE_GROUP = Load(), Load(one_group=True)
LOADS = {
    "idle": ("idle", IDLE),
    "nice-19": ("one busy process, nice 19", Load(1, 19)),
    "nice-19-group": ("one busy process, nice 19, same group", Load(1, 19, True)),
    "nice-0": ("one busy process per processor", Load(None)),
    "nice-0-group": ("one busy process per processor, same group", Load(None, 0, True)),
}
WAITED_PROGRAMS = "xdlu xdinv xdqr xdls".split()  # of ScaLAPACK
WAITED_PACKAGE = "libscalapack-openmpi2.2"  # beside those of `program`
BUSY_PROGRAMS = ["idle", "nice-19", "nice-19-group"]

# the file, the case in it, ranks, words for waits.c or the name of a program, seconds that the jobs
# of both libraries take, what they run beside, processors that a quota leaves them
Wait = record("Wait", "file case ranks words seconds load quota", IDLE, None)
WAITS = [
    *(
        Wait("calls-" + name, f"{n} ranks", n, "calls 0.3", 3 + n / 16, load)
        for name, (_, load) in LOADS.items()
        for n in (4, 8, 16, 64, 128)
    ),
    Wait("late", "4 ranks", 4, "late 2", 13),
    Wait("quota", "no quota", 4, "allreduce 10000", 1, ONE_GROUP),
    Wait("quota", "quota of one processor", 4, "allreduce 10000", 3, quota=1),
    Wait("roundtrip", "2 others in MPI_Recv", 4, "roundtrip recv 0.5", 2),
    Wait("roundtrip", "2 others in MPI_Barrier", 4, "roundtrip barrier 0.5", 2),
    Wait("startup", "4 ranks", 4, "empty", 1),
    Wait("startup", "64 ranks", 64, "empty", 6),
    *(
        Wait("programs-" + name, program, PROGRAM_RANKS, program, 4, LOADS[name][1])
        for name in BUSY_PROGRAMS
        for program in WAITED_PROGRAMS
    ),
]
WAITS_QUICK = {"calls 0.3": "calls 0.1", "late 2": "late 0.5"}  # words; others stay
WAITS_NOT_QUICK = "(64|128) ranks|xdinv|xdqr|xdls"  # cases
# of each file: its title, and which function of tables.py makes its table
WAITED_FILES = {
    **{f"calls-{name}": (title, "calls") for name, (title, _) in LOADS.items()},
    "late": ("CPU time of a waiting rank", "late"),
    "quota": ("10000 allreduces, 4 ranks", "elapsed"),
    "roundtrip": ("4 ranks", "calls"),
    "startup": ("MPI_Init and MPI_Finalize", "seconds"),
    **{f"programs-{name}": (LOADS[name][0], "seconds") for name in BUSY_PROGRAMS},
}

# ---- peers: numacoll, MPICH's own choice and Open MPI in turn ----

PEERS_SET, PEERS_PROCESSORS, PEERS_ROUNDS = "peers", 2, 7

MOVE = "bcast,scatter,scatterv,gather,gatherv,allgather,allgatherv --off-cache"
SHORT = " --sizes 4,16,64,256,1K,4K,16K --rounds 2"
LONG = " --sizes 64K,256K,1M,4M,16M --rounds 2"
SEVEN = "alltoall,alltoallv,alltoallw,reduce_scatter,reduce_scatter_block,scan,exscan --off-cache"
SEVENS = " --sizes 4,64,256,1K,4K,16K,64K,256K,1M,4M --rounds 2"  # of a block, of a rank's numbers
# what fits is not shared: with an L2 of 2 MiB that is 1 MiB, too
BEYOND_QUEUES = " --sizes 4M,16M --rounds 2 --buffers alloc_mem"
# of Romanyuta, Kurnosov 2022: with 2 ranks the first block is empty, the other one twice as long
IRREGULAR = "scatterv,gatherv,allgatherv --off-cache --counts linear"
ROTATED = "scatterv,gatherv --off-cache --rotate-root"
PAPERS_SIZES = " --sizes 64,1K,16K,64K,256K,1M,4M,16M --rounds 2"
CROWDED, CROWDED_MIB = " --sizes 64,64K --rounds 1", " --sizes 1M --rounds 1"
ONE_CORE = "bcast --off-cache --sizes 4M --rounds 3"
# words where numacoll is measured
QUEUES, FLOOR = "--algorithms numacoll", "--algorithms numacoll --floor"
COPIES = FLOOR + " --memcpy"
SHARED = "--algorithms numacoll:shared_buffers=on --floor --memcpy --streamed"
# where MPICH's own choice is measured: buffers of MPI_Alloc_mem are MPICH's as well
MPICHS = {"MPIR_CVAR_NUMACOLL_SHARED_BUFFERS_LIMIT": "0"}

# the file, ranks, words for numacoll-bench, words where numacoll is measured, seconds that each
# launch is given, seconds that the launches of a round take, whether MPICH is measured (if ranks
# outnumber processors, a call of 1 MiB takes it seconds), rounds
Peer = record("Peer", "file ranks words numacoll seconds takes mpich rounds", PEERS_ROUNDS)
PEERS = [
    Peer("long", 2, MOVE + LONG, FLOOR, 15, 55, True),
    Peer("long", 2, REDUCE + LONG, FLOOR, 5, 15, True),
    Peer("shared", 2, MOVE + BEYOND_QUEUES, SHARED, 10, 36, True),
    Peer("shared", 2, REDUCE + BEYOND_QUEUES, SHARED, 4, 10, True),
    Peer("one-core", 2, ONE_CORE, COPIES, 2, 9, True, 20),
    Peer("one-core", 2, "barrier", QUEUES, 1, 4, False, 20),
    Peer("short", 2, MOVE + SHORT, FLOOR, 6, 12, True),
    Peer("short", 2, REDUCE + SHORT, FLOOR, 3, 6, True),
    Peer("seven", 2, SEVEN + SEVENS, QUEUES, 8, 28, True),
    Peer("irregular", 2, IRREGULAR + PAPERS_SIZES, QUEUES, 8, 30, True),
    Peer("rotated", 2, ROTATED + PAPERS_SIZES, QUEUES, 5, 21, True),
    Peer("crowded", 8, MOVE + CROWDED, QUEUES, 5, 30, True),
    Peer("crowded", 8, REDUCE + CROWDED, QUEUES, 2, 14, True),
    Peer("crowded", 8, SEVEN + CROWDED, QUEUES, 4, 20, True),
    Peer("crowded", 8, MOVE + CROWDED_MIB, QUEUES, 3, 12, False),
    Peer("crowded", 8, REDUCE + CROWDED_MIB, QUEUES, 1, 5, False),
]
PEERED_FILES = {
    "long": "2 ranks, through queues",
    "shared": "2 ranks, from shared buffers",
    "one-core": "2 ranks, one core's copy",
    "short": "2 ranks",
    "seven": "2 ranks",
    "irregular": "2 ranks, an empty block and one of twice the size",
    "rotated": "2 ranks, every root in turn",
    "crowded": "8 ranks on 2 processors",
    "imb": "Intel MPI Benchmarks, 2 ranks",
}
PEERS_QUICK = 10  # seconds that the launches of a round take

# ---- papers: figures of the papers that two ranks can time; variants: settings of numacoll ----

# Each variant has a median in each of several launches: memory lies elsewhere in the next.
LAUNCHED_PROCESSORS, LAUNCHES = 2, 5

# the file, its title, words for numacoll-bench, seconds of a launch, the setting that papers.md
# draws
Launched = record("Launched", "file title words seconds setting", None)

PAPERS_SET = "papers"
# the queue of Kurnosov, Tokmasheva 2020: all ranks copy out of the root's, fragments have the size
# of a slot, all slots are given back together, and stores are ordinary ones
PAPERS_QUEUE = "numacoll:levels=node:fragment_rule=fixed:queue_sets=1:streaming=0"
PAPERS_BYTES = 4 << 20  # of a queue, in figure 5
# bytes of fragments in figure 9: over all, and three teeth of it, each several times. Not more than
# the algorithms that numacoll-bench compares in a launch
SAW, TEETH = range(4096, 65536 + 1, 2048), range(50176, 65536 + 1, 512)


def sawn(fragments):
    """Words for numacoll-bench."""
    return (
        f"bcast --off-cache --sizes 16M --algorithms {PAPERS_QUEUE}:queue_length=32"
        f" --sweep FRAGMENT_SIZE={','.join(map(str, fragments))}"
    )


PAPERS = [
    Launched(
        "fragments",
        "figure 5",
        "bcast --off-cache --sizes 16K,32K,64K --algorithms "
        + ",".join(
            f"{PAPERS_QUEUE}:bcast_tree=chain:fragment_size={f}:queue_length={PAPERS_BYTES // f}"
            for f in range(4096, 65536 + 1, 4096)
        ),
        12,
        "fragment_size",
    ),
    Launched(
        "slots",
        "figure 7",
        f"bcast --off-cache --sizes 64:16M --algorithms {PAPERS_QUEUE}:bcast_tree=flat"
        ":fragment_size=8192 --sweep QUEUE_LENGTH=1,2,4,8,16,32,64,128",
        30,
        "queue_length",
    ),
    Launched("saw", "figure 9", sawn(SAW), 25, "fragment_size"),
    Launched("teeth", "figure 9, three teeth", sawn(TEETH), 25, "fragment_size"),
]

VARIANTS_SET = "variants"
# never, by default, and by readers of whatever writers may stream
STREAMED = (
    "bcast,allgather,reduce,alltoall --sizes 64K,256K,1M,4M,16M"
    " --algorithms numacoll --sweep STREAMING=0,-1,4095"
)
# A queue so short that 64 KiB do not fit it
KERNEL = (
    "bcast,scatter,gather,allgather --off-cache --sizes 64K,1M,4M"
    " --algorithms numacoll,numacoll:single_copy=cma:queue_length=2:fragment_size=8192"
)
# never, by default, and longer messages, too
DEMOTED = (
    "bcast,scatter,gather,reduce,allreduce,allgather,alltoall,scan"
    " --sizes 4,64,256,1K,2K,4K,8K,16K --algorithms numacoll --sweep DEMOTE=0,-1,65536"
)
VARIANTS = [
    Launched("streaming", "left unread", STREAMED + " --off-cache", 12),
    Launched("streaming-read", "read at once", STREAMED + " --off-cache --use", 12),
    Launched("streaming-in-cache", "left unread", STREAMED, 12),
    Launched("streaming-in-cache-read", "read at once", STREAMED + " --use", 12),
    Launched("kernel", "2 ranks, by the kernel", KERNEL, 8),
    Launched("demoted", "off-cache", DEMOTED + " --off-cache", 16),
    Launched("demoted-in-cache", "in cache", DEMOTED, 16),
]

# ---- imb: the same by Intel MPI Benchmarks ----

IMB = (
    "Bcast Reduce Allreduce Scatter Scatterv Gather Gatherv Allgather Allgatherv Alltoall Alltoallv"
    " Reduce_scatter -npmin 2 -root_shift 1 -iter 3000 -iter_policy off -time 20"
)
IMB_RANKS, IMB_SECONDS = 2, 5
IMB_SIZES = [4, 16, 64, 256, 1024, 4096, 16384]  # bytes

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
