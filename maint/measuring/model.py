"""`model`: what numacoll-model predicts, beside what a run of numacoll-tune has measured."""
import collections
import json
import pathlib
import statistics
import sys

from . import tables
from .runs import set_of
from .sets import Build, fail

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from tune import candidates

FILE = "predicted"
COLUMNS = "collective ranks bytes algorithm".split()


def asked(label):
    """The row of numacoll-model that predicts an algorithm, and the options with which it does: the
    settings of which tune knows no row are options."""
    row = candidates.row_of(label)
    words = [] if row else candidates.parameters_of(label)
    names = [word.split("=")[0] for word in words]
    options = [
        "--" + name.replace("_", "-") + word[len(name) :] for name, word in zip(names, words)
    ]
    return row or candidates.DEFAULT, options


class Model:
    """numacoll-model with the constants of a run. Each call of it is made once."""

    def __init__(self, program, constants):
        self.program, self.constants, self.known = program, constants, {}

    def microseconds(self, collective, ranks, size, label):
        """None: it has no row for the algorithm."""
        row, options = asked(label)
        call = (collective, size, ranks, tuple(options))
        if call not in self.known:
            words = [*self.constants, *options]
            self.known[call] = candidates.predicted(self.program, collective, size, ranks, words)
        return self.known[call].get(row)


def run_of(folder):
    """The journal of a run of numacoll-tune: its first line, and the records of the launches that
    measured candidates, which a run with --quick makes once, as its first ones."""
    path = pathlib.Path(folder) / "journal"
    if not path.exists():
        fail(f"{folder}: no journal of numacoll-tune is there")
    text = path.read_text()
    head, *records = [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
    stages = ("candidates", "first")
    return head, [r for r in records if r["stage"] in stages and "cells" in r]


def measured(head, records):
    """Microseconds, medians of the launches, by collective, ranks, bytes and algorithm. Ranks that
    outnumber processors are left out: the model knows nothing of them."""
    crowded, times = dict(zip(head["run"]["ranks"], head["oversubscribed"])), {}
    others = (candidates.AGAIN, candidates.MPICH)  # one of ours once more, and none of ours
    for record in records:
        ranks = head["groups"][record["group"]][0]
        for collective, size, label, us, _ in record["cells"]:
            if not crowded[ranks] and label not in others:
                times.setdefault((collective, ranks, size, label), []).append(us)
    return collections.OrderedDict((cell, statistics.median(us)) for cell, us in times.items())


def kept_times(kept):
    return {
        (r["collective"], int(r["ranks"]), int(r["bytes"]), r["algorithm"]): float(r["median_us"])
        for r in kept.rows(FILE)
    }


def model(o):
    """Predicts the times of a run of numacoll-tune; without one those that are kept, once more.
    What predicts is --build; what was measured, which may be another build, --measured-by names."""
    build, kept = Build(o.build), set_of(o)
    if o.tuned and not o.measured_by:
        fail("--measured-by NAME: the build that numacoll-tune has measured, its commit")
    if o.tuned:
        head, records = run_of(o.tuned)
        times, constants, run = measured(head, records), head["model"], head["run"]
        kept.measured_on(records[0]["machine"])
        ranks = ",".join(map(str, run["ranks"]))
        command = f"numacoll-tune -n {ranks} --launches {run['launches']}; numacoll-model predict "
        command += f"COLLECTIVE SIZE {' '.join(constants)}"
        about = {"command": command, "date": head["date"][:10], "measured_by": o.measured_by}
    elif FILE not in kept.files:
        fail(f"set {kept.name} has no times yet: name a folder of numacoll-tune")
    else:
        about = dict(kept.files[FILE])
        times, constants = kept_times(kept), about.pop("model")
    of, rows = Model(build.prefix + "/bin/numacoll-model", constants), []
    for cell, us in times.items():
        predicted = of.microseconds(*cell)
        said = "" if predicted is None else f"{predicted:.2f}"
        rows.append({**dict(zip(COLUMNS, cell)), "median_us": f"{us:.2f}", "predicted_us": said})
    about.update(title="predicted", model=constants, numacoll=build.name)
    kept.keep(FILE, rows, **about)
    print(tables.table_of(kept, [FILE]))
