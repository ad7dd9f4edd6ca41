"""The constants of numacoll-model on this machine, from a launch of two ranks for each level that
joins two cores, bound to them."""
import collections
import csv
import os
import subprocess

from . import candidates, launches

# From the highest level to the lowest, as numacoll-model calls them, and what processors that it is
# the lowest to join do not share, as lscpu calls it
LEVELS = {"node": "Socket", "package": "Node", "numa": "L3", "l3": "L2", "l2": "Core"}
SMALL, MIDDLE, LARGE = 4, 2048, 262144  # bytes: in a line; short enough to stay in a cache; long
SIZES = [SMALL, MIDDLE, LARGE]
CENTRAL = candidates.DEFAULT + ":barrier=central"
CROSSINGS = 3  # of lines, one after the other, in the central barrier of two
SECONDS, MOST = 2.0, 20.0  # of a launch, as it is asked for, and at most
STEPS = 16  # of a search

# Microseconds until a line is here, and beside that of a call; nanoseconds to copy a byte past the
# caches, more to copy one from another core's cache, and to combine one
Constants = collections.namedtuple("Constants", "line call byte cached combine")


def pairs(text, allowed):
    """{level: two processors, by the kernel's numbers, that it is the lowest level to join}. text:
    what `lscpu -p=CPU,CORE,SOCKET,NODE,CACHE` writes; allowed: those that may be used."""
    # up to util-linux 2.36 there are colons between the caches, in the names and in the lines
    text = text.replace(":", ",")
    names = [line[2:] for line in text.splitlines() if line.startswith("# CPU,")]
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    rows = csv.DictReader([*names, *lines]) if names else []
    units = {int(row["CPU"]): row for row in rows if int(row["CPU"]) in allowed}
    found, first = {}, min(units, default=None)
    for other in sorted(units):
        for level, unit in LEVELS.items():
            if units[first].get(unit) != units[other].get(unit):
                found.setdefault(level, (first, other))
                break
    return found


def processors():
    words = ["lscpu", "-p=CPU,CORE,SOCKET,NODE,CACHE"]
    done = subprocess.run(words, stdout=subprocess.PIPE, universal_newlines=True, check=True)
    return pairs(done.stdout, os.sched_getaffinity(0))


def launch(launcher, program, two, file):
    """{(collective, bytes, label): microseconds} of ranks on two processors, or a text that says
    why there is none."""
    names, labels = ["barrier", "bcast", "reduce"], [candidates.DEFAULT, CENTRAL]
    group = launches.Group(2, names, labels, launches.ALONE)
    starts = [["-n", "1", "taskset", "-c", str(p)] for p in two]
    said = launches.bench(launcher, program, group, SIZES, SECONDS, MOST, file, starts=starts)
    if not isinstance(said, dict):
        return said or "not done in time"
    return {tuple(cell[:3]): cell[3] for cell in launches.cells_of(said, labels)}


def found(predict, aim, low, high):
    """The x between low and high for which predict(x), which grows with x, is `aim`."""
    for _ in range(STEPS):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if predict(middle) < aim else (low, middle)
    return round(high, 6)


def constants_of(times, predict):
    """Those with which the model says what was measured. times: as launch returns; predict(
    collective, bytes, constants): microseconds that the model says."""

    def us(collective, size, label=candidates.DEFAULT):
        return times[collective, size, label]

    # an exchange is one crossing; a counter is more, and faster than so many
    line = (us("barrier", 0) * us("barrier", 0, CENTRAL) / CROSSINGS) ** 0.5
    c = Constants(line, max(0.0, us("bcast", SMALL) - line), 0.1, 0.0, 0.0)
    for name, collective, size in (
        ("byte", "bcast", LARGE),
        ("cached", "bcast", MIDDLE),
        ("combine", "reduce", LARGE),
    ):

        def with_(x):
            return predict(collective, size, c._replace(**{name: x}))

        c = c._replace(**{name: found(with_, us(collective, size), 1e-4, 100)})
    return c


def words(by_level):
    """The options of numacoll-model. by_level: {level: Constants}. Levels that were not measured
    are as the highest one; call, cached and combine, which the model has one of, are those of the
    lowest."""
    levels = [level for level in LEVELS if level in by_level]
    if not levels:
        return []
    highest, lowest = by_level[levels[0]], by_level[levels[-1]]
    each = [("*", highest)] + [(level, by_level[level]) for level in levels]
    options = {"lines": ",".join(f"{level}:{c.line:.3g}/{c.byte:.3g}" for level, c in each)}
    options["call"] = f"{1000 * lowest.call:.3g}"  # nanoseconds
    options.update({name: f"{getattr(lowest, name):.3g}" for name in ("cached", "combine")})
    return [f"--{name}={value}" for name, value in options.items()]
