"""What maint/papers shows in doc/papers.md: the commands behind each figure, and how their output
is shown. Nothing here is timed: the commands count, simulate or compute. Times come from files that
maint/measure has kept."""
import json
import os
import re
import shutil
import statistics
import subprocess

from . import pictures, plan
from .plan import record
from .sets import Set, grouped
from .states import APART, median_at, states_of
from .tables import bytes_text, ratio_text, table, time_text

# The machines of the papers: hwloc's words for numacoll-model and numacoll-topo
BROADWELL = "--machine=2:1:8"  # of test/sim: packages, NUMA nodes of each, cores of each
KUNPENG = '--synthetic "package:2 numa:2 core:32 pu:1"'
TEN_NODES = KUNPENG + " --nodes $(seq -s , 10)"
NETWORK = "<(printf 'node01 leaf1 spine1\\nnode02 leaf1 spine1\\nnode48 leaf3 spine1\\n')"
SIMULATE, CROSSINGS = "test/sim/bin/simulate", "test/shm/bin/crossings"
EMULATE = "test/numa/run"
TREES = "--algorithms linear,knomial,pipelined_binary,chain"
BARRIERS = f"numacoll-model barrier {KUNPENG}"

# What commands print, as it is. {plot} in one of them becomes the option that draws `picture`
Printed = record("Printed", "commands picture", None)
# A table: a column for each value of the placeholder, which stands in the command, and a row for
# each row of the command's JSON, named by `row`. A cell has the numbers of `cells`. `varies`: a
# last column has the coefficient of variation of this number over the values, in percent
Grid = record("Grid", "command placeholder values row cells varies", None)
# Times of numacoll over those of Open MPI in kept files of `peers`, 2 ranks
Ratios = record("Ratios", "collectives files", ["short", "long"])
# Times in a kept file of `papers`: a row for each value of a setting, a column for each size and
# state of the machine. ratios: over those of the first value, which alone is in microseconds.
# model: a command whose JSON has, for each value, the time of a formula; then a last column shows
# it, and the picture both; relative: each curve over its median
Swept = record("Swept", "file ratios model picture relative", False, None, None, False)
KEPT = (Ratios, Swept)  # need kept files


def saw_of(fragments, picture):
    """Measured fragments of figure 9 beside the model's."""
    model = f"--from {fragments[0]} --to {fragments[-1]} --step {fragments.step}"
    return "numacoll-model queue --slots 32 " + model, picture


FIGURES = {
    # Kurnosov, Tokmasheva 2020
    "bcast-segment": Printed(
        [
            'numacoll-topo --synthetic "core:8 pu:1" --slots 8 --fragment 8192 --sets 2'
            " | sed -n '/^segment/,$p'"
        ]
    ),
    "bcast-queues": Printed(["numacoll-model queue --table"]),
    "bcast-fragments": Printed(["numacoll-model queue --queue 4M"]),
    "bcast-fragments-times": Swept("fragments"),
    "bcast-slots-times": Swept("slots", True),
    "bcast-slots": Printed(["numacoll-model queue --over slots --fragment 8K"]),
    "bcast-saw": Printed(
        ["numacoll-model queue --slots 32 --step 128{plot} | sed -n 1,3p"], "papers-saw.svg"
    ),
    "bcast-saw-times": Swept("saw", False, *saw_of(plan.SAW, "papers-saw-times.svg")),
    "bcast-teeth-times": Swept("teeth", False, *saw_of(plan.TEETH, "papers-teeth-times.svg"), True),
    "bcast-trees": Printed([f"{SIMULATE} {BROADWELL} --bytes=65536 bcast"]),
    "bcast-pages": Printed(
        [
            f"{EMULATE} $PREFIX | awk '\n"
            "      /huge pages free/ { done = 1 }\n"
            "      done { next }\n"
            '      / on nodes / { sub(/^ok [0-9]* - /, ""); sub(/, all.*/, ""); print }\n'
            '      /^# right/ { printf "  %-27s %d pages, misplaced %3d,", $3, $5, $10\n'
            '                   printf " %7d bytes\\n", 4096 * $10 }\n'
            "  '"
        ]
    ),
    "bcast-times": Ratios(["bcast"]),
    # Romanyuta, Kurnosov 2022
    "blocks-times": Ratios(["scatterv", "gatherv", "allgatherv"]),
    "blocks-irregular": Ratios(["scatterv", "gatherv", "allgatherv"], ["irregular"]),
    "blocks-rotated": Ratios(["scatterv", "gatherv"], ["rotated"]),
    "blocks": Printed([f"{SIMULATE} {BROADWELL} --bytes=65536 allgather"]),
    # Kurnosov 2023
    "groups-cluster": Printed(
        [
            'numacoll-topo --synthetic "package:2 core:18 pu:1" --nodes node01,node02,node48 \\\n'
            f"    --network {NETWORK} \\\n"
            "    -n 108 | grep ^process"
        ]
    ),
    "groups-bcast": Printed(
        [f"numacoll-model messages bcast 1M {TEN_NODES} | sed 1,/^$/d"]
        + [f"numacoll-model messages bcast 1M {TEN_NODES} \\\n    --map-by numa | sed 1,/^$/d"]
        + [
            "for how in core numa; do\n"
            f"      diff <(numacoll-model messages bcast 1M {TEN_NODES} --map-by $how --csv) \\\n"
            f"          <(numacoll-model messages reduce 1M {TEN_NODES} --map-by $how --csv) &&\n"
            '          echo "by $how: Reduce as Bcast"\n'
            "  done"
        ]
    ),
    "groups-allreduce": Printed(
        [
            f"numacoll-model messages allreduce 1M {TEN_NODES} \\\n"
            "    --levels numa,node | sed 1,/^$/d"
        ]
    ),
    "groups-inside": Printed([f"{SIMULATE} --machine=2:2:32 --bytes=16384 reduce allreduce"]),
    "groups-times": Ratios(["reduce", "bcast", "allreduce"]),
    # Kurnosov, Tokmasheva 2022
    "barrier-groups": Printed(
        [
            f"numacoll-topo {KUNPENG} | grep ^process",
            f"numacoll-topo {KUNPENG} --map-by numa -n 14 | grep ^process",
        ]
    ),
    "barrier-ranks": Grid(BARRIERS + " -n P", "P", [2, 4, 8, 16, 32, 64, 128], "barrier", ["us"]),
    "barrier-mappings": Grid(
        BARRIERS + " --map-by HOW",
        "HOW",
        ["core", "numa", "package"],
        "barrier",
        ["crossings", "chain", "us"],
        "us",
    ),
    "barrier-crossings": Printed([f"{CROSSINGS} | grep '^# '"]),
    "barrier-simulated": Printed(
        [f"{SIMULATE} --machine=2:2:32 --mapping={how} barrier" for how in ("core", "numa")]
    ),
    # Kurnosov 2019
    "tree-shapes": Printed(
        [
            "for tree in flat kary balanced knomial chain; do\n"
            '      numacoll-topo --synthetic "core:9 pu:1" --tree $tree --degree 2'
            " | grep -e '->' -e ^notification\n"
            "  done"
        ]
    ),
    "tree-degrees": Printed(["numacoll-model tree --over degree --to 8 --message 0 --link 1/0"]),
    "tree-optimum": Printed(
        ["for m in 1M 2M 3M; do numacoll-model tree --message $m | grep s_opt; done"]
    ),
    "tree-segments": Printed(
        [
            "numacoll-model tree --over segment --from 512 --to 64K"
            " --algorithms chain,pipelined_binary{plot}"
        ],
        "papers-segments.svg",
    ),
    "tree-messages": Printed(
        [f"numacoll-model tree --over message --to 8M {TREES}{{plot}}"], "papers-trees.svg"
    ),
    "tree-ranks": Printed(
        [f"for p in 4 16 64 256 1024; do numacoll-model tree -n $p {TREES} | grep ^best; done"]
    ),
    "tree-choice": Printed(
        [
            'for m in 1K 64K 1M; do numacoll-model why bcast $m --synthetic "core:1 pu:1" \\\n'
            "    --nodes $(seq -s , 128) --links '*:50/47' | grep ^top; done"
        ]
    ),
}

# ---- running ----


class Shell:
    """Runs commands, in the folder of the sources, with the tools of an installation, PREFIX."""

    def __init__(self, top, prefix, emulates=False):
        absent = [p for p in ("qemu-system-x86_64", "busybox") if not shutil.which(p)]
        if emulates and absent:
            raise SystemExit(f"papers: --numa: {' and '.join(absent)}: not installed")
        self.top, self.missing = top, set() if emulates else {EMULATE}
        path, home = f"{prefix}/bin:{os.environ['PATH']}", os.environ.get("HOME", "/")
        self.environment = {"PATH": path, "HOME": home, "LC_ALL": "C.UTF-8", "PREFIX": str(prefix)}

    def output(self, command):
        """Of a command that must not fail."""
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=str(self.top),
            env=self.environment,
            stdout=subprocess.PIPE,
            universal_newlines=True,
        )
        if done.returncode:
            raise SystemExit(f"papers: exit status {done.returncode}: {command}")
        return done.stdout.rstrip("\n")

    def build(self):
        """The programs of tests that count and simulate; the simulation needs SimGrid."""
        self.output("make -s -C test/shm bin/crossings")
        header = "echo '#include <simgrid/s4u.hpp>' | g++ -x c++ -E - >/dev/null 2>&1"
        if self.output(f"{header} || echo none") == "none":
            self.missing.add(SIMULATE)
        else:
            self.output("make -s -C test/sim bin/simulate")

    def can(self, figure):
        """Whether its programs, or its files, are there."""
        if isinstance(figure, Ratios):
            return all(file in peers(self.top).files for file in figure.files)
        if isinstance(figure, Swept):
            return figure.file in papers(self.top).files
        commands = figure.commands if isinstance(figure, Printed) else [figure.command]
        return not any(program in c for program in self.missing for c in commands)


# ---- showing ----


def indented(text):
    return "\n".join(("    " + line).rstrip() for line in text.split("\n"))


def printed(figure, shell, draws):
    """The commands, each with what it prints; and the picture."""
    option = f" --plot doc/img/{figure.picture}"
    parts = []
    for command in figure.commands:
        shown = command.replace("{plot}", option)
        output = shell.output(shown if draws else command.replace("{plot}", ""))
        parts.append(indented(f"$ {shown}\n{output}"))
    if figure.picture:
        parts.append(f"![](img/{figure.picture})")
    return "\n\n".join(parts)


def variation(numbers):
    """The coefficient of variation, percent."""
    return 100 * statistics.stdev(numbers) / statistics.mean(numbers)


def grid(figure, shell):
    """The command, and its table."""
    columns = []
    for value in figure.values:
        command = figure.command.replace(figure.placeholder, str(value))
        rows = json.loads(shell.output(command + " --json"))["rows"]
        columns.append({row[figure.row]: row for row in rows})
    head = [f"{figure.row}: {' / '.join(figure.cells)}", *map(str, figure.values)]
    lines = []
    for name in columns[0]:
        cells = [" / ".join(f"{c[name][key]:.6g}" for key in figure.cells) for c in columns]
        if figure.varies:
            cells.append(f"{variation([c[name][figure.varies] for c in columns]):.1f}")
        lines.append([name, *cells])
    head += ["variation, %"] * bool(figure.varies)
    return f"{indented('$ ' + figure.command)}\n\n{table(head, lines)}"


def peers(top):
    return Set(top / "doc/measurements" / plan.PEERS_SET)


def papers(top):
    return Set(top / "doc/measurements" / plan.PAPERS_SET)


def ratio(rows):
    """Of rows of one collective and size: the median of the rounds' ratios."""
    rounds = [{r["library"]: float(r["median_us"]) for r in g} for g in rows.values()]
    return ratio_text(statistics.median(r["numacoll"] / r["Open MPI"] for r in rounds))


def ratios(figure, shell):
    """A row for each collective, a column for each size."""
    rows = [r for file in figure.files for r in peers(shell.top).rows(file)]
    of = grouped(rows, "collective", "bytes")
    sizes = sorted({int(r["bytes"]) for r in rows})
    lines = [
        [c] + [ratio(grouped(of[c, str(s)], "round")) for s in sizes] for c in figure.collectives
    ]
    return table([""] + [bytes_text(s) for s in sizes], lines)


def value_of(row, setting):
    """Of a setting that an algorithm names."""
    return int(re.search(rf":{setting}=(\d+)", row["algorithm"])[1])


MOST_SIZES, MOST_COLUMNS = 12, 12


def sizes_of(rows):
    """All, or, if they are many, those that other tables show."""
    sizes = sorted({int(r["bytes"]) for r in rows})
    return sizes if len(sizes) <= MOST_SIZES else [s for s in sizes if s in plan.SHOWN]


def columns_of(rows, setting):
    """The launches, by size and state."""
    columns = {}
    for size in sizes_of(rows):
        of_size = [r for r in rows if int(r["bytes"]) == size]
        for state, launches in states_of(of_size, lambda r: value_of(r, setting)).items():
            columns[size, state] = launches
    return columns


def name_of(size, state, launches):
    count = "" if state.startswith("launch") else f" ({len(launches)})"
    return f"{bytes_text(size)}, {state}{count}"


def spread(numbers, text):
    """Of several launches: the median; if they are far apart, the lowest and the highest."""
    if max(numbers) > APART * min(numbers):
        return f"{text(min(numbers))}..{text(max(numbers))}"
    return text(statistics.median(numbers))


def draw(curves, axes, path):
    """Times over the size of fragments: points by name; axes: words for gnuplot."""
    lines = [f"set terminal svg size 900,420\nset output {pictures.quoted(str(path))}"]
    lines += ["set grid; set key outside below; set xlabel 'bytes of a fragment'", axes]
    drawn = []
    for n, (name, (points, style)) in enumerate(curves.items()):
        lines += [f"$d{n} << EOD", *(f"{x} {y}" for x, y in points.items()), "EOD"]
        drawn.append(f"$d{n} {style} lw 2 title {pictures.quoted(name)}")
    script = "\n".join([*lines, "plot " + ", ".join(drawn)]) + "\n"
    subprocess.run(["gnuplot"], input=script, universal_newlines=True, check=True)


MEASURED = "with linespoints pt 7 ps 0.5"


def draw_beside(curves, modelled, path):
    """Measured and modelled times, each with an axis of its own."""
    styled = {name: (points, MEASURED) for name, points in curves.items()}
    axes = "set ylabel 'measured, us'; set yrange [0:*]; set ytics nomirror; set y2tics\n"
    axes += "set y2label 'model, us'"
    draw({**styled, "model": (modelled, "axes x1y2 with lines")}, axes, path)


def draw_relative(curves, modelled, path):
    """The same, where differences are small: each over the median of its curve."""

    def over_median(points):
        return {x: y / statistics.median(points.values()) for x, y in points.items()}

    styled = {name: (over_median(points), MEASURED) for name, points in curves.items()}
    styled["model"] = over_median(modelled), "with lines"
    draw(styled, "set ylabel 'time over the median of the curve'", path)


def by_state(columns):
    """Those of one table, if they are few; else a table for each state."""
    if len(columns) <= MOST_COLUMNS:
        return [columns]
    states = dict.fromkeys(state for _, state in columns)
    return [{key: of for key, of in columns.items() if key[1] == state} for state in states]


def swept(figure, shell, draws):
    setting = next(f.setting for f in plan.PAPERS if f.file == figure.file)
    columns = columns_of(papers(shell.top).rows(figure.file), setting)
    values = list(next(iter(columns.values()))[0])
    modelled, parts = None, []
    if figure.model:
        rows = json.loads(shell.output(figure.model + " --json"))["rows"]
        modelled = {r["f"]: r["us"] for r in rows}

    def cell(launches, value):
        if figure.ratios and value != values[0]:
            return spread([us[value] / us[values[0]] for us in launches], ratio_text)
        return spread([us[value] for us in launches], time_text)

    for some in by_state(columns):
        head = [setting.upper(), *(name_of(*key, of) for key, of in some.items())]
        lines = [[str(v), *(cell(of, v) for of in some.values())] for v in values]
        if modelled:
            head.append("model")
            lines = [line + [time_text(modelled[v])] for v, line in zip(values, lines)]
        parts.append(table(head, lines))
    if modelled:
        parts.append(f"![](img/{figure.picture})")
    if modelled and draws:
        curves = {
            name_of(*key, of): {v: median_at(of, v) for v in values} for key, of in columns.items()
        }
        drawing = draw_relative if figure.relative else draw_beside
        drawing(curves, modelled, shell.top / "doc/img" / figure.picture)
    return "\n\n".join(parts)


def shown(figure, shell, draws):
    if isinstance(figure, Ratios):
        return ratios(figure, shell)
    if isinstance(figure, Swept):
        return swept(figure, shell, draws)
    if isinstance(figure, Grid):
        return grid(figure, shell)
    return printed(figure, shell, draws)
