"""Pictures from kept files, by gnuplot."""
import subprocess

from . import plan, tables
from .sets import all_sets, grouped

COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#56b4e9"]
# in pixels
PANEL, HEADING, LEFT, BETWEEN, BELOW, LEGEND = (400, 290), 85, 60, 70, 105, 150


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def curves(kept, files, value, collective):
    """Points of (size, value) by name: a collective where ratios are drawn, else an algorithm."""
    rows = [r for f in files for r in kept.rows(f) if collective in (None, r["collective"])]
    if value == "ratio":
        rows = [r for r in rows if r["algorithm"] != "auto"]
        names = grouped(rows, "collective")
    else:
        names = {(tables.algorithm_text(g[0]),): g for g in grouped(rows, "algorithm").values()}
    return {n: [(int(r["bytes"]), float(r[value])) for r in g] for (n,), g in names.items()}


def y_axis(points, curved_times):
    """Logarithmic where values differ by more than a decade or so, else from zero."""
    values = [y for _, y in points]
    if curved_times or max(values) > 20 * min(values):
        return "set logscale y; set yrange [*:*]"
    return f"unset logscale y; set yrange [0:{1.15 * max(values)}]"


def curve_panel(data, ratio):
    points = [p for d in data.values() for p in d]
    sizes = sorted({x for x, _ in points})
    tics = ", ".join(f"'{tables.bytes_text(s)}' {s}" for s in sizes if s in plan.SHOWN)
    lines = [f"set logscale x 2; set xrange [{sizes[0] / 1.4}:{1.4 * sizes[-1]}]"]
    lines += [f"set xtics ({tics})", y_axis(points, not ratio)]
    if ratio:
        lines.append(
            "set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead lw 2 lc 'black' dt 2"
        )
    drawn = []
    for n, (name, d) in enumerate(data.items()):
        lines += [f"$d{n} << EOD", *(f"{x} {y}" for x, y in d), "EOD"]
        style = f"linespoints lw 2 pt {4 + n} lc rgb {quoted(COLOURS[n])} title {quoted(name)}"
        drawn.append(f"$d{n} with {style}")
    return "\n".join([*lines, "plot " + ", ".join(drawn)])


def bar_panel(data):
    points = [(name, y) for name, ((_, y),) in data.items()]
    tics = ", ".join(f"{quoted(name)} {i}" for i, (name, _) in enumerate(points))
    lines = [f"set xrange [-0.6:{len(points) - 0.4}]; set xtics ({tics})", y_axis(points, False)]
    lines += ["set style fill solid 0.6; set boxwidth 0.6", "$d << EOD"]
    lines += [*(f"{i} {y}" for i, (_, y) in enumerate(points)), "EOD"]
    return "\n".join([*lines, f"plot $d with boxes lc rgb {quoted(COLOURS[0])} notitle"])


def panel(kept, title, files, value, collective):
    data = curves(kept, files, value, collective)
    sized = any(x for points in data.values() for x, _ in points)
    head = f"unset arrow\nset title {quoted(title.format(**kept.machine))}\n"
    return head + (curve_panel(data, value == "ratio") if sized else bar_panel(data))


def head(kept, heading, columns, lines, path):
    """Terminal, heading, where the panels and the legend of the last one lie."""
    width = LEFT + columns * (PANEL[0] + BETWEEN) - BETWEEN + LEGEND
    height = HEADING + lines * (PANEL[1] + BELOW)
    right, top, bottom = 1 - LEGEND / width, 1 - HEADING / height, (BELOW - 30) / height
    heading, small = quoted(heading.format(**kept.machine)), quoted(tables.machine_text(kept))
    return f"""set terminal png size {width},{height} font 'Sans,11' background rgb 'white'
set output {quoted(str(path))}
set label 1 {heading} at screen 0.5,{1 - 18 / height} center font ',14'
set label 2 {small} at screen 0.5,{1 - 42 / height} center font ',7' noenhanced
set multiplot layout {lines},{columns} margins {LEFT / width},{right},{bottom},{top} \\
    spacing {BETWEEN / width},{BELOW / height}
set grid
set xtics rotate by 40 right noenhanced
set key at screen {right + 8 / width},{top} left top Left reverse
"""


def draw(top):
    for kept in all_sets(top):
        for name, (heading, panels) in plan.PICTURES.items():
            if not all(f in kept.files for p in panels for f in p[1]):
                continue
            columns = min(len(panels), 3)
            path = top / f"doc/img/{kept.name}-{name}.png"
            parts = [panel(kept, *p) for p in panels]
            script = head(kept, heading, columns, -(-len(panels) // columns), path)
            script += "\nunset label; unset key\n".join(parts) + "\nunset multiplot\n"
            subprocess.run(["gnuplot"], input=script, universal_newlines=True, check=True)
