"""The page: of each collective a picture of what was measured, a table of what was chosen, and one
of what numacoll-model predicts."""
import html
import math
import subprocess

from . import candidates, decide, launches

COLOURS = "#0072b2 #d55e00 #009e73 #cc79a7 #000000 #56b4e9 #e69f00 #999999".split()
STYLE = """body { font-family: sans-serif; max-width: 60em; margin: auto; padding: 1em }
table { border-collapse: collapse } td, th { padding: 0.2em 0.8em; text-align: right }
.choices td:nth-child(2), .choices th:nth-child(2) { text-align: left }
tr.chosen { font-weight: bold }"""


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


def by_model(result, predicted):
    """{label: [microseconds of each size, or None]} of the algorithms that the model has a row for.
    predicted: as of page."""
    of_sizes = [predicted(result.collective, result.ranks, size) for size in result.sizes]
    labels = [label for label in result.times[launches.ALONE] if label != candidates.AGAIN]
    us = {label: [candidates.prediction(times, label) for times in of_sizes] for label in labels}
    return {label: of for label, of in us.items() if any(of)}


# ---- pictures ----


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def points(result, state, label):
    """[(size, ratio)] of an algorithm."""
    ratios = [math.exp(decide.median(cell)) for cell in result.states[state][label]]
    return list(zip(result.sizes, ratios))


def points_by_model(result, model, label):
    """As points, as the model says."""
    of_sizes = zip(result.sizes, model.get(label, []), model.get(candidates.DEFAULT, []))
    return [(size, us / default) for size, us, default in of_sizes if us and default]


def data(name, rows):
    return [f"${name} << EOD", *(" ".join(map(str, row)) for row in rows), "EOD"]


def lines(result, state, labels, model):
    """Ratios over sizes; dotted as the model says; a circle where an algorithm was chosen."""
    tics = ", ".join(f"'{size_text(s)}' {s}" for s in result.sizes[:: 1 + len(result.sizes) // 12])
    commands, drawn = [f"set logscale xy; set xtics ({tics}) rotate by 40 right"], []
    for n, label in enumerate(labels):
        commands += data(f"d{n}", points(result, state, label))
        title = "default again" if label == candidates.AGAIN else name_of(label)
        colour = quoted(COLOURS[n % len(COLOURS)])
        dashes = " dt 2" if label == candidates.AGAIN else ""
        drawn.append(f"$d{n} with linespoints lc rgb {colour}{dashes} title {quoted(title)}")
        if points_by_model(result, model, label):
            commands += data(f"m{n}", points_by_model(result, model, label))
            drawn.append(f"$m{n} with lines lc rgb {colour} dt 3 notitle")
    if len(drawn) > len(labels):
        drawn.append("NaN with lines lc rgb 'black' dt 3 title 'predicted'")
    rows = [
        points(result, state, label)[i]
        for i, (label, _) in enumerate(result.chosen)
        if label != candidates.DEFAULT
    ]
    if rows:
        commands += data("chosen", rows)
        drawn.append("$chosen with points pt 6 ps 2 lc rgb 'black' title 'chosen'")
    return commands + ["plot " + ", ".join(drawn)]


def bars(result, state, labels, model):
    """Ratios, of a collective without a size; crosses as the model says."""
    names = ["default again" if label == candidates.AGAIN else name_of(label) for label in labels]
    tics = ", ".join(f"{quoted(name)} {i}" for i, name in enumerate(names))
    rows = [(i, points(result, state, label)[0][1]) for i, label in enumerate(labels)]
    crosses = [
        (i, ratio)
        for i, label in enumerate(labels)
        for _, ratio in points_by_model(result, model, label)
    ]
    said = ", $m with points pt 2 lc rgb 'black' title 'predicted'" if crosses else ""
    return [
        f"set xtics ({tics}) rotate by 40 right; set boxwidth 0.6; set style fill solid 0.6",
        f"set xrange [-0.6:{len(labels) - 0.4}]; set yrange [0:*]",
        *data("d", rows),
        *data("m", crosses),
        f"plot $d with boxes lc rgb '{COLOURS[0]}' notitle{said}",
    ]


def picture(result, state, model):
    """model: as by_model returns it; it knows ranks that are alone."""
    labels = list(result.states[state])
    model = model if state == launches.ALONE else {}
    sized = len(result.sizes) > 1
    script = ["set terminal svg size 760,380 noenhanced", "set grid; set key outside"]
    script += ["set ylabel 'time / time of the default'"]
    script += ["set arrow from graph 0, first 1 to graph 1, first 1 nohead lc rgb 'black'"]
    script += [f"set title {quoted(launches.SAID[state])}"]
    done = subprocess.run(
        ["gnuplot"],
        input="\n".join(script + (lines if sized else bars)(result, state, labels, model)) + "\n",
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
    names = [("size", ""), ("chosen", ""), ("expected gain", ""), ("default, us", "")]
    for state in result.states:
        names += [("default again", launches.SAID[state]), ("launches", launches.SAID[state])]
    names += [("confirmed", launches.SAID[state]) for state in measured_again(result)]
    return [", ".join(filter(None, name)) for name in names]


def alone_us(result, label, i):
    """Microseconds at a size, the median of the launches."""
    return f"{decide.median(result.times[launches.ALONE][label][i]):.2f}"


def row(result, i):
    label, ratio = result.chosen[i]
    gain = "" if label == candidates.DEFAULT else f"{1 - ratio:.0%}"
    words = [size_text(result.sizes[i]), name_of(label), gain]
    words.append(alone_us(result, candidates.DEFAULT, i))
    for cells in result.states.values():
        for of in (cells[candidates.AGAIN], cells.get(label)):
            words.append(f"{math.exp(min(of[i])):.2f} to {math.exp(max(of[i])):.2f}" if of else "")
    for cells in measured_again(result).values():
        words.append(f"{math.exp(decide.median(cells[candidates.MPICH][i])):.2f}")
    chosen = "" if label == candidates.DEFAULT else ' class="chosen"'
    return f"<tr{chosen}>" + "".join(map(cell, words)) + "</tr>"


def predictions(result, model):
    """The table of what the model says; nothing if it says nothing. model: as by_model returns."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in ["size", *map(name_of, model)])
    rows = ""
    for i, size in enumerate(result.sizes):
        words = [
            f"{us[i]:.2f} ({alone_us(result, label, i)})" if us[i] else ""
            for label, us in model.items()
        ]
        rows += "<tr>" + "".join(map(cell, [size_text(size), *words])) + "</tr>"
    title = "<p>Predicted microseconds, and in brackets the measured ones</p>"
    return f"{title}<table><tr>{head}</tr>{rows}</table>" if model else ""


def section(result, predicted):
    title = f"<h2>{html.escape(result.collective)}, {result.ranks} ranks</h2>"
    if result.left_out:
        names = "; ".join(map(name_of, result.left_out))
        title += f"<p>Left out after one launch: {html.escape(names)}</p>"
    if result.why:
        return f"{title}<p>Keeps its default: {html.escape(result.why)}</p>"
    head = "<tr>" + "".join(f"<th>{name}</th>" for name in columns(result)) + "</tr>"
    rows = "".join(row(result, i) for i in range(len(result.sizes)))
    count = f"<p>{result.launches} launches</p>"
    model = by_model(result, predicted)
    pictures = "".join(picture(result, state, model) for state in result.states)
    table = f'<table class="choices">{head}{rows}</table>'
    return f"{title}{pictures}{count}{table}{predictions(result, model)}"


def page(about, results, predicted):
    """The HTML. about: what machine.json says; predicted(collective, ranks, size): what
    candidates.predicted returns."""
    machine = [about["processor"], f"{about['processors']} processors"]
    machine += [f"{about['numa_nodes']} NUMA nodes", about["mpich"], about["date"]]
    out = "".join(
        f"<li>{html.escape(f'{collective}, {ranks} ranks: {name_of(label)}')}</li>"
        for collective, ranks, label in about["left_out"]
    )
    out = f"<h2>Left out by the model</h2><ul>{out}</ul>" if out else ""
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>numacoll-tune</title>
<style>{STYLE}</style></head><body><h1>numacoll-tune</h1><p>{html.escape(', '.join(machine))}</p>
<p>Times over those of the default in the same launch, the median of the launches. "default again"
is the default on a communicator of its own: how far that is from 1 is chance. A ring is what was
chosen; dotted lines, and crosses, are what numacoll-model predicts. "expected gain" is how much
less time than the default the choice is expected to take, in the state in which that is least;
"default, us" the default's time. "launches" has the least and the most that the choice took of
the default's time, "confirmed" what the files took of it when all that had been chosen was
measured once more, also with buffers in the cache, read at once and not. The second table has the
times by numacoll-model, of the default and of the candidates that it knows. It knows no variables
that the environment sets, and nothing of ranks that outnumber processors.</p>
{''.join(section(result, predicted) for result in results)}{out}</body></html>
"""
