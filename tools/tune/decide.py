"""What is chosen, from what was measured. Nothing here starts, reads or writes anything.

A cell is what was measured of an algorithm at one size: of each launch the logarithm of the ratio
of its time to the default's in the same launch; below zero it is faster. The default is kept unless

* the median of the cell's launches is below zero by more than MIN_GAIN and by more than chance,
  which is estimated from the default measured against itself and from how launches differ, at this
  size and the next smaller and larger one; and
* at least four of five launches say so (all, of fewer).

Over sizes: to change the choice from one size to the next costs CHANGE, and to take something else
than the default where that gains nothing costs NOTHING. The choices with the least costs are taken.
So a single size needs a larger gain, and a gap of few sizes is closed unless it would lose there.

Of what is measured in several states (launches.py), as alone and beside a busy process, a gain is
one in any of them that is no more than MOST_LOSS slower in the others, a loss one in any.
"""
import collections
import math
from statistics import median

from .candidates import AGAIN, DEFAULT

MIN_GAIN = math.log(1.03)  # no difference that is smaller counts
ALL = 8  # values that count as much as those of all algorithms
SIGMAS = 3  # how far from chance a difference has to be, in standard deviations
# The same for what was chosen to lose when it is measured once more: less, as the default does no
# harm. Not where one choice is for several sizes: it would lose at one of them by chance
DOUBTED = 1
# The same for --check: to look slower, in the first launches; to be slower, in new ones. Smaller,
# since both must be so
LOOKS_SLOWER, IS_SLOWER = 2.5, 2
CHANGE, NOTHING = MIN_GAIN, MIN_GAIN / 2
MIN_LAUNCHES = 3  # with fewer nothing is decided
MOST_LOSS = math.log(1.1)  # in one state, if there is a gain in another

GAIN, EVEN, LOSS = -1, 0, 1


def deviations(cells):
    """From the median of each cell."""
    return [x - middle for cell in cells for middle in [median(cell)] for x in cell]


def scatter(values, launches):
    """A standard deviation that outliers do not change, from deviations from medians of so many
    launches; the last factor is larger the fewer they are."""
    return 1.4826 * median([abs(v) for v in values]) * launches / (launches - 0.8)


def believed(few, launches, all_):
    """As scatter, but of few values, which may lie close together or far apart by chance: drawn to
    the deviation of all."""
    weight = len(few) / (len(few) + ALL)
    return math.sqrt(weight * scatter(few, launches) ** 2 + (1 - weight) * all_**2)


Judged = collections.namedtuple("Judged", "median margin verdict")


def judged(cell, margin):
    """Whether an algorithm gains on the default, loses to it, or neither can be said."""
    middle, most = median(cell), math.ceil(0.8 * len(cell))
    verdict = EVEN
    if middle < -margin and sum(x < 0 for x in cell) >= most:
        verdict = GAIN
    if middle > margin and sum(x > 0 for x in cell) >= most:
        verdict = LOSS
    return Judged(middle, margin, verdict)


def judge(cells, sigmas=SIGMAS):
    """Of each size {label: Judged}."""
    result = []
    for i in range(len(cells[AGAIN])):
        near = {label: sizes[max(i - 1, 0) : i + 2] for label, sizes in cells.items()}
        launches = len(cells[AGAIN][i])
        differing = {label: deviations(of_sizes) for label, of_sizes in near.items()}
        everything = [d for ds in differing.values() for d in ds]
        all_ = scatter(everything, launches)
        itself = believed([y for cell in near[AGAIN] for y in cell], launches, all_)
        # the deviation of a median is 1.2533 times that of a mean; the last factor is as Student's
        free = len(everything) * (1 - 1 / launches)
        factor = sigmas * 1.2533 / math.sqrt(launches) * (1 + 3 / free)
        here = {}
        for label in cells:
            chance = max(all_, itself, believed(differing[label], launches, all_))
            here[label] = judged(cells[label][i], max(MIN_GAIN, factor * chance))
        result.append(here)
    return result


def in_all(states, sigmas=SIGMAS):
    """As judge, of the cells of several states."""
    judged_ = [judge(cells, sigmas) for cells in states]
    return [{label: both([h[label] for h in here]) for label in here[0]} for here in zip(*judged_)]


def both(of_states):
    """What is said of an algorithm in all states."""
    medians, margins, verdicts = zip(*of_states)
    loses = LOSS in verdicts or len(medians) > 1 and max(medians) > MOST_LOSS
    verdict = LOSS if loses else min(verdicts)
    return Judged(sum(medians) / len(medians), max(margins), verdict)


def path(costs):
    """Of each size the label, so that the costs, with CHANGE for each change, are least in sum.
    costs: [{label: cost}]; a label that is missing cannot be chosen. Of equal ones the first is
    taken."""
    best = {label: (cost, [label]) for label, cost in costs[0].items()}
    for here in costs[1:]:
        step = {}
        for label, cost in here.items():
            ways = [(c + CHANGE * (way[-1] != label), way) for c, way in best.values()]
            least = min(ways, key=lambda w: (w[0], w[1][-1] != label))
            step[label] = (least[0] + cost, least[1] + [label])
        best = step
    return min(best.values(), key=lambda w: w[0])[1]


def trimmed(chosen, all_):
    """The choices; but at the ends of a row of equal ones the default where they gain nothing."""
    result = list(chosen)
    for order in (range(len(chosen)), range(len(chosen) - 1, -1, -1)):
        row = None
        for i in order:
            if chosen[i] != DEFAULT and all_[i][chosen[i]].verdict == GAIN:
                row = chosen[i]
            elif row != chosen[i]:
                result[i], row = DEFAULT, None
    return result


def by_size(all_):
    """The label for each size. all_: what judge returns."""
    costs = []
    for here in all_:
        able = {l: j for l, j in here.items() if l != AGAIN and j.verdict != LOSS}
        costs.append({l: j.median if j.verdict == GAIN else NOTHING for l, j in able.items()})
        costs[-1] = {DEFAULT: 0, **costs[-1]}
    return trimmed(path(costs), all_)


def for_all_sizes(all_):
    """One label, for a collective whose choice cannot depend on the size: it gains over all sizes
    together, and loses at none."""
    best = (0, DEFAULT)
    for label in all_[0]:
        of_sizes = [here[label] for here in all_]
        together = sum(j.median for j in of_sizes)
        # sizes are measured in the same launches: what chance does to them may be alike
        gains = together < -sum(j.margin for j in of_sizes)
        if label != AGAIN and gains and all(j.verdict != LOSS for j in of_sizes):
            best = min(best, (together, label), key=lambda b: b[0])
    return best[1]


def decide(states, sized):
    """Of each size (label, the time to be expected over the default's). states: of each state
    {label: [cell of each size]} of a collective on a number of ranks, with AGAIN and without
    DEFAULT; every cell of a state has as many launches. sized: whether the choice may depend on the
    size."""
    sizes = len(states[0][AGAIN])
    if min(len(cells[AGAIN][0]) for cells in states) < MIN_LAUNCHES:
        chosen = [DEFAULT] * sizes
    else:
        all_ = in_all(states)
        chosen = by_size(all_) if sized else [for_all_sizes(all_)] * sizes
    return [(label, expected(states, label, i)) for i, label in enumerate(chosen)]


def expected(states, label, i):
    """The time to be expected at a size, over the default's, in the worst state."""
    if label == DEFAULT:
        return 1.0
    return math.exp(max(median(cells[label][i]) for cells in states))


def confirmed(chosen, states, label, sized):
    """The choices that hold when they are measured once more, as one algorithm `label` that makes
    them: the default at a size where it does not gain then; and at all sizes, if it does not gain
    over all together, since to look into MPICH's files takes time at each. chosen, states, sized:
    as decide returns and takes them."""
    sized = sized or len(chosen) == 1
    judged_ = [here[label] for here in in_all(states, DOUBTED if sized else SIGMAS)]
    holds = [j.median < 0 and j.verdict != LOSS for j in judged_]
    if sum(j.median for j in judged_) >= 0 or not sized and not all(holds):
        return [(DEFAULT, 1.0)] * len(chosen)
    return [
        (of, expected(states, label, i)) if of != DEFAULT and holds[i] else (DEFAULT, 1.0)
        for i, (of, _) in enumerate(chosen)
    ]


def gain(cells, sized):
    """What an algorithm gains on the default over all sizes, as a sum of logarithms, whether by
    chance or not; only of those sizes at which it gains, if the choice may depend on the size."""
    medians = [median(cell) for cell in cells]
    return -sum(min(0, m) if sized else m for m in medians)


def slower(cells, label, sigmas):
    """The numbers of the sizes at which an algorithm loses to the default."""
    return [i for i, here in enumerate(judge(cells, sigmas)) if here[label].verdict == LOSS]
