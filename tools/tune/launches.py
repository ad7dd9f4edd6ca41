"""The launches of numacoll-bench: which there are, and one of them."""
import collections
import json
import math
import os
import subprocess

ROUNDS = 3  # of a launch
START = 0.5  # seconds that a launch takes beside what it is given, about

# What is measured in one launch: all these collectives with all these algorithms
Group = collections.namedtuple("Group", "ranks collectives labels")


def groups_of(labels):
    """The groups: collectives with the same algorithms are measured together. labels: {(ranks,
    collective): [label]}."""
    together = collections.OrderedDict()
    for (ranks, collective), names in labels.items():
        together.setdefault((ranks, tuple(names)), []).append(collective)
    return [Group(ranks, names, list(ls)) for (ranks, ls), names in together.items()]


def weight(group, sizes):
    """How long a group takes, beside others."""
    return len(group.labels) * sum(1 if c == "barrier" else len(sizes) for c in group.collectives)


def seconds_of(groups, sizes, launches, seconds):
    """The seconds that a launch of each group is given, of so many for all launches of all."""
    left = max(0.1 * seconds, 0.85 * seconds - START * launches * len(groups))
    all_ = sum(weight(g, sizes) for g in groups) * launches
    return [left * weight(g, sizes) / all_ for g in groups]


def end(process):
    """Ends a job that still runs; mpiexec ends its ranks."""
    if process.poll() is None:
        process.terminate()
        try:
            process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def bench(launcher, program, group, sizes, seconds, left, file, words=(), settings=None):
    """One launch; what numacoll-bench says of it as JSON, a text that says why it failed, or None
    if it is not done when `left` seconds are over. seconds: how long it is to take, about. file:
    where it may write meanwhile."""
    command = [*launcher, "-n", str(group.ranks), program, ",".join(group.collectives)]
    command += ["--algorithms", ",".join(group.labels), "--sizes", ",".join(map(str, sizes))]
    command += ["--rounds", str(ROUNDS), "--seconds", f"{seconds:.2f}", "--off-cache"]
    if file.exists():  # of a launch that was interrupted
        file.unlink()
    process = subprocess.Popen(
        command + ["--json", str(file), *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        env={**os.environ, **(settings or {})},
    )
    limit = min(60 + 10 * seconds, left)
    try:
        error = process.communicate(timeout=limit)[1]
    except subprocess.TimeoutExpired:
        return None if limit == left else f"not done after {limit:.0f} s"
    finally:
        end(process)
    if process.returncode or not file.exists():
        lines = error.strip().splitlines() or [f"exit status {process.returncode}"]
        return lines[0]
    result = json.loads(file.read_text())
    file.unlink()
    return result


def cells_of(result):
    """[(collective, bytes, label, microseconds, ratio to the first algorithm)]."""
    return [
        [m["collective"], r["bytes"], r["algorithm"], r["median_us"], r["ratio"]]
        for m in result["measurements"]
        for r in m["results"]
    ]


def samples(records):
    """From the records of a group's launches, all of them good ones, {collective: {label: [cell of
    each size]}} as decide takes them, and the same of microseconds; both with the default's."""
    ratios, times = {}, {}
    for record in records:
        for collective, size, label, us, ratio in record["cells"]:
            for table, value in ((ratios, math.log(ratio)), (times, us)):
                of_label = table.setdefault(collective, {}).setdefault(label, {})
                of_label.setdefault(size, []).append(value)
    return tuple(
        {c: {l: list(of.values()) for l, of in labels.items()} for c, labels in table.items()}
        for table in (ratios, times)
    )


def sizes_of(records, collective):
    """The sizes in the order of the cells; [0] of a collective without."""
    return list(dict.fromkeys(size for c, size, *_ in records[0]["cells"] if c == collective))
