"""numacoll-tune: measures, decides and writes. Each step is a module of its own:

candidates  what is measured          state   what has been measured so far
launches    how                       write   MPICH's selection files
decide      what is chosen            report  a page with pictures
"""
import datetime
import json
import os
import shutil
import socket
import sys
import time

from . import candidates, decide, launches, options, report, state, write


class Failed(Exception):
    """One line, then exit status 1."""


class Installation:
    """Where the programs and files of numacoll are."""

    def __init__(self, bin_, share, version):
        self.version, self.share = version, share
        self.bench, self.model = (str(bin_ / ("numacoll-" + n)) for n in ("bench", "model"))
        own = [bin_ / "mpiexec.mpich", bin_ / "mpiexec"]  # the former is Debian's name for it
        self.mpiexec = next((str(path) for path in own if path.exists()), "mpiexec")

    def launcher(self, o, ranks):
        """The words before -n: bound to cores where there are enough."""
        return o.launcher or [
            self.mpiexec,
            *([] if oversubscribed(ranks) else ["-bind-to", "core"]),
        ]


def oversubscribed(ranks):
    """Whether they outnumber the processors."""
    return ranks > len(os.sched_getaffinity(0))


# ---- what is measured ----


def labels_for(place, o):
    """{(ranks, collective): labels}, and beside that those that the model leaves out."""
    chosen, left_out = {}, []
    for ranks in o.ranks:
        for collective in o.collectives:
            labels = candidates.of(collective, ranks, oversubscribed(ranks))
            sizes = [0] if collective == "barrier" else o.sizes
            asked = sizes if any(candidates.row_of(label) for label in labels) else []
            predictions = [candidates.predicted(place.model, collective, s, ranks) for s in asked]
            factor = None if oversubscribed(ranks) else o.factor
            chosen[ranks, collective] = candidates.narrowed(labels, predictions, factor)
            left_out += [
                [collective, ranks, label]
                for label in labels
                if label not in chosen[ranks, collective]
            ]
    return chosen, left_out


def run_of(place, o):
    """What tells this run from others."""
    return {
        "numacoll": place.version,
        "host": socket.gethostname(),
        "ranks": o.ranks,
        "collectives": o.collectives,
        "sizes": o.sizes,
        "launches": o.launches,
        "quick": o.quick,
        "launcher": o.launcher,
        "variables": {k: v for k, v in sorted(os.environ.items()) if k.startswith("MPIR_CVAR_")},
    }


def describe(place, o):
    labels, left_out = labels_for(place, o)
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "groups": [list(group) for group in launches.groups_of(labels)],
        "left_out": left_out,
    }


def dry_run(place, o):
    described = describe(place, o)
    groups = [launches.Group(*g) for g in described["groups"]]
    for group in groups:
        print(f"{', '.join(group.collectives)}, {group.ranks} ranks:")
        print("".join(f"    {label}\n" for label in group.labels), end="")
    for collective, ranks, label in described["left_out"]:
        print(f"not {label} of {collective}, {ranks} ranks: left out by the model")
    print(f"{o.launches * len(groups)} launches, at most {o.seconds / 60:.0f} min")


# ---- measuring ----


class Progress:
    """Says before each launch how long the others will take, at the pace of those that are done."""

    def __init__(self, planned, most):
        self.left, self.most, self.count = sum(planned), most, len(planned)
        self.given = self.taken = 0.0
        self.done = 0

    def next(self, group, used):
        self.done += 1
        pace = self.taken / self.given if self.given else 1
        left = min(self.left * pace, max(0.0, self.most - used))
        names = group.collectives
        what = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
        text = f"[{self.done}/{self.count}] {what}, {group.ranks} ranks"
        print(f"{text}; about {left / 60:.1f} min left", flush=True)

    def finished(self, planned, seconds=None):
        """seconds: None if it was done before."""
        self.left -= planned
        if seconds is None:
            self.done += 1
        else:
            self.given, self.taken = self.given + planned, self.taken + seconds


def affordable(costs, done, left):
    """The numbers of the groups that can be measured often enough to be decided, in their order.
    costs: seconds of a launch of each; done: how many there are; left: seconds."""
    able = []
    for g, (cost, launches_) in enumerate(zip(costs, done)):
        need = max(0, decide.MIN_LAUNCHES - launches_) * cost
        if need <= left:
            able.append(g)
            left -= need
    return able


def measure(place, o, groups, records, append, words=(), settings=None):
    """Makes the launches that no record is of, while there is time; append(record) keeps one. In
    turn: one of each group, then the second of each."""
    given = launches.seconds_of(groups, o.sizes, o.launches, o.seconds)
    planned = [s + launches.START for s in given]
    progress = Progress(planned * o.launches, o.seconds)
    file = o.output / "launch.json"
    for number in range(o.launches):
        for g, group in enumerate(groups):
            of = [[r for r in records if r["group"] == i] for i in range(len(groups))]
            left = o.seconds - sum(r["seconds"] for r in records)
            if any(r["launch"] == number or "failed" in r for r in of[g]):
                progress.finished(planned[g])
                continue
            costs = [mean_seconds(of[i], planned[i]) for i in range(len(groups))]
            done = [o.launches if any("failed" in r for r in rs) else len(rs) for rs in of]
            if costs[g] > left or g not in affordable(costs, done, left):
                continue
            progress.next(group, o.seconds - left)
            began = time.monotonic()
            launcher = place.launcher(o, group.ranks)
            said = launches.bench(
                launcher, place.bench, group, o.sizes, given[g], left, file, words, settings
            )
            record = {"group": g, "launch": number, "seconds": time.monotonic() - began}
            append({**record, **content_of(said)})
            progress.finished(planned[g], record["seconds"])


def mean_seconds(records, planned):
    return sum(r["seconds"] for r in records) / len(records) if records else planned


def content_of(said):
    """What a record has of a launch. One that did not end in time is made again by a run that has
    more time."""
    if said is None:
        return {"launch": None}
    if isinstance(said, str):
        print(f"numacoll-tune: {said}", file=sys.stderr)
        return {"failed": said}
    if not all(m["common_start"] for m in said["measurements"]):
        raise Failed("the ranks are on several nodes: only one can be tuned")
    return {"machine": said["machine"], "cells": launches.cells_of(said)}


# ---- results ----


class Result:
    """Of a collective on a number of ranks: sizes, cells {label: [ratios of each size]} without the
    default, times {label: [microseconds of each size]}, chosen [(label, ratio)], or why there is
    none."""

    def __init__(self, collective, ranks, records, g):
        self.collective, self.ranks = collective, ranks
        self.sizes, self.chosen, self.why = [], [], ""
        failed = [r["failed"] for r in records if r["group"] == g and "failed" in r]
        of_group = [r for r in records if r["group"] == g and "cells" in r]
        self.launches = len(of_group)
        if failed or self.launches < decide.MIN_LAUNCHES:
            self.why = failed[0] if failed else f"no time: {self.launches} launches"
            return
        ratios, times = launches.samples(of_group)
        self.cells, self.times = ratios[collective], times[collective]
        del self.cells[candidates.DEFAULT]
        self.sizes = launches.sizes_of(of_group, collective)
        self.chosen = decide.decide(self.cells, collective in write.SIZED)


def results_of(groups, records):
    return [
        Result(collective, group.ranks, records, g)
        for g, group in enumerate(groups)
        for collective in group.collectives
    ]


def decided(results):
    """{collective: {ranks: [(size, label)]}}."""
    table = {}
    for r in results:
        if r.chosen:
            labels = [label for label, _ in r.chosen]
            table.setdefault(r.collective, {})[r.ranks] = list(zip(r.sizes, labels))
    return table


def about(place, o, head, records):
    """What machine.json says, but the checksums."""
    machine = next(r["machine"] for r in records if "machine" in r)
    return {
        "numacoll": place.version,
        "mpich": machine["mpi"],
        "date": head["date"],
        "host": head["run"]["host"],
        "processor": machine["cpu"],
        "processors": machine["processors"],
        "packages": machine["packages"],
        "numa_nodes": machine["numa_nodes"],
        "ranks": o.ranks,
        "oversubscribed": [oversubscribed(ranks) for ranks in o.ranks],
        "collectives": o.collectives,
        "sizes": o.sizes,
        "launcher": o.launcher,
        "variables": head["run"]["variables"],
    }


def say(results, o):
    """The choices that are not the default, and what was not measured."""
    changed = 0
    for r in results:
        for (label, ratio), size in zip(r.chosen, r.sizes):
            if label != candidates.DEFAULT:
                where = f"{r.collective} {report.size_text(size)}".strip()
                print(f"{where}, {r.ranks} ranks: {label}, {ratio:.2f} of the default's time")
                changed += 1
        if r.why:
            print(f"{r.collective}, {r.ranks} ranks: not measured, keeps its default: {r.why}")
    if not changed:
        print("nothing is faster than the default beyond chance")
    print(f"\nIn {o.output}: mpir.json, ch4.json, posix.json, machine.json. To use them:")
    for name, file in write.settings(o.output).items():
        print(f"    export {name}={file}")
    print("Unset MPIR_CVAR_NUMACOLL_COLLECTIVES, which has precedence over the files.")


def tune(place, o):
    try:
        journal = state.Journal(o.output / "journal", run_of(place, o), lambda: describe(place, o))
    except state.OtherRun as other:
        raise Failed(f"{o.output}/journal is of another run ({other}): remove it to begin anew")
    groups = [launches.Group(*g) for g in journal.head["groups"]]
    measure(place, o, groups, journal.records, journal.append)
    results = results_of(groups, journal.records)
    if not any(r.chosen for r in results):
        raise Failed("nothing was measured: " + (results[0].why if results else "no launches"))
    base, own = write.read(place.share), write.read(place.share / "mpich")
    description = about(place, o, journal.head, journal.records)
    write.write(o.output, decided(results), base, own, description)
    if o.report:
        o.report.write_text(report.page(description, results, journal.head["left_out"]))
    say(results, o)
    return 0


# ---- check ----


def check(place, o):
    """Measures the default and the files of a folder in turn."""
    known = json.loads((o.check / "machine.json").read_text())
    for name, expected in known["sha256"].items():
        if write.sha256(o.check / name) != expected:
            raise Failed(f"{o.check / name} was changed since numacoll-tune wrote it")
    o.sizes, o.output, records = known["sizes"], o.check, []
    o.launcher = o.launcher or known["launcher"]
    labels = [candidates.DEFAULT, candidates.AGAIN, candidates.MPICH]
    groups = [launches.Group(n, known["collectives"], labels) for n in known["ranks"]]
    measure(
        place, o, groups, records, records.append, ["--selection-files"], write.settings(o.check)
    )
    slower = 0
    for g, group in enumerate(groups):
        of_group = [r for r in records if r["group"] == g and "cells" in r]
        if len(of_group) < decide.MIN_LAUNCHES:
            raise Failed(f"{group.ranks} ranks: only {len(of_group)} launches were made")
        ratios = launches.samples(of_group)[0]
        for collective, cells in ratios.items():
            sizes = launches.sizes_of(of_group, collective)
            del cells[candidates.DEFAULT]
            for i in decide.slower(cells, candidates.MPICH):
                times = decide.expected(cells, candidates.MPICH, i)
                where = f"{collective} {report.size_text(sizes[i])}".strip()
                print(f"{where}, {group.ranks} ranks: slower, {times:.2f} of the default's time")
                slower += 1
    print(f"{slower} slower than the default beyond chance")
    return 1 if slower else 0


def main(bin_, share, version, words):
    place = Installation(bin_, share, version)
    o = options.parse(version, write.served(write.read(share)["mpir"]), words)
    try:
        for program in (place.bench, place.model, (o.launcher or [place.mpiexec])[0]):
            if not shutil.which(program):
                raise Failed(f"{program} cannot be run")
        if o.dry_run:
            dry_run(place, o)
            return 0
        return check(place, o) if o.check else tune(place, o)
    except Failed as failure:
        print(f"numacoll-tune: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        then = "" if o.check else "; the same command goes on from here"
        print(f"\nnumacoll-tune: stopped{then}", file=sys.stderr)
        return 130
