"""Which launches there are to be, and whether there is time for them, from the seconds that others
have taken. Nothing here starts, reads or writes anything.

A run measures all candidates, decides, and then confirms what it has chosen, collective by
collective, the largest gain first, in a part of the time that is kept for that.

With --quick it makes one launch of all candidates. Then it measures the best of a collective and
confirms them at once, before it goes on with the next collective, the largest gain first. It begins
with none that it has no time to confirm."""
import collections

from . import decide, launches
from .candidates import AGAIN, DEFAULT

# Of the time, what is over when a part has to be done; what it leaves is the next one's
FIRST = 0.3  # the one launch of all candidates (--quick)
OF_FIRST = 0.5  # of that is planned for, since what is not done then is left out
CANDIDATES = 0.75  # the launches of all candidates, before what is chosen is confirmed
CHECKED = 0.67  # with --check, before what looked slower is measured again
WRITING = 2.0  # seconds that are left for the files at the end

BEST = 2  # candidates of a collective that go on
SHARING = 6  # of the time that is left a collective takes this part; the last ones, equal parts
OF_CANDIDATES = 0.3  # of a collective's time is for choosing, the rest for confirming

# numacoll-bench counts calls, but not how long ranks wait for each other before each call, which is
# long where they outnumber processors: there it is asked for this part of what it may take
ASKED = 0.4


def weight(group, sizes):
    """How long a group takes, beside others."""
    return len(group.labels) * sum(1 if c == "barrier" else len(sizes) for c in group.collectives)


def seconds_of(groups, sizes, count, seconds):
    """The seconds that a launch of each group may take beside START, of so many for `count`
    launches of all."""
    left = max(0.1 * seconds, 0.85 * seconds - launches.START * count * len(groups))
    all_ = sum(weight(g, sizes) for g in groups) * count
    return [left * weight(g, sizes) / all_ for g in groups]


def in_states(groups):
    """{(ranks, collectives): {state: number of the group}}."""
    numbers = {}
    for g, group in enumerate(groups):
        numbers.setdefault((group.ranks, tuple(group.collectives)), {})[group.state] = g
    return numbers


def turns(groups, count, one_by_one):
    """The launches in their order, [(launch, number of the group)]: one of each group, then the
    second of each; one_by_one: all those of a collective, then those of the next."""
    together = (
        [of.values() for of in in_states(groups).values()] if one_by_one else [range(len(groups))]
    )
    return [(number, g) for of in together for number in range(count) for g in of]


def order(labels, launch, count):
    """The labels in the order of one of `count` launches. It begins with another label from launch
    to launch, and goes forwards or backwards from there, so that no label is always the first to
    get memory or behind the same one. A launch that is made again has the order that it had."""
    n, step = len(labels), -1 if launch % 2 else 1
    first = launch * max(1, n // count)
    return [labels[(first + step * i) % n] for i in range(n)]


def pace_of(planned, records):
    """The seconds that launches took, over those that were planned for them."""
    as_planned = sum(planned[r["group"]] for r in records)
    return sum(r["seconds"] for r in records) / as_planned if as_planned else 1.0


def costs(planned, records):
    """Seconds of a launch of each group: the mean of those that were made, else as planned, at the
    pace of the other groups."""
    pace, taken = pace_of(planned, records), {}
    for r in records:
        taken.setdefault(r["group"], []).append(r["seconds"])
    return [
        sum(taken[g]) / len(taken[g]) if g in taken else pace * p for g, p in enumerate(planned)
    ]


def affordable(groups, seconds, done, left, least):
    """The numbers of the groups that can have `least` launches, in their order: in all states or in
    none. seconds: of a launch of each; done: how many there are; left: seconds."""
    able = []
    for numbers in in_states(groups).values():
        need = sum(max(0, least - done[g]) * seconds[g] for g in numbers.values())
        if need <= left:
            able += numbers.values()
            left -= need
    return able


# ---- what goes on after the first launch ----

# A collective on so many ranks: what its best candidate gained in the first launch, more than the
# default on itself; those that go on; the others; and the seconds of one more launch
Ranked = collections.namedtuple("Ranked", "gain ranks collective labels others seconds")


def ranked(group, record, sizes, sized):
    """Of each collective of a group Ranked, by the record of its first launch. sized: the
    collectives whose choice may depend on the size."""
    result = []
    for collective, cells in launches.samples([record])[0].items():
        gains = {label: decide.gain(of, collective in sized) for label, of in cells.items()}
        chance = abs(gains[AGAIN])
        candidates = [label for label in cells if label not in (DEFAULT, AGAIN)]
        candidates.sort(key=lambda label: -gains[label])  # equal ones stay in their order
        best = [label for label in candidates[:BEST] if gains[label] > 0]
        labels = [DEFAULT, AGAIN, *best]
        others = [label for label in candidates if label not in best]
        gain = gains[best[0]] - chance if best else 0
        alone = group._replace(collectives=[collective], labels=labels)
        part = weight(alone, sizes) / weight(group, sizes)
        seconds = launches.START + part * max(0, record["seconds"] - launches.START)
        result.append(Ranked(gain, group.ranks, collective, labels, others, seconds))
    return result


def going_on(all_):
    """Those of [Ranked] of which a candidate goes on, the largest gain first."""
    return sorted((one for one in all_ if len(one.labels) > 2), key=lambda one: -one.gain)


def can_be_confirmed(one, count, states, left):
    """Whether there are seconds left for `count` launches of a Ranked and as many to confirm it in
    each of so many states."""
    return count * (1 + states) * one.seconds <= left


def part_of(left, remaining):
    """The seconds for a collective, if so many are left for it and those behind it, `remaining` in
    all."""
    return left / min(SHARING, remaining)
