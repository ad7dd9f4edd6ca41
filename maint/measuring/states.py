"""In which state of the machine launches ran.

Its two processors share an L3 or each has its own, and that changes within minutes
(doc/measurements.md, "The machine"): `both`, an L3 for both processors, or `each`, one for each. A
barrier of two ranks tells, 0.14 or 0.32 us; maint/measure keeps its time before and after a launch.
"""
import statistics

from .sets import grouped

BARRIER = 0.21
# Files without a barrier's time: the times of each size tell, as a size is measured by itself, all
# values in turn. Ordinary stores are fast where the L3 is shared. 4 MiB through one slot take 526
# us in one state and 2001 us in the other, about what MPICH's Bcast takes in the two states that a
# barrier told (doc/papers.md, figure 5). Launches of `both` are, in the median over the values,
# within 1.25 times the least ones, those of `each` 1.57 to 4.2 times above them. (So there has to
# be a launch of `both`.) Launches of one state are nearer to each other than this
APART = 1.4
# From one value to the next the times of a launch that stays in its state change less: in the
# columns of doc/papers.md that have a state 1.35 times at most, in those of a launch that changed
# 1.6 and more
JUMP = 1.5


def told(row):
    """What the barriers before and after the launch of a row say: one state, or both of them, if it
    changed meanwhile; of a file without barriers none."""
    barriers = [row[c] for c in ("barrier_before_us", "barrier_after_us") if c in row]
    return {"both" if float(us) < BARRIER else "each" for us in barriers}


def jumps(us):
    """Whether a launch's times jump from one value to the next."""
    times = list(us.values())
    return any(max(pair) > JUMP * min(pair) for pair in zip(times, times[1:]))


def median_at(launches, value):
    return statistics.median(us[value] for us in launches)


def over(us, launches):
    """The times of a launch over the medians of others, in the median over the values."""
    return statistics.median(us[value] / median_at(launches, value) for value in us)


def by_times(times):
    """The states of launches whose file has no barriers."""
    least = {value: min(us[value] for us in times.values()) for value in next(iter(times.values()))}
    return {n: {"both" if over(us, [least]) < APART else "each"} for n, us in times.items()}


def states_of(rows, value_of):
    """The launches of a size, each {value: us}, by their state. One that changed has that of the
    launches whose times are like its own; if these are of both states or of none, or if its own
    times jump, it has a key of its own."""
    launches = {name: of for (name,), of in grouped(rows, "round").items()}
    times = {n: {value_of(r): float(r["median_us"]) for r in of} for n, of in launches.items()}
    may_be = {n: told(of[0]) for n, of in launches.items()}
    may_be = may_be if all(may_be.values()) else by_times(times)
    steady, states = {}, {}
    for name, us in times.items():
        if len(may_be[name]) == 1 and not jumps(us):
            steady.setdefault(min(may_be[name]), []).append(us)
    for name, us in times.items():
        found = may_be[name]
        if len(found) > 1:
            found = {s for s, of in steady.items() if 1 / APART < over(us, of) < APART}
        unclear = len(found) != 1 or jumps(us)
        states.setdefault(f"launch {name}" if unclear else min(found), []).append(us)
    return dict(sorted(states.items()))
