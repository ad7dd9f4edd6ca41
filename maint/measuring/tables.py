"""Tables from kept files, into the places the documents mark for them."""
import re
import statistics
import sys

from . import pictures, plan
from .sets import Set, all_sets, grouped

# ---- text of numbers ----


def bytes_text(n):
    for unit, name in ((2**20, "MiB"), (2**10, "KiB")):
        if n >= unit:
            return f"{n // unit} {name}"
    return f"{n} B" if n else "no data"


def time_text(us):
    return f"{us:.2f}" if us < 10 else f"{us:.1f}" if us < 1000 else f"{us:.0f}"


def ratio_text(ratio):
    return f"{ratio:.4f}" if ratio < 0.01 else f"{ratio:.2f}"


def table(head, lines):
    lines = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def sizes_of(rows):
    return [s for s in plan.SHOWN if any(int(r["bytes"]) == s for r in rows)]


def by_size(rows, sizes, text):
    """A cell for each size."""
    cells = {int(r["bytes"]): text(r) for r in rows}
    return [cells.get(s, "") for s in sizes]


def algorithm_text(row):
    name = row["algorithm"]
    return plan.NAMES.get(name, name.replace("numacoll:barrier=", ""))


# ---- the kinds of tables ----


def sized(kept, files):
    """Times and ratios, a column for each size."""
    everything = [r for f in files for r in kept.rows(f)]
    sizes, several = sizes_of(everything), len(grouped(everything, "collective")) > 1
    lines = []
    for f in files:
        title = [kept.files[f]["title"]] * (len(files) > 1)
        for (collective, algorithm), rows in grouped(
            kept.rows(f), "collective", "algorithm"
        ).items():
            label = ", ".join([collective] * several + title + [algorithm_text(rows[0])])
            lines.append([label] + by_size(rows, sizes, lambda r: time_text(float(r["median_us"]))))
            if algorithm != "auto":
                lines.append(
                    ["ratio"] + by_size(rows, sizes, lambda r: ratio_text(float(r["ratio"])))
                )
    return table([""] + [bytes_text(s) for s in sizes], lines)


def unsized(kept, files):
    """Times and their variation, a column for each algorithm of any of the files."""
    names = list(dict.fromkeys(algorithm_text(r) for f in files for r in kept.rows(f)))
    lines = []
    for f in files:
        cells = {algorithm_text(r): r for r in kept.rows(f)}
        times = {n: time_text(float(r["median_us"])) for n, r in cells.items()}
        variations = {n: f"{float(r['cv']):.1f}" for n, r in cells.items()}
        lines.append([kept.files[f]["title"]] + [times.get(n, "") for n in names])
        lines.append(["variation"] + [variations.get(n, "") for n in names])
    return table([""] + names, lines)


def ratio_of_rounds(rows):
    ratios = [float(r["b_us"]) / float(r["a_us"]) for r in rows]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f}..{max(ratios):.2f})"


def compare(kept, files):
    """The median of the rounds' ratios, and in parentheses the lowest and the highest."""
    rows = kept.rows(files[0])
    sizes, lines = sizes_of(rows), []
    for (collective, ranks), part in grouped(rows, "collective", "ranks").items():
        cells = {int(b): ratio_of_rounds(g) for (b,), g in grouped(part, "bytes").items()}
        lines.append([f"{collective}, {ranks} ranks"] + [cells.get(s, "") for s in sizes])
    return table([kept.files[files[0]]["title"]] + [bytes_text(s) for s in sizes], lines)


def median_of(rows, column):
    return statistics.median(float(r[column]) for r in rows)


def instructions(kept, files):
    """The median of the runs, a row for each build."""
    rows, lines = kept.rows(files[0]), []
    for (build,), part in grouped(rows, "build").items():
        cells = grouped(part, "collective", "rank").values()
        lines.append([build] + [f"{median_of(c, 'per_call'):.0f}" for c in cells])
    return table(
        ["build"] + [f"{c}, rank {r}" for c, r in grouped(rows, "collective", "rank")], lines
    )


def seconds_text(runs):
    if any(not r["seconds"] for r in runs):
        return f"not done in {runs[0]['limit']} s"
    return f"{median_of(runs, 'seconds'):.1f} s"


def program(kept, files):
    """The median of the runs, a row for each library."""
    rows, lines = kept.rows(files[0]), []
    for (library,), part in grouped(rows, "library").items():
        runs = grouped(part, "program").values()
        lines.append([plan.LIBRARIES[library]] + [seconds_text(r) for r in runs])
    return table([""] + [plan.PROGRAMS[p] for p, in grouped(rows, "program")], lines)


def table_of(kept, files):
    other = {"compare": compare, "instructions": instructions, "program": program}
    if files[0] in other:
        return other[files[0]](kept, files)
    return (sized if any(int(r["bytes"]) for r in kept.rows(files[0])) else unsized)(kept, files)


# ---- descriptions ----


def span(values):
    values = sorted(set(values))
    return str(values[0]) if len(values) == 1 else f"{values[0]} to {values[-1]}"


def machine_text(kept):
    m, files = kept.machine, kept.files.values()
    caches = ", ".join(f"{c} {m[c.lower() + '_bytes'] // 1024} KiB" for c in ("L1d", "L2", "L3"))
    of = lambda key: span(f[key] for f in files)
    return (
        f"{m['cpu']}; processors {m['processors']}, packages {m['packages']}, NUMA nodes "
        f"{m['numa_nodes']}; {caches}; memory {m['memory_gib']} GiB; {of('kernel')}; MPICH "
        f"{of('mpich')}; numacoll {', '.join(sorted({f['numacoll'] for f in files}))}; "
        f"{of('date')}; load average before {of('load_before')}"
    )


def commands_text(kept):
    lines = []
    for file, about in kept.files.items():
        settings = "".join(f"'{k}={v}' " for k, v in about.get("settings", {}).items())
        lines.append(f"    {file}: {settings}{about['command']}")
    return "\n".join(lines)


def description(kept):
    return f"{machine_text(kept)}.\n\n{commands_text(kept)}"


def whole(kept):
    """A set that the page does not describe by hand."""
    parts = [f"### {kept.name}", description(kept)]
    for file, about in kept.files.items():
        parts += [f"{file}, {about['title']}:", table_of(kept, [file])]
    return "\n\n".join(parts)


# ---- pages ----

# <!-- measure SET FILE.. -->: a table; <!-- measure SET -->: machine and commands;
# <!-- measure others -->: the sets that no marker of the page names
MARKED = re.compile(r"(<!-- measure (.*?) -->\n)(.*?)(<!-- end -->)", re.S)


def filled(text, top):
    """A page's text with new text between its markers; where there are no files yet it stays."""
    named = {m[2].split()[0] for m in MARKED.finditer(text)}

    def fill(m):
        name, *files = m[2].split()
        kept = Set(top / "doc/measurements" / name)
        if name == "others":
            made = "\n\n".join(whole(s) for s in all_sets(top) if s.name not in named) or "None."
        elif not kept.files or set(files) - set(kept.files):
            return m[0]
        else:
            made = table_of(kept, files) if files else description(kept)
        return f"{m[1]}\n{made}\n\n{m[4]}"

    return MARKED.sub(fill, text)


def tables(o):
    pages = [o.top / "README.md", o.top / "doc/measurements.md"]
    changed = {p: filled(p.read_text(), o.top) for p in pages}
    changed = {p: text for p, text in changed.items() if text != p.read_text()}
    if o.check and changed:
        sys.exit(f"{', '.join(p.name for p in changed)}: run maint/measure tables")
    if not o.check:
        for page, text in changed.items():
            page.write_text(text)
        pictures.draw(o.top)
