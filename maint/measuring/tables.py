"""Tables from kept files, as text."""
import collections
import itertools
import statistics

from . import plan
from .sets import grouped
from .states import told

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


def beside(kept, files):
    """Times of one size: the median, and what 99 of 100 calls stay below; a row for each file and
    algorithm."""
    names, lines = [c for c, in grouped(kept.rows(files[0]), "collective")], []
    for f in files:
        for (algorithm,), rows in grouped(kept.rows(f), "algorithm").items():
            of = {r["collective"]: r for r in rows}
            times = [(float(of[n]["median_us"]), float(of[n]["p99_us"])) for n in names]
            label = f"{kept.files[f]['title']}, {algorithm_text(rows[0])}"
            lines.append([label] + [f"{time_text(m)} / {time_text(p)}" for m, p in times])
    return table([""] + names, lines)


def ratios_text(ratios):
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f}..{max(ratios):.2f})"


def ratio_of_rounds(rows):
    return ratios_text([float(r["b_us"]) / float(r["a_us"]) for r in rows])


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
    """The median of the runs, a column for each build."""
    rows, lines = kept.rows(files[0]), []
    builds = [b for b, in grouped(rows, "build")]
    for (collective, rank), part in grouped(rows, "collective", "rank").items():
        cells = grouped(part, "build")
        lines.append(
            [f"{collective}, rank {rank}"]
            + [f"{median_of(cells[b,], 'per_call'):.0f}" for b in builds]
        )
    return table([""] + builds, lines)


def undone_text(runs):
    return f"not done in {runs[0]['limit']} s"


def seconds_text(runs, digits=1):
    if any(not r["seconds"] for r in runs):
        return undone_text(runs)
    return f"{median_of(runs, 'seconds'):.{digits}f} s"


def by_library(rows, column, text, names={}, title=""):
    """A row for each library, a cell for each value of the column."""
    lines, values = [], [v for v, in grouped(rows, column) if v]
    for (library,), part in grouped(rows, "library").items():
        of = grouped(part, column)
        cells = [text(of[v,]) if (v,) in of else undone_text(part) for v in values]
        lines.append([plan.LIBRARIES.get(library, library)] + cells)
    return table([title] + [names.get(v, v) for v in values], lines)


def program(kept, files):
    """The median of the runs."""
    return by_library(kept.rows(files[0]), "program", seconds_text, plan.PROGRAMS)


# ---- those of `waits`: medians of the rounds, libraries below each other ----


def seconds(kept, files):
    """Of jobs from start to end."""
    rows, title = kept.rows(files[0]), kept.files[files[0]]["title"]
    return by_library(rows, "case", lambda runs: seconds_text(runs, 2), title=title)


def elapsed_text(rows):
    if any(not r.get("elapsed_us") for r in rows):
        return undone_text(rows)
    return f"{median_of(rows, 'elapsed_us') / 1000:.0f} ms"


def elapsed(kept, files):
    """Of all calls together."""
    title = kept.files[files[0]]["title"]
    return by_library(kept.rows(files[0]), "case", elapsed_text, title=title)


def late_text(rows):
    """Of the rank that needs most."""
    ranks = grouped(rows, "rank").values()
    return f"{max(median_of(r, 'cpu_ms') for r in ranks):.0f} ms"


def late(kept, files):
    title = kept.files[files[0]]["title"]
    return by_library(kept.rows(files[0]), "operation", late_text, title=title)


def calls_text(rows):
    columns = ("mean_us", "median_us", "p99_us", "max_us")
    return " / ".join(time_text(median_of(rows, c)) for c in columns)


def share_text(rows):
    shares = [float(r["cpu_us"]) / float(r["elapsed_us"]) for r in rows if r.get("elapsed_us")]
    return f"{100 * statistics.median(shares) / plan.WAITS_PROCESSORS:.0f} %" if shares else ""


def calls(kept, files):
    """Mean, median, 99th percentile and maximum of the calls, and the share of the processors."""
    rows, lines = kept.rows(files[0]), []
    operations = [o for o, in grouped(rows, "operation") if o]
    for (case, library), part in grouped(rows, "case", "library").items():
        of = grouped(part, "operation")
        cells = [calls_text(of[o,]) if (o,) in of else undone_text(part) for o in operations]
        undone = ", a round " + undone_text(part) if ("",) in of and len(of) > 1 else ""
        lines.append([f"{case}, {library}{undone}", *cells, share_text(part)])
    return table([kept.files[files[0]]["title"], *operations, "CPU share"], lines)


# ---- those of `variants` ----


def state_text(row):
    """Of the machine in the row's launch."""
    states = told(row)
    return "changed" if len(states) > 1 else "".join(states)


def ratios_to(rows, first):
    """Those of the launches."""
    us = {r["round"]: float(r["median_us"]) for r in first}
    return [float(r["median_us"]) / us[r["round"]] for r in rows]


def variants(kept, files):
    """The first variant's time in microseconds, the median of the launches; of the others the ratio
    to it: the median of the launches, and in parentheses the lowest and the highest. A row for each
    state of the machine, with the number of its launches."""
    rows = [{**r, "file": f, "state": state_text(r)} for f in files for r in kept.rows(f)]
    of = grouped(rows, "collective", "algorithm", "file", "state", "bytes")
    sizes, algorithms = sizes_of(rows), [a for a, in grouped(rows, "algorithm")]

    def cell(collective, algorithm, file, state, size):
        own, first = (of[collective, a, file, state, str(size)] for a in (algorithm, algorithms[0]))
        if algorithm == algorithms[0]:
            return time_text(median_of(own, "median_us"))
        return ratios_text(ratios_to(own, first))

    lines = []
    for (collective,), part in grouped(rows, "collective").items():
        launches = {
            key: len(grouped(r, "round")) for key, r in grouped(part, "file", "state").items()
        }
        places = sorted(launches, key=lambda place: (files.index(place[0]), place[1]))
        for algorithm, (file, state) in itertools.product(algorithms, places):
            label = [collective, algorithm.replace("numacoll:", "")]
            label += [kept.files[file]["title"]] * (len(files) > 1)
            label += [f"{state} ({launches[file, state]})"] * bool(state)
            cells = [cell(collective, algorithm, file, state, s) for s in sizes]
            lines.append([", ".join(label), *cells])
    return table([""] + [bytes_text(s) for s in sizes], lines)


# ---- those of `peers` ----

PEERS = ("MPICH", "Open MPI")
ONE_CORE = ("memcpy", "streamed")
COPIES = ("floor", *ONE_CORE)  # that numacoll-bench makes in the place of an algorithm


def over_best(rows, library, others):
    """Of rows of one collective and size."""
    ratios = []
    for of in grouped(rows, "round").values():
        us = {r["library"]: float(r["median_us"]) for r in of}
        ratios.append(us[library] / min(us[other] for other in others if other in us))
    return ratios_text(ratios) if ratios else ""


def over_better_peer(rows, library):
    return over_best(rows, library, PEERS)


def over_one_core(rows, library):
    """Over the better one of its copies."""
    return over_best(rows, library, ONE_CORE)


def median_time(rows, library):
    own = [r for r in rows if r["library"] == library]
    return time_text(median_of(own, "median_us")) if own else ""


def of_libraries(rows, title, text, left_out=()):
    """A row for each collective and library, a cell for each size."""
    of, sizes = grouped(rows, "collective", "bytes"), sizes_of(rows)
    lines = [
        [f"{collective}, {library}"] + [text(of[collective, str(s)], library) for s in sizes]
        for (collective,), part in grouped(rows, "collective").items()
        for (library,) in grouped(part, "library")
        if library not in left_out
    ]
    return table([title] + [bytes_text(s) for s in sizes], lines)


def peers(kept, files):
    """Times over those of the better peer: the median of the rounds' ratios, and in parentheses the
    lowest and the highest. Below, where one core's copies were measured, the same over the better
    of these; and the times, medians of the rounds."""
    rows, title = kept.rows(files[0]), kept.files[files[0]]["title"]
    others = PEERS + ONE_CORE
    parts = [of_libraries(rows, f"{title}: ratio", over_better_peer, others)]
    if any(r["library"] in ONE_CORE for r in rows):
        parts.append(of_libraries(rows, f"{title}: over one core's copy", over_one_core, others))
    parts.append(of_libraries(rows, f"{title}: us", median_time))
    return "\n\n".join(parts)


def one_core(kept, files):
    """A row for each round, by the time of its barrier: times, and ratios to one core's memcpy."""
    names, lines = ["numacoll", *PEERS, "memcpy"], []
    for of in grouped(kept.rows(files[0]), "round").values():
        us = {(r["collective"], r["library"]): float(r["median_us"]) for r in of}
        ratios = [us["bcast", name] / us["bcast", "memcpy"] for name in ("numacoll", "floor")]
        times = [us["barrier", "numacoll"]] + [us["bcast", name] for name in names]
        lines.append((times[0], [time_text(t) for t in times] + [ratio_text(r) for r in ratios]))
    head = ["barrier, numacoll", *names, "numacoll over memcpy", "floor over memcpy"]
    return table(head, [line for _, line in sorted(lines)])


# ---- those of `model` ----

Pair = collections.namedtuple("Pair", "collective bytes slower faster measured predicted")


def pairs_of(rows):
    """Of two algorithms of a collective, its ranks and bytes, of which one took more than 20 %
    longer: how many times as long, and how many times as the model has it."""
    for of in grouped(rows, "collective", "ranks", "bytes").values():
        for slower, faster in itertools.permutations(of, 2):
            measured = float(slower["median_us"]) / float(faster["median_us"])
            if measured > plan.MODEL_APART:
                predicted = float(slower["predicted_us"]) / float(faster["predicted_us"])
                names = [r["algorithm"].partition(":")[2] or "default" for r in (slower, faster)]
                size = int(slower["bytes"])
                yield Pair(slower["collective"], size, *names, measured, predicted)


def order_of(pair):
    if 1 / plan.MODEL_ALIKE < pair.predicted < plan.MODEL_ALIKE:
        return "alike"
    return "right" if pair.predicted > 1 else "wrong"


def error_of(row):
    return float(row["predicted_us"]) / float(row["median_us"])


def is_near(row):
    return 1 / plan.MODEL_FACTOR <= error_of(row) <= plan.MODEL_FACTOR


def share(part, all_):
    return f"{part} of {all_}" + f" ({100 * part / all_:.0f} %)" * bool(all_)


def model_counts(rows, title):
    """A row for each collective, one for all, and one without a setting whose values are not other
    algorithms: points, and pairs whose order counts."""
    lines, parts = [], [(c, of) for (c,), of in grouped(rows, "collective").items()]
    parts.append(("all", rows))
    parts.append(("all but STREAMING", [r for r in rows if "streaming=" not in r["algorithm"]]))
    for name, of in parts:
        orders = [order_of(p) for p in pairs_of(of)]
        counts = [orders.count(order) for order in ("right", "alike", "wrong")]
        cells = [share(sum(map(is_near, of)), len(of)), share(counts[0], len(orders))]
        lines.append([name, *cells, *map(str, counts[1:])])
    factor, apart = plan.MODEL_FACTOR, round(100 * plan.MODEL_APART - 100)
    heads = [f"within a factor of {factor}", f"pairs {apart} % apart in the right order"]
    return table([title, *heads, "predicted alike", "in the wrong order"], lines)


def spans(values, text):
    values = sorted(map(text, set(values)), key=float)
    return values[0] if values[0] == values[-1] else f"{values[0]} to {values[-1]}"


def sizes_text(sizes):
    return ", ".join(bytes_text(s) for s in sorted(set(sizes)))


def model_wrong(rows, order, title):
    """The pairs that the model has in this order: what took longer, how many times as long."""
    pairs = collections.OrderedDict()
    for p in pairs_of(rows):
        if order_of(p) == order:
            pairs.setdefault((p.collective, p.slower, p.faster), []).append(p)
    lines = [
        [
            collective,
            sizes_text(p.bytes for p in of),
            f"{slower} over {faster}",
            spans((p.measured for p in of), ratio_text),
            spans((p.predicted for p in of), ratio_text),
        ]
        for (collective, slower, faster), of in pairs.items()
    ]
    return table([title, "bytes", "time", "measured", "predicted"], lines) if lines else ""


def model_far(rows):
    """The points of which the model is wrong by more than the factor."""
    far = grouped([r for r in rows if not is_near(r)], "collective", "algorithm")
    lines = [
        [
            collective,
            sizes_text(int(r["bytes"]) for r in of),
            algorithm.partition(":")[2] or "default",
            spans(map(error_of, of), ratio_text),
        ]
        for (collective, algorithm), of in far.items()
    ]
    return table(["wrong by more", "bytes", "algorithm", "predicted over measured"], lines)


def model(kept, files):
    """Points and pairs; the pairs in the wrong order; the points that are far off. Algorithms that
    the model has no row for are counted in the last line."""
    everything = kept.rows(files[0])
    rows = [r for r in everything if r["predicted_us"]]
    ranks = span(int(r["ranks"]) for r in rows)
    parts = [
        model_counts(rows, f"{ranks} ranks"),
        model_wrong(rows, "wrong", "in the wrong order"),
        model_wrong(rows, "alike", "predicted alike"),
        model_far(rows),
        f"Without a prediction: {len(everything) - len(rows)} of {len(everything)} times.",
    ]
    return "\n\n".join(p for p in parts if p)


def table_of(kept, files):
    kinds = dict.fromkeys([c.file for c in plan.COMPARED], compare)
    kinds.update(instructions=instructions, program=program)
    kinds["predicted"] = model
    kinds.update(dict.fromkeys(plan.PEERED_FILES, peers))
    kinds["one-core"] = one_core
    kinds.update({v.file: variants for v in plan.VARIANTS + plan.PAPERS})
    kinds.update({r.file: beside for r in plan.RUNS if r.words == plan.BESIDE})
    waits = {"calls": calls, "elapsed": elapsed, "late": late, "seconds": seconds}
    kinds.update({f: waits[kind] for f, (_, kind) in plan.WAITED_FILES.items()})
    if files[0] in kinds:
        return kinds[files[0]](kept, files)
    return (sized if any(int(r["bytes"]) for r in kept.rows(files[0])) else unsized)(kept, files)


# ---- the machine ----


def span(values):
    values = sorted(set(values))
    return str(values[0]) if len(values) == 1 else f"{values[0]} to {values[-1]}"


def machine_text(kept):
    m, files = kept.machine, kept.files.values()
    caches = ", ".join(f"{c} {m[c.lower() + '_bytes'] // 1024} KiB" for c in ("L1d", "L2", "L3"))
    of = lambda key: span(f[key] for f in files)
    builds = sorted({name for f in files for name in f["numacoll"].split(", ")})
    others = {
        "openmpi": "Open MPI",
        "imb": "Intel MPI Benchmarks",
        "measured_by": "times of numacoll",
    }
    versions = {f"; {name} {f[key]}" for key, name in others.items() for f in files if key in f}
    loads = [f["load_before"] for f in files if "load_before" in f]
    load = f"; load average before {span(loads)}" if loads else ""
    return (
        f"{m['cpu']}; processors {m['processors']}, packages {m['packages']}, NUMA nodes "
        f"{m['numa_nodes']}; {caches}; memory {m['memory_gib']} GiB; {of('kernel')}; MPICH "
        f"{of('mpich')}; numacoll {', '.join(builds)}{''.join(sorted(versions))}; "
        f"{of('date')}{load}"
    )
