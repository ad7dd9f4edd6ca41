"""numacoll-tune: measures, decides and writes. Each step is a module of its own:

constants   of the model              state   what has been measured so far
candidates  what is measured          write   MPICH's selection files
launches    how                       tuned   a folder of them, and where libmpi looks for it
decide      what is chosen            report  a page with pictures
"""
import datetime
import os
import pathlib
import shlex
import shutil
import socket
import subprocess
import sys
import time

from . import candidates, constants, decide, launches, options, report, tuned, write
from .state import Journal, OtherRun

CONFIRMING = 0.25  # of the time is for measuring once more what was chosen


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


def measured_in(ranks):
    """The states in which candidates are measured."""
    return [launches.ALONE, *([launches.BUSY] if oversubscribed(ranks) else [])]


def confirmed_in(ranks):
    """Those in which files are: a result that is written past the caches takes its reader longer,
    which shows only where it is read."""
    return [*measured_in(ranks), launches.USING]


# ---- what is measured ----


def labels_for(place, o, model):
    """{(ranks, collective): labels}, and beside that those that the model leaves out. model: the
    constants as its options."""
    chosen, left_out = {}, []
    for ranks in o.ranks:
        for collective in o.collectives:
            sizes, sized = [0] if collective == "barrier" else o.sizes, collective in write.SIZED
            labels = candidates.of(collective, ranks, max(sizes), sized, oversubscribed(ranks))
            asked = sizes if any(candidates.row_of(label) for label in labels) else []
            predictions = [
                candidates.predicted(place.model, collective, s, ranks, model) for s in asked
            ]
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
        "processors": len(os.sched_getaffinity(0)),
        "format": 2,  # of the journal
        "quick": o.quick,
        "launcher": o.launcher,
        "variables": {k: v for k, v in sorted(os.environ.items()) if k.startswith("MPIR_CVAR_")},
    }


def model_of(place, o):
    """The model's constants here, as its options; none if they cannot be measured."""
    by_level = {}

    def predict(collective, size, c):
        words = constants.words({level: c})
        predicted = candidates.predicted(place.model, collective, size, 2, words)
        if not predicted:
            raise Failed(f"{place.model} predict {collective} {size} failed")
        return predicted[candidates.DEFAULT]

    try:
        pairs = constants.processors()
    except (OSError, subprocess.CalledProcessError) as problem:
        print(f"numacoll-tune: the model has its own constants: {problem}", file=sys.stderr)
        return []
    for level, two in pairs.items():
        print(f"constants of the model: processors {two[0]} and {two[1]}, {level}", flush=True)
        times = constants.launch(place.launcher(o, 2), place.bench, two, o.output / "launch.json")
        if isinstance(times, str):
            print(f"numacoll-tune: the model has its own constants: {times}", file=sys.stderr)
            return []
        by_level[level] = constants.constants_of(times, predict)
    return constants.words(by_level)


def describe(place, o, model):
    labels, left_out = labels_for(place, o, model)
    return {
        "model": model,
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "groups": [list(group) for group in launches.groups_of(labels, measured_in)],
        "left_out": left_out,
    }


def dry_run(place, o):
    described = describe(place, o, [])
    groups = [launches.Group(*g) for g in described["groups"]]
    for group in groups:
        print(f"{', '.join(group.collectives)}, {where(group.ranks, group.state)}:")
        print("".join(f"    {label}\n" for label in group.labels), end="")
    for collective, ranks, label in described["left_out"]:
        print(f"not {label} of {collective}, {ranks} ranks: left out by the model")
    again = o.launches * sum(len(confirmed_in(ranks)) for ranks in o.ranks)
    print(f"{o.launches * len(groups)} launches, then {again} to confirm what was chosen")
    print(f"at most {o.seconds / 60:.0f} min")


def where(ranks, state):
    return f"{ranks} ranks {launches.SAID[state]}".strip()


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
        text = f"[{self.done}/{self.count}] {what}, {where(group.ranks, group.state)}"
        print(f"{text}; about {left / 60:.1f} min left", flush=True)

    def finished(self, planned, seconds=None):
        """seconds: None if it was done before."""
        self.left -= planned
        if seconds is None:
            self.done += 1
        else:
            self.given, self.taken = self.given + planned, self.taken + seconds


def in_states(groups):
    """{(ranks, collectives): {state: number of the group}}."""
    numbers = {}
    for g, group in enumerate(groups):
        numbers.setdefault((group.ranks, tuple(group.collectives)), {})[group.state] = g
    return numbers


def affordable(groups, costs, done, left):
    """The numbers of the groups that can be measured often enough to be decided, in their order: in
    all states or in none. costs: seconds of a launch of each; done: how many there are; left:
    seconds."""
    able = []
    for numbers in in_states(groups).values():
        need = sum(max(0, decide.MIN_LAUNCHES - done[g]) * costs[g] for g in numbers.values())
        if need <= left:
            able += numbers.values()
            left -= need
    return able


def measure(place, o, groups, records, append, seconds, words=(), settings=None):
    """Makes the launches that no record is of, while there is time; append(record) keeps one. In
    turn: one of each group, then the second of each."""
    given = launches.seconds_of(groups, o.sizes, o.launches, seconds)
    planned = [s + launches.START for s in given]
    progress = Progress(planned * o.launches, seconds)
    file = o.output / "launch.json"
    for number in range(o.launches):
        for g, group in enumerate(groups):
            of = [[r for r in records if r["group"] == i] for i in range(len(groups))]
            left = seconds - sum(r["seconds"] for r in records)
            if any(r["launch"] == number or "failed" in r for r in of[g]):
                progress.finished(planned[g])
                continue
            costs = [mean_seconds(of[i], planned[i]) for i in range(len(groups))]
            done = [
                o.launches if any("failed" in r for r in rs) else sum("cells" in r for r in rs)
                for rs in of
            ]
            if costs[g] > left or g not in affordable(groups, costs, done, left):
                continue
            progress.next(group, seconds - left)
            began = time.monotonic()
            launcher = place.launcher(o, group.ranks)
            with launches.beside(group.state):
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
    """Of a collective on a number of ranks: sizes; states {state: {label: [ratios of each size]}}
    without the default; times {state: {label: [microseconds of each size]}}; chosen [(label,
    ratio)], or why there is none; again: the Result of what was chosen, measured once more, if it
    was."""

    def __init__(self, collective, ranks, records, groups):
        """groups: {state: number of the group that it is in}."""
        self.collective, self.ranks, self.again = collective, ranks, None
        self.sizes, self.states, self.times, self.chosen = [], {}, {}, []
        own = [r for r in records if r["group"] in groups.values()]
        failed = [r["failed"] for r in own if "failed" in r]
        measured = {
            state: [r for r in own if r["group"] == g and "cells" in r]
            for state, g in groups.items()
        }
        self.launches = min(map(len, measured.values()))
        few = self.launches < decide.MIN_LAUNCHES
        self.why = failed[0] if failed else f"no time: {self.launches} launches" if few else ""
        if self.why:
            return
        for state, of in measured.items():
            ratios, times = launches.samples(of)
            del ratios[collective][candidates.DEFAULT]
            self.states[state], self.times[state] = ratios[collective], times[collective]
        self.sizes = launches.sizes_of(measured[launches.ALONE], collective)
        self.chosen = decide.decide([*self.states.values()], self.sized())

    def sized(self):
        return self.collective in write.SIZED

    def at(self, i):
        """The collective and a size of it, as text."""
        return f"{self.collective} {report.size_text(self.sizes[i])}".strip()

    def differs(self):
        """Whether something else than the default is chosen at a size."""
        return any(label != candidates.DEFAULT for label, _ in self.chosen)

    def confirm(self, again):
        """again: the Result of what was chosen as MPICH's files have it, labelled MPICH."""
        if again.why:
            self.chosen, self.why = [], f"not confirmed: {again.why}"
        else:
            label, states = candidates.MPICH, [*again.states.values()]
            self.chosen = decide.confirmed(self.chosen, states, label, self.sized())
            self.again = again


def results_of(groups, records):
    results = []
    for (ranks, collectives), of_states in in_states(groups).items():
        results += [Result(collective, ranks, records, of_states) for collective in collectives]
    return results


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
    machines = [r["machine"] for r in records if "machine" in r]
    machine = machines[0]
    return {
        "machine": tuned.machine_of(m.get("tuned", "") for m in machines),
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
        "model": head["model"],
    }


def predictions(place, model):
    """A function that says what the model says of the default: microseconds, or None."""

    def predicted(collective, ranks, size):
        times = candidates.predicted(place.model, collective, size, ranks, model)
        return times.get(candidates.DEFAULT)

    return predicted


def say(results, o):
    """The choices that are not the default, and what was not measured."""
    changed = 0
    for r in results:
        for i, (label, ratio) in enumerate(r.chosen):
            if label != candidates.DEFAULT:
                print(f"{r.at(i)}, {r.ranks} ranks: {label}, {ratio:.2f} of the default's time")
                changed += 1
        if r.why:
            print(f"{r.collective}, {r.ranks} ranks: keeps its default: {r.why}")
    if not changed:
        print("nothing is faster than the default beyond chance")
    print(f"\nIn {o.output}: mpir.json, ch4.json, posix.json, machine.json. To use them:")
    for name, file in write.settings(o.output).items():
        print(f"    export {name}={file}")
    print("For all users, with MPIR_CVAR_NUMACOLL_COLLECTIVES=tuned:")
    print(f"    numacoll-tune --install {shlex.quote(str(o.output))}")


# ---- files ----


def groups_of_files(pairs):
    """The groups in which files are measured. pairs: (ranks, collective) each."""
    labels = [candidates.DEFAULT, candidates.AGAIN, candidates.MPICH]
    return launches.groups_of({pair: labels for pair in pairs}, confirmed_in)


def by_files(folder):
    """The words and variables with which numacoll-bench measures the files of a folder as MPICH's
    own choice."""
    return ["--selection-files"], write.files(folder)


def stage(journal, files=None):
    """The journal's records of launches with files of these checksums, None: without, and what
    appends one. With more time a run that goes on may choose something else, of which those of
    other files say nothing."""
    records = [r for r in journal.records if r.get("files") == files]

    def append(record):
        journal.append({**record, "files": files})
        records.append(record)

    return records, append


def confirm(place, o, journal, results, base, own):
    """Measures what was chosen once more, as files that are nowhere else, and keeps what holds."""
    groups = groups_of_files((r.ranks, r.collective) for r in results if r.differs())
    trial = o.output / "unconfirmed"
    if groups:
        print("what was chosen once more, as the files have it:")
    trial.mkdir(exist_ok=True)
    write.write(trial, decided(results), base, own)
    records, append = stage(journal, {name: tuned.sha256(trial / name) for name in tuned.FILES})
    measure(place, o, groups, records, append, CONFIRMING * o.seconds, *by_files(trial))
    again = {(r.collective, r.ranks): r for r in results_of(groups, records)}
    for r in results:
        if r.differs():
            r.confirm(again[r.collective, r.ranks])
    shutil.rmtree(str(trial))


def tune(place, o):
    try:
        journal = Journal(
            o.output / "journal", run_of(place, o), lambda: describe(place, o, model_of(place, o))
        )
    except OtherRun as other:
        raise Failed(f"{o.output}/journal is of another run ({other}): remove it to begin anew")
    groups = [launches.Group(*g) for g in journal.head["groups"]]
    records, append = stage(journal)
    measure(place, o, groups, records, append, (1 - CONFIRMING) * o.seconds)
    results = results_of(groups, records)
    if not any(r.chosen for r in results):
        raise Failed("nothing was measured: " + (results[0].why if results else "no launches"))
    description = about(place, o, journal.head, records)
    base, own = write.read(place.share), write.read(place.share / "mpich")
    confirm(place, o, journal, results, base, own)
    write.write(o.output, decided(results), base, own)
    chosen = [n for n in o.collectives if any(r.collective == n and r.differs() for r in results)]
    tuned.describe(o.output, {**description, "chosen": chosen})
    if o.report:
        left_out, model = journal.head["left_out"], journal.head["model"]
        o.report.write_text(report.page(description, results, left_out, predictions(place, model)))
    say(results, o)
    return 0


# ---- check ----


def check(place, o):
    """Measures the default and the files of a folder in turn."""
    known, records = tuned.described(o.check), []
    if not {"sizes", "launcher", "collectives", "ranks"} <= set(known):
        raise Failed(f"{o.check}: machine.json does not say what was measured")
    o.sizes, o.output = known["sizes"], o.check
    o.launcher = o.launcher or known["launcher"]
    chosen = known["chosen"]
    print(f"{len(known['collectives']) - len(chosen)} collectives have the default everywhere")
    groups = groups_of_files((n, name) for n in known["ranks"] for name in chosen)
    measure(place, o, groups, records, records.append, o.seconds, *by_files(o.check))
    slower = unknown = 0
    for r in results_of(groups, records):
        if r.why:
            print(f"{r.collective}, {r.ranks} ranks: not checked: {r.why}")
            unknown += 1
        for state, cells in r.states.items():
            for i in decide.slower(cells, candidates.MPICH):
                ratio = decide.expected([cells], candidates.MPICH, i)
                what = f"{r.at(i)}, {where(r.ranks, state)}"
                print(f"{what}: slower, {ratio:.2f} of the default's time")
                slower += 1
    print(f"{slower} slower than the default beyond chance")
    return 1 if slower or unknown else 0


# ---- install ----


def install(place, o):
    """Puts the files of a folder where libmpi looks for them."""
    above = os.environ.get("MPIR_CVAR_NUMACOLL_TUNED_FOLDER") or place.share / "tuned"
    installed = tuned.install(o.install, pathlib.Path(above).resolve())
    print(
        f"In {installed}. MPIR_CVAR_NUMACOLL_COLLECTIVES=tuned takes it on machines like this one."
    )
    return 0


def main(bin_, share, version, words):
    place = Installation(bin_, share, version)
    o = options.parse(version, write.served(write.read(share)["mpir"]), words)
    try:
        if o.install:
            return install(place, o)
        for program in (place.bench, place.model, (o.launcher or [place.mpiexec])[0]):
            if not shutil.which(program):
                raise Failed(f"{program} cannot be run")
        if o.dry_run:
            dry_run(place, o)
            return 0
        return check(place, o) if o.check else tune(place, o)
    except (Failed, tuned.Unusable) as failure:
        print(f"numacoll-tune: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        then = "" if o.check else "; the same command goes on from here"
        print(f"\nnumacoll-tune: stopped{then}", file=sys.stderr)
        return 130
