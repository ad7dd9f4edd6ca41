"""The command that measures numacoll, MPICH's own choice and Open MPI in turn."""
import collections

from . import plan, tables
from .runs import Steps, chosen_of, quick, set_of, use_processors
from .sets import Build, OpenMPI, mpiexec


def launches_of(build, peer, p):
    """What is started of each library: jobs of what, words for numacoll-bench, settings."""
    launches = {
        "numacoll": (build, f"{p.words} {p.numacoll}", {}),
        "MPICH": (build, f"{p.words} --algorithms auto", plan.MPICHS),
        "Open MPI": (peer, p.words, {}),
    }
    return {name: what for name, what in launches.items() if p.mpich or name != "MPICH"}


def chosen_peers(o):
    chosen = chosen_of(o, plan.PEERS)
    if o.quick:
        of = {"seconds": 1, "takes": plan.PEERS_QUICK, "rounds": 1}
        chosen = [p._replace(words=quick(p.words), **of) for p in chosen]
    return chosen


def in_turn(launches, r):
    """The names in the order of round r: the library that is first in one is last in the next."""
    names = list(launches)
    return names[r % len(names) :] + names[: r % len(names)]


def rows_of(launches, p, r):
    """The rows of one round."""
    for name in in_turn(launches, r):
        library, words, settings = launches[name]
        for row in library.bench(p.ranks, f"{words} --seconds {p.seconds}", settings)[0]:
            which = row["algorithm"] if row["algorithm"] in tables.COPIES else name
            cells = {column: row[column] for column in ("collective", "bytes", "median_us")}
            yield {"round": r, "library": which, **cells}


def command_of(chosen, file, peer):
    """What the launches were, as text."""
    own = [p for p in chosen if p.file == file]
    ranks, settings = own[0].ranks, " ".join(f"'{k}={v}'" for k, v in plan.MPICHS.items())
    words = " | ".join(f"{p.words} --seconds {p.seconds}" for p in own)
    numacoll = " | ".join(dict.fromkeys(p.numacoll for p in own))
    return (
        f"{mpiexec(ranks)} numacoll-bench {words}; with {numacoll}; "
        f"with {settings} and --algorithms auto; {peer.mpiexec(ranks)} ..."
    )


def peers(o):
    use_processors(plan.PEERS_PROCESSORS)
    build, peer, kept, chosen = Build(o.build), OpenMPI(), set_of(o), chosen_peers(o)
    peer.compile_bench()
    steps = Steps([p.takes for p in chosen for _ in range(p.rounds)], kept)
    kept.measured_with(build)
    rows = collections.defaultdict(list)
    for r in range(max(p.rounds for p in chosen)):
        for p in [p for p in chosen if r < p.rounds]:
            steps.next(f"round {r + 1}, {p.file}, {p.words.split()[0]}", p.takes)
            rows[p.file] += rows_of(launches_of(build, peer, p), p, r)
        for file, of in rows.items():
            about = {"title": plan.PEERED_FILES[file], "command": command_of(chosen, file, peer)}
            kept.keep(file, of, numacoll=build.name, openmpi=peer.version, **about)
    for file in rows:
        print(tables.table_of(kept, [file]), end="\n\n")
