"""numacoll-tune: measures, decides and writes. Each step is a module of its own:

constants   of the model              state   what has been measured so far
candidates  what is measured          write   MPICH's selection files
plan        what first, what at all   tuned   a folder of them, and where libmpi looks for it
launches    how                       report  a page with pictures
decide      what is chosen
"""
import datetime
import math
import os
import pathlib
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from . import candidates, constants, decide, launches, options, plan, report, tuned, write
from .state import Journal, NoJournal, OtherRun


FOLDER = "MPIR_CVAR_NUMACOLL_TUNED_FOLDER"
NOTHING_FASTER = "nothing was faster in the first launch"


class Failed(Exception):
    """One line, then exit status 1."""


class Installation:
    """Where the programs and files of numacoll are."""

    def __init__(self, bin_, share, version):
        self.version, self.share = version, share
        self.bench, self.model = (str(bin_ / ("numacoll-" + n)) for n in ("bench", "model"))
        own = [bin_ / "mpiexec.mpich", bin_ / "mpiexec"]  # the former is Debian's name for it
        self.mpiexec = next((str(path) for path in own if path.exists()), "mpiexec")
        self.said = {}  # {(launcher, ranks): what numacoll-bench says of them}

    def launcher(self, o, ranks):
        """The words before -n: bound to cores where there are enough."""
        return o.launcher or [
            self.mpiexec,
            *([] if oversubscribed(o, ranks) else ["-bind-to", "core"]),
        ]

    def says(self, o, ranks):
        """What numacoll-bench says of so many ranks, asked once; {} if it does not say."""
        launcher = o.launcher or [self.mpiexec]
        if (*launcher, ranks) not in self.said:
            said = launches.ask(launcher, self.bench, ranks)
            if "failed" in said:
                what = " ".join([*launcher, "-n", str(ranks), "numacoll-bench .."])
                raise Failed(f"{what}: {said['failed']}")
            self.said[(*launcher, ranks)] = said
        return self.said[(*launcher, ranks)]

    def ask(self, o):
        """Whether the ranks outnumber the processors, for each of o.ranks: as numacoll says, which
        knows a CPU quota; where it does not say, by the processors of this process."""
        machines = [self.says(o, n).get("machine", {}).get("tuned", "") for n in o.ranks]
        said = [launches.says_crowded(machine) for machine in machines]
        return [oversubscribed(o, n) if s is None else s for n, s in zip(o.ranks, said)]


class Clock:
    """How long the run has taken, with the runs before it that it goes on from."""

    def __init__(self):
        self.began, self.before = time.monotonic(), 0.0

    def taken(self):
        return self.before + time.monotonic() - self.began


def oversubscribed(o, ranks):
    """Whether they outnumber the processors."""
    return o.crowded.get(ranks, ranks > len(os.sched_getaffinity(0)))


def measured_in(o, ranks):
    """The states in which candidates are measured."""
    busy = oversubscribed(o, ranks) and not o.quick
    return [launches.ALONE, *([launches.BUSY] if busy else [])]


def confirmed_in(o, ranks, collective):
    """Those in which files are: what is written past the caches takes longer to read, and to write
    where it was in the cache. Barrier writes and reads nothing."""
    busy = [launches.BUSY] if oversubscribed(o, ranks) else []
    cached = [] if collective == "barrier" else [launches.CACHED, launches.USING]
    return [launches.ALONE, *busy, *cached]


# ---- what is measured ----


def labels_for(place, o, model):
    """{(ranks, collective): labels}, and beside that those that the model leaves out. model: the
    constants as its options."""
    chosen, left_out, variables = {}, [], candidates.variables_of(os.environ)
    for ranks in o.ranks:
        for collective in o.collectives:
            sizes, sized = [0] if collective == "barrier" else o.sizes, collective in write.SIZED
            labels = candidates.of(
                collective, ranks, max(sizes), sized, oversubscribed(o, ranks), variables
            )
            asked = sizes if any(candidates.row_of(label) for label in labels) else []
            predictions = [
                candidates.predicted(place.model, collective, s, ranks, model) for s in asked
            ]
            factor = None if oversubscribed(o, ranks) else o.factor
            chosen[ranks, collective] = candidates.narrowed(labels, predictions, factor)
            left_out += [
                [collective, ranks, label]
                for label in labels
                if label not in chosen[ranks, collective]
            ]
    return chosen, left_out


def set_elsewhere(place, o):
    """{name: value} of the variables that ranks have from the site's file or from the launcher."""
    said = place.says(o, o.ranks[0]).get("environment")
    if said is None:
        print(
            "numacoll-tune: what the site's file sets is not known: the output of the launcher is "
            "not that of numacoll-bench",
            file=sys.stderr,
        )
    return candidates.set_elsewhere(os.environ, said or {})


def take_names():
    """Sets variables that have another of MPICH's names here under ours, too."""
    found, given = candidates.under_one_name(os.environ)
    if found:
        print(f"{', '.join(given)}: taken as {candidates.PREFIX}..")
    os.environ.update(found)


def take_settings(place, o):
    """Sets these variables here, too: a line of the site's file counts as if the environment had
    it. Returns their names."""
    found = set_elsewhere(place, o)
    if found:
        what = ", ".join(f"{name}={value}" for name, value in found.items())
        print(f"set by the site's file or the launcher: {what}")
    os.environ.update(found)
    return set(found)


def say_untried(o, of_site):
    """The variables that stay as they are set, and in which collectives, if not in all. of_site:
    those that the environment does not set."""
    variables = candidates.variables_of(os.environ)
    for name, collectives in candidates.untried(variables, o.collectives).items():
        variable = candidates.PREFIX + name.upper()
        stays = "" if collectives == o.collectives else " in " + ", ".join(collectives)
        without = candidates.without(
            variable, {} if variable in of_site else os.environ, o.launcher or []
        )
        print(
            f"{variable}={variables[name]}: stays as it is{stays}; what is chosen holds for this "
            f"value only; to measure without it: {without} --output OTHER .."
        )


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
        "format": 5,  # of the journal; another one if its groups have other numbers or states
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


def describe(place, o, clock, model):
    """The first line of the journal."""
    labels, left_out = labels_for(place, o, model)
    return {
        "model": model,
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "oversubscribed": [oversubscribed(o, ranks) for ranks in o.ranks],
        "groups": [
            list(group) for group in launches.groups_of(labels, lambda n: measured_in(o, n))
        ],
        "left_out": left_out,
        "seconds": clock.taken(),
    }


def begin(place, o, clock):
    """As describe, of a run that begins."""
    o.crowded = dict(zip(o.ranks, place.ask(o)))
    return describe(place, o, clock, model_of(place, o))


def dry_run(place, o):
    o.crowded = dict(zip(o.ranks, place.ask(o)))
    described = describe(place, o, Clock(), [])
    groups = [launches.Group(*g) for g in described["groups"]]
    for group in groups:
        print(f"{', '.join(group.collectives)}, {where(group.ranks, group.state)}:")
        names = [launches.again() if l == candidates.AGAIN else l for l in group.labels]
        print("".join(f"    {name}\n" for name in names), end="")
    for collective, ranks, label in described["left_out"]:
        print(f"not {label} of {collective}, {ranks} ranks: left out by the model")
    if o.quick:
        print(f"{len(groups)} launches, then {o.launches} of the best of each collective", end="")
    else:
        print(f"{o.launches * len(groups)} launches", end="")
    pairs = [(ranks, collective) for ranks in o.ranks for collective in o.collectives]
    again = max(o.launches * len(confirmed_in(o, *pair)) for pair in pairs)
    print(f", then up to {again} to confirm each choice")
    print(f"at most {o.seconds / 60:.0f} min")


def where(ranks, state):
    return f"{ranks} ranks {launches.SAID[state]}".strip()


# ---- measuring ----


class Progress:
    """Says before each launch how long the run will yet take, about: these launches at the pace of
    those that are done, and the others that follow; or at most, if that is no less than what is
    left of the run. planned: seconds of each; others: seconds that are kept for others; None: all
    that these leave."""

    def __init__(self, planned, others):
        self.left, self.count, self.others = sum(planned), len(planned), others
        self.given = self.taken = 0.0
        self.done = 0

    def next(self, group, most):
        """most: seconds that are left of the run."""
        self.done += 1
        pace = self.taken / self.given if self.given else 1
        said, left = "at most", max(0.0, most)
        if self.others is not None and self.left * pace + self.others < left:
            said, left = "about", self.left * pace + self.others
        names = group.collectives
        what = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
        text = f"[{self.done}/{self.count}] {what}, {where(group.ranks, group.state)}"
        print(f"{text}; {said} {left / 60:.1f} min left", flush=True)

    def finished(self, planned, seconds=None):
        """seconds: None if it was done before, or is left out."""
        self.left -= planned
        if seconds is None:
            self.done += 1
        else:
            self.given, self.taken = self.given + planned, self.taken + seconds


def measure(
    place,
    o,
    groups,
    count,
    stage,
    clock,
    until,
    share=None,
    one_by_one=False,
    words=(),
    settings=None,
):
    """Makes `count` launches of each group but those that are recorded, in the order of plan.turns,
    until the clock says `until`. stage: the records, and what appends one. share: the seconds that
    they are to take; all that are left if None."""
    records, append = stage
    kept = max(0.0, o.seconds - plan.WRITING - until) if share is None else None
    if share is None:
        share = max(0, until - clock.taken()) + sum(r["seconds"] for r in records)
    planned = plan.seconds_of(groups, o.sizes, count, share)
    asked = [
        s * (plan.ASKED if oversubscribed(o, group.ranks) else 1)
        for s, group in zip(planned, groups)
    ]
    planned = [s + launches.START for s in planned]
    progress = Progress(planned * count, kept)
    for number, g in plan.turns(groups, count, one_by_one):
        group = groups[g]
        of = [[r for r in records if r["group"] == i] for i in range(len(groups))]
        if any(r["launch"] == number or "failed" in r for r in of[g]):
            progress.finished(planned[g])
            continue
        left = until - clock.taken()
        costs = plan.costs(planned, records)
        done = [count if any("failed" in r for r in rs) else good(rs) for rs in of]
        least = min(count, decide.MIN_LAUNCHES)
        if costs[g] > left or g not in plan.affordable(groups, costs, done, left, least):
            progress.finished(planned[g])
            continue
        progress.next(group, o.seconds - clock.taken())
        began = time.monotonic()
        launcher, file = place.launcher(o, group.ranks), o.output / "launch.json"
        seconds = asked[g] / max(1, plan.pace_of(planned, records))
        turned = group._replace(labels=plan.order(group.labels, number, count))
        with launches.beside(group.state):
            said = launches.bench(
                launcher, place.bench, turned, o.sizes, seconds, left, file, words, settings
            )
        record = {"group": g, "launch": number, "seconds": time.monotonic() - began}
        append({**record, **content_of(said, group.labels)})
        progress.finished(planned[g], record["seconds"])


def good(records):
    """How many launches were good ones."""
    return sum("cells" in r for r in records)


def content_of(said, labels):
    """What a record has of a launch, its cells in the order of the group's labels. One that did not
    end in time is made again by a run that has more time."""
    if said is None:
        return {"launch": None}
    if isinstance(said, str):
        print(f"numacoll-tune: {said}", file=sys.stderr)
        return {"failed": said}
    if not all(m["common_start"] for m in said["measurements"]):
        raise Failed("the ranks are on several nodes: only one can be tuned")
    return {"machine": said["machine"], "cells": launches.cells_of(said, labels)}


# ---- results ----


class Result:
    """Of a collective on a number of ranks: sizes; states {state: {label: [ratios of each size]}}
    without the default; times {state: {label: [microseconds of each size]}}; chosen [(label,
    ratio)], or why there is none; again: the Result of what was chosen, measured once more, if it
    was; left_out: the candidates that did not go on after the first launch."""

    def __init__(self, collective, ranks, records, groups):
        """groups: {state: number of the group that it is in}."""
        self.collective, self.ranks, self.again, self.left_out = collective, ranks, None, []
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
        self.sizes = launches.sizes_of(next(iter(measured.values())), collective)
        self.chosen = decide.decide([*self.states.values()], self.sized())

    def sized(self):
        return self.collective in write.SIZED

    def at(self, i):
        """The collective and a size of it, as text."""
        return f"{self.collective} {report.size_text(self.sizes[i])}".strip()

    def differs(self):
        """Whether something else than the default is chosen at a size."""
        return any(label != candidates.DEFAULT for label, _ in self.chosen)

    def gain(self):
        """What is expected of the choices, over all sizes, as a sum of logarithms."""
        return -sum(math.log(ratio) for _, ratio in self.chosen)

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
    for (ranks, collectives), of_states in plan.in_states(groups).items():
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
        "oversubscribed": head["oversubscribed"],
        "collectives": o.collectives,
        "sizes": o.sizes,
        "launcher": o.launcher,
        "variables": head["run"]["variables"],
        "model": head["model"],
        "left_out": head["left_out"],
    }


def predictions(place, model):
    """A function that says what candidates.predicted says. model: the constants as options."""

    def predicted(collective, ranks, size):
        return candidates.predicted(place.model, collective, size, ranks, model)

    return predicted


def say_fewer(results, o, what="decided"):
    """Which results there are by fewer launches than asked for."""
    for r in results:
        if not r.why and r.launches < o.launches:
            by = f"{r.launches} of {o.launches} launches"
            print(f"{r.collective}, {r.ranks} ranks: {what} by {by}")


def say(results, o, left_out):
    """The choices that are not the default, and what was not measured. left_out: what was not, by
    the model."""
    changed = 0
    for r in results:
        for i, (label, ratio) in enumerate(r.chosen):
            if label != candidates.DEFAULT:
                print(f"{r.at(i)}, {r.ranks} ranks: {label}, {ratio:.2f} of the default's time")
                changed += 1
        if r.why:
            print(f"{r.collective}, {r.ranks} ranks: keeps its default: {r.why}")
        elif r.again and not r.differs():
            print(f"{r.collective}, {r.ranks} ranks: keeps its default: no gain once more")
        if r.left_out:
            labels = ", ".join(r.left_out)
            print(f"{r.collective}, {r.ranks} ranks: left out after one launch: {labels}")
    if left_out:
        print(
            "left out by the model: " + "; ".join(f"{l} of {c}, {n} ranks" for c, n, l in left_out)
        )
    say_fewer(results, o)
    say_fewer([r.again for r in results if r.again], o, "confirmed")
    if not changed:
        print("nothing is faster than the default beyond chance")
    print(f"\nIn {o.output}: mpir.json, ch4.json, posix.json, machine.json. To use them:")
    for name, file in write.settings(o.output).items():
        print(f"    export {name}={shlex.quote(str(file))}")
    print("For all users, with MPIR_CVAR_NUMACOLL_COLLECTIVES=tuned:")
    print(f"    numacoll-tune --install {shlex.quote(str(o.output))}")


# ---- files ----


def groups_of_files(o, pairs):
    """The groups in which files are measured, each collective by itself. pairs: (ranks, collective)
    each."""
    labels = [candidates.DEFAULT, candidates.AGAIN, candidates.MPICH]
    return [
        launches.Group(ranks, [collective], labels, state)
        for ranks, collective in pairs
        for state in confirmed_in(o, ranks, collective)
    ]


def by_files(folder):
    """The words and variables with which numacoll-bench measures the files of a folder as MPICH's
    own choice."""
    return {"words": ["--selection-files"], "settings": write.files(folder)}


def stage(journal, name):
    """The journal's records of a part of the run, and what appends one. name: the part; of what was
    chosen the checksums of its files and their order: with more time a run that goes on may choose
    something else, of which the launches with other files say nothing."""
    records = [r for r in journal.records if r.get("stage") == name]

    def append(record):
        journal.append({**record, "stage": name})
        records.append(record)

    return records, append


def by_all(place, o, journal, clock, groups, files):
    """The results of launches of all candidates; confirmed."""
    found = stage(journal, "candidates")
    measure(place, o, groups, o.launches, found, clock, plan.CANDIDATES * o.seconds)
    results = results_of(groups, found[0])
    confirm(place, o, journal, clock, results, files)
    return results


def by_best(place, o, journal, clock, first, files):
    """The results of launches of those candidates that were the best in one launch of all; a
    collective is confirmed before the next one is measured. first: the groups of the one launch."""
    found = stage(journal, "first")
    until = plan.FIRST * o.seconds
    measure(place, o, first, 1, found, clock, until, plan.OF_FIRST * until)
    results = {(r.collective, r.ranks): r for r in results_of(first, found[0])}
    ranked = [
        one
        for r in found[0]
        if "cells" in r
        for one in plan.ranked(first[r["group"]], r, o.sizes, write.SIZED)
    ]
    going_on = plan.going_on(ranked)
    for n, one in enumerate(going_on):
        result = best_of(place, o, journal, clock, one, len(going_on) - n, files)
        if result:
            results[one.collective, one.ranks] = result
    for one in ranked:
        result = results[one.collective, one.ranks]
        result.left_out = one.others
        if one not in going_on:
            result.why = NOTHING_FASTER
    return [*results.values()]


def best_of(place, o, journal, clock, one, remaining, files):
    """The confirmed result of a plan.Ranked, of so many that remain; None: there is no time."""
    found = stage(journal, ["candidates", one.collective, one.ranks])
    until = o.seconds - plan.WRITING
    left, states = until - clock.taken(), len(confirmed_in(o, one.ranks, one.collective))
    if not found[0] and not plan.can_be_confirmed(one, o.launches, states, left):
        return None
    part = plan.part_of(max(0, left), remaining)
    groups = [launches.Group(one.ranks, [one.collective], one.labels, launches.ALONE)]
    share = plan.OF_CANDIDATES * part
    measure(place, o, groups, o.launches, found, clock, until, share)
    results = results_of(groups, found[0])
    confirm(place, o, journal, clock, results, files, part - share)
    return results[0]


def confirm(place, o, journal, clock, results, files, share=None):
    """Measures what was chosen once more, as files that are nowhere else, the largest gain first,
    and keeps what holds. files: those of which the chosen ones are made; share: as of measure."""
    differing = sorted((r for r in results if r.differs()), key=lambda r: -r.gain())
    groups = groups_of_files(o, [(r.ranks, r.collective) for r in differing])
    trial = o.output / "unconfirmed"
    if not groups:
        return
    print("what was chosen once more, as the files have it:")
    order = [[r.collective, r.ranks] for r in differing]
    until = o.seconds - plan.WRITING
    try:
        trial.mkdir(exist_ok=True)
        write.write(trial, decided(results), *files)
        sums = {name: tuned.sha256(trial / name) for name in tuned.FILES}
        found = stage(journal, {"files": sums, "order": order})
        measure(place, o, groups, o.launches, found, clock, until, share, True, **by_files(trial))
    finally:
        shutil.rmtree(str(trial), ignore_errors=True)
    again = {(r.collective, r.ranks): r for r in results_of(groups, found[0])}
    for r in differing:
        r.confirm(again[r.collective, r.ranks])


def tune(place, o):
    clock = Clock()
    try:
        journal = Journal(o.output / "journal", run_of(place, o), lambda: begin(place, o, clock))
    except OtherRun as other:
        raise Failed(f"{o.output}/journal is of another run ({other}): remove it to begin anew")
    except NoJournal as problem:
        raise Failed(f"{o.output}/journal: {problem}; choose another --output")
    clock.before = journal.before
    o.crowded = dict(zip(o.ranks, journal.head["oversubscribed"]))
    groups = [launches.Group(*g) for g in journal.head["groups"]]
    files = write.read(place.share), write.read(place.share / "mpich")
    results = (by_best if o.quick else by_all)(place, o, journal, clock, groups, files)
    if not any(r.states or r.why == NOTHING_FASTER for r in results):
        raise Failed("nothing was measured: " + (results[0].why if results else "no launches"))
    write.write(o.output, decided(results), *files)
    description = about(place, o, journal.head, journal.records)
    chosen = [n for n in o.collectives if any(r.collective == n and r.differs() for r in results)]
    tuned.describe(o.output, {**description, "chosen": chosen})
    say(results, o, journal.head["left_out"])
    if o.report:
        predicted = predictions(place, journal.head["model"])
        o.report.write_text(report.page(description, results, predicted))
    return 0


# ---- check ----


def slower(results, sigmas):
    """{(result's collective, ranks, state, number of the size): its time over the default's} where
    the files were slower than the default."""
    return {
        (r.collective, r.ranks, state, i): decide.expected([cells], candidates.MPICH, i)
        for r in results
        for state, cells in r.states.items()
        for i in decide.slower(cells, candidates.MPICH, sigmas)
    }


def check(place, o):
    """Measures the default and the files of a folder in turn; what looks slower, which some do by
    chance, in new launches again."""
    clock, known = Clock(), tuned.described(o.check)
    if not tuned.says_what_was_measured(known, options.MOST_RANKS):
        raise Failed(f"{o.check}: machine.json does not say what was measured")
    o.sizes, o.ranks = known["sizes"], known["ranks"]
    o.launcher = o.launcher or known["launcher"]
    if o.launcher and not shutil.which(o.launcher[0]):
        raise Failed(f"{o.check}: its launcher {o.launcher[0]} cannot be run: --launcher CMD")
    take_settings(place, o)
    had = known.get("variables", os.environ)
    for name, values in candidates.otherwise(had, os.environ).items():
        then, now = ("not set" if v is None else v for v in values)
        print(f"{name}: {now}, and {then} when the files were measured: not what they are for")
    o.crowded = dict(zip(o.ranks, place.ask(o)))
    chosen = known["chosen"]
    print(f"{len(known['collectives']) - len(chosen)} collectives have the default everywhere")

    def results(groups, until):
        records = []
        stage_ = records, records.append
        measure(
            place, o, groups, o.launches, stage_, clock, until, one_by_one=True, **by_files(o.check)
        )
        return results_of(groups, records)

    groups = groups_of_files(o, [(n, name) for n in o.ranks for name in chosen])
    first = results(groups, plan.CHECKED * o.seconds)
    once = slower(first, decide.LOOKS_SLOWER)
    where_once = {(collective, ranks, state) for collective, ranks, state, _ in once}
    groups = [g for g in groups if (g.collectives[0], g.ranks, g.state) in where_once]
    if groups:
        print("what looked slower once more:")
    second = results(groups, o.seconds)
    unknown = 0
    for r in first:
        if r.why:
            print(f"{r.collective}, {r.ranks} ranks: not checked: {r.why}")
            unknown += 1
    for r in second:
        if r.why:
            print(f"{r.collective}, {r.ranks} ranks: looked slower, not measured again: {r.why}")
            unknown += 1
    say_fewer(first, o, "checked")
    say_fewer(second, o, "checked again")
    twice = slower(second, decide.IS_SLOWER)
    twice = {point: ratio for point, ratio in twice.items() if point in once}
    text = {(r.collective, r.ranks): r.at for r in second}
    for (collective, ranks, state, i), ratio in twice.items():
        what = f"{text[collective, ranks](i)}, {where(ranks, state)}"
        print(f"{what}: slower, {ratio:.2f} of the default's time")
    print(f"{len(twice)} slower than the default beyond chance")
    return 1 if twice or unknown else 0


# ---- install ----


def install(place, o):
    """Puts the files of a folder where libmpi looks for them."""
    settings = os.environ if FOLDER in os.environ else set_elsewhere(place, o)
    above = settings.get(FOLDER) or place.share / "tuned"
    installed = tuned.install(o.install, pathlib.Path(above).resolve())
    print(
        f"In {installed}. MPIR_CVAR_NUMACOLL_COLLECTIVES=tuned takes it on machines like this one."
    )
    return 0


def main(bin_, share, version, words):
    place = Installation(bin_, share, version)
    try:
        os.getcwd()
    except OSError as problem:
        print(f"numacoll-tune: the working directory: {problem.strerror}", file=sys.stderr)
        return 1
    o = options.parse(version, write.served(write.read(share)["mpir"]), words)
    # as Ctrl-C: the launch is ended, and the journal has what was measured
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup leaves it
            signal.signal(number, signal.default_int_handler)
    try:
        take_names()
        if o.install:
            return install(place, o)
        for program in (place.bench, place.model, (o.launcher or [place.mpiexec])[0]):
            if not shutil.which(program):
                raise Failed(f"{program} cannot be run")
        if not o.check:
            say_untried(o, take_settings(place, o))
        if o.dry_run:
            dry_run(place, o)
            return 0
        if not o.check:
            return tune(place, o)
        with tempfile.TemporaryDirectory() as folder:
            o.output = pathlib.Path(folder)
            return check(place, o)
    except (Failed, tuned.Unusable) as failure:
        print(f"numacoll-tune: {failure}", file=sys.stderr)
        return 1
    except OSError as problem:
        unnamed = f"standard output, or a file in {o.output}" if o.output else "standard output"
        what = problem.filename or unnamed
        print(f"numacoll-tune: {what}: {problem.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        then = "" if o.check or o.dry_run or o.install else "; the same command goes on from here"
        print(f"\nnumacoll-tune: stopped{then}", file=sys.stderr)
        return 130
