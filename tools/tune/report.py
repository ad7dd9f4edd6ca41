"""The page: of each collective a picture of what was measured, and a table of what was chosen."""
import html
import math
import subprocess

from . import candidates, decide, launches

COLOURS = "#0072b2 #d55e00 #009e73 #cc79a7 #000000 #56b4e9 #e69f00 #999999".split()
STYLE = """body { font-family: sans-serif; max-width: 60em; margin: auto; padding: 1em }
table { border-collapse: collapse } td, th { padding: 0.2em 0.8em; text-align: right }
td:nth-child(2), th:nth-child(2) { text-align: left } tr.chosen { font-weight: bold }"""


def size_text(size):
    for unit, name in ((1 << 20, " MiB"), (1 << 10, " KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit}{name}"
    return f"{size} B" if size else ""


def name_of(label):
    if label == candidates.MPICH:
        return "MPICH's own choice"
    parameters = candidates.parameters_of(label)
    return ", ".join(parameters) if label != candidates.AGAIN and parameters else "default"


# ---- pictures ----


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def points(result, state, label):
    """[(size, ratio)] of an algorithm."""
    ratios = [math.exp(decide.median(cell)) for cell in result.states[state][label]]
    return list(zip(result.sizes, ratios))


def data(name, rows):
    return [f"${name} << EOD", *(" ".join(map(str, row)) for row in rows), "EOD"]


def lines(result, state, labels):
    """Ratios over sizes; a circle where an algorithm was chosen."""
    tics = ", ".join(f"'{size_text(s)}' {s}" for s in result.sizes[:: 1 + len(result.sizes) // 12])
    commands, drawn = [f"set logscale xy; set xtics ({tics}) rotate by 40 right"], []
    for n, label in enumerate(labels):
        commands += data(f"d{n}", points(result, state, label))
        title = "default again" if label == candidates.AGAIN else name_of(label)
        colour = quoted(COLOURS[n % len(COLOURS)])
        dashes = " dt 2" if label == candidates.AGAIN else ""
        drawn.append(f"$d{n} with linespoints lc rgb {colour}{dashes} title {quoted(title)}")
    rows = [
        points(result, state, label)[i]
        for i, (label, _) in enumerate(result.chosen)
        if label != candidates.DEFAULT
    ]
    if rows:
        commands += data("chosen", rows)
        drawn.append("$chosen with points pt 6 ps 2 lc rgb 'black' title 'chosen'")
    return commands + ["plot " + ", ".join(drawn)]


def bars(result, state, labels):
    """Ratios, of a collective without a size."""
    names = ["default again" if label == candidates.AGAIN else name_of(label) for label in labels]
    tics = ", ".join(f"{quoted(name)} {i}" for i, name in enumerate(names))
    rows = [(i, points(result, state, label)[0][1]) for i, label in enumerate(labels)]
    return [
        f"set xtics ({tics}) rotate by 40 right; set boxwidth 0.6; set style fill solid 0.6",
        f"set xrange [-0.6:{len(labels) - 0.4}]; set yrange [0:*]",
        *data("d", rows),
        f"plot $d with boxes lc rgb '{COLOURS[0]}' notitle",
    ]


def picture(result, state):
    labels = list(result.states[state])
    sized = len(result.sizes) > 1
    script = ["set terminal svg size 760,380 noenhanced", "set grid; set key outside"]
    script += ["set ylabel 'time / time of the default'"]
    script += ["set arrow from graph 0, first 1 to graph 1, first 1 nohead lc rgb 'black'"]
    script += [f"set title {quoted(launches.SAID[state])}"]
    done = subprocess.run(
        ["gnuplot"],
        input="\n".join(script + (lines if sized else bars)(result, state, labels)) + "\n",
        stdout=subprocess.PIPE,
        universal_newlines=True,
        check=True,
    )
    return done.stdout[done.stdout.index("<svg") :]


# ---- tables ----


def cell(text):
    return f"<td>{html.escape(text)}</td>"


def measured_again(result):
    """The states in which what was chosen was measured once more, with their cells."""
    return result.again.states if result.again else {}


def columns(result):
    names = [("size", ""), ("chosen", ""), ("default, us", ""), ("predicted", "")]
    for state in result.states:
        names += [("default again", launches.SAID[state]), ("launches", launches.SAID[state])]
    names += [("confirmed", launches.SAID[state]) for state in measured_again(result)]
    return [", ".join(filter(None, name)) for name in names]


def row(result, i, predicted):
    label = result.chosen[i][0]
    us = decide.median(result.times[launches.ALONE][candidates.DEFAULT][i])
    model = predicted(result.collective, result.ranks, result.sizes[i])
    words = [size_text(result.sizes[i]), name_of(label)]
    words += [f"{us:.2f}", f"{model:.2f}" if model else ""]
    for cells in result.states.values():
        for of in (cells[candidates.AGAIN], cells.get(label)):
            words.append(f"{math.exp(min(of[i])):.2f} to {math.exp(max(of[i])):.2f}" if of else "")
    for cells in measured_again(result).values():
        words.append(f"{math.exp(decide.median(cells[candidates.MPICH][i])):.2f}")
    chosen = "" if label == candidates.DEFAULT else ' class="chosen"'
    return f"<tr{chosen}>" + "".join(map(cell, words)) + "</tr>"


def section(result, predicted):
    title = f"<h2>{html.escape(result.collective)}, {result.ranks} ranks</h2>"
    if result.left_out:
        names = "; ".join(map(name_of, result.left_out))
        title += f"<p>Left out after one launch: {html.escape(names)}</p>"
    if result.why:
        return f"{title}<p>Keeps its default: {html.escape(result.why)}</p>"
    head = "<tr>" + "".join(f"<th>{name}</th>" for name in columns(result)) + "</tr>"
    rows = "".join(row(result, i, predicted) for i in range(len(result.sizes)))
    count = f"<p>{result.launches} launches</p>"
    pictures = "".join(picture(result, state) for state in result.states)
    return f"{title}{pictures}{count}<table>{head}{rows}</table>"


def page(about, results, left_out, predicted):
    """The HTML. about: what machine.json says; left_out: [collective, ranks, label] that the model
    left out; predicted(collective, ranks, size): microseconds of the default by the model, or None.
    """
    machine = [about["processor"], f"{about['processors']} processors"]
    machine += [f"{about['numa_nodes']} NUMA nodes", about["mpich"], about["date"]]
    out = "".join(
        f"<li>{html.escape(f'{collective}, {ranks} ranks: {name_of(label)}')}</li>"
        for collective, ranks, label in left_out
    )
    out = f"<h2>Left out by the model</h2><ul>{out}</ul>" if out else ""
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>numacoll-tune</title>
<style>{STYLE}</style></head><body><h1>numacoll-tune</h1><p>{html.escape(', '.join(machine))}</p>
<p>Times over those of the default in the same launch, the median of the launches. "default again"
is the default on a communicator of its own: how far that is from 1 is chance. A ring is what was
chosen. "predicted" is the default's time by numacoll-model; "launches" has the least and the most
that the choice took of the default's time, "confirmed" what the files took of it when all that had
been chosen was measured once more, also with buffers in the cache, read at once and not.</p>
{''.join(section(result, predicted) for result in results)}{out}</body></html>
"""
