"""What is measured for a collective: algorithms as numacoll-bench names them, which a csel entry of
MPICH's selection files can express. The first is the default; the second is the default once more,
on a communicator of its own, so that its ratio to the first is what chance does."""
import collections
import json
import re
import subprocess

DEFAULT = "numacoll"
AGAIN = "again"  # the default once more; numacoll-bench knows it by another name, see again()
MPICH = "auto"  # MPICH's own choice, its device included

# ---- what the environment sets ----

PREFIX = "MPIR_CVAR_NUMACOLL_"
# MPICH's other prefixes, the weakest first
OTHER_PREFIXES = ("MPICH_NUMACOLL_", "MPIR_PARAM_NUMACOLL_")
# The defaults of the parameters that are tried, as cvars.yaml has them, and of a slot's bytes
BY_DEFAULT = {
    "fragment_rule": "quarter",
    "bcast_tree": "auto",
    "bcast_tree_k": "8",
    "bcast_group": "*:auto",
    "reduce_group": "*:auto",
    "allreduce_version": "auto",
    "barrier": "auto",
    "streaming": "-1",
}
SLOT = 32768
# Variables that change no time: numacoll-bench sets the first one itself, the others are about
# files and reports
NO_TIME = "collectives tuned_folder report report_file report_waits".split()


def variables_of(environment):
    """The variables of numacoll that an environment sets: {name in lower case: value}."""
    ours = {k: v for k, v in sorted(environment.items()) if k.startswith(PREFIX)}
    return {k[len(PREFIX) :].lower(): v for k, v in ours.items()}


def names_of(variable):
    """The names under which MPICH knows a variable of numacoll."""
    return [prefix + variable[len(PREFIX) :] for prefix in (*OTHER_PREFIXES, PREFIX)]


def without(variable, environment, launcher):
    """The command that measures without a variable that the environment, the launcher's command or
    else the site's file sets."""
    names = names_of(variable)
    given = [word for word in launcher if word.split("=")[0] in names]
    if given:
        return f"numacoll-tune --launcher CMD, without {' '.join(given)} in CMD,"
    unset = "".join(f" -u {name}" for name in names if name in environment)
    return f"env{unset or ' NUMACOLL_CONF='} numacoll-tune"


def under_one_name(environment):
    """({MPIR_CVAR_NUMACOLL_..: value}, the names given) of the variables of numacoll that an
    environment sets only under another of the names that MPICH knows."""
    found, given = {}, []
    for prefix in OTHER_PREFIXES:
        for name in sorted(name for name in environment if name.startswith(prefix)):
            ours = PREFIX + name[len(prefix) :]
            if ours not in environment:
                found[ours] = environment[name]
                given.append(name)
    return found, given


def otherwise(then, now):
    """{variable: (value then, value now)} of those that can change a time, None where it is not
    set, of two environments."""
    then, now = variables_of(then), variables_of(now)

    def differs(name):
        of_old, of_new = (v.get(name, BY_DEFAULT.get(name)) for v in (then, now))
        return of_old != of_new and name not in NO_TIME

    return {
        PREFIX + name.upper(): (then.get(name), now.get(name))
        for name in filter(differs, sorted({**then, **now}))
    }


def again(variables):
    """AGAIN for numacoll-bench: the default with a parameter that has the value which it has
    anyway."""
    rule = variables.get("fragment_rule", BY_DEFAULT["fragment_rule"])
    return "numacoll:fragment_rule=" + rule


def set_elsewhere(environment, said):
    """The variables of numacoll that ranks have, but not this process: those of the site's file and
    of the launcher, by whichever of MPICH's names it sets them. environment: of this process; said:
    what numacoll-bench says that ranks have, in which COLLECTIVES is its own."""
    said = {**said, **under_one_name(said)[0]}
    ours = {k: v for k, v in said.items() if k.startswith(PREFIX) and k != PREFIX + "COLLECTIVES"}
    return {k: v for k, v in sorted(ours.items()) if k not in environment}


# ---- candidates ----

MOVING = ["fragment_rule=fixed", "fragment_rule=sqrt"]
BARRIERS = "central flat flat_gr combining mcs tournament dissemination hierarchical"
# of a collective the parameters that are tried, one at a time, on any number of ranks, and those
# that make no difference to two ranks; beside them STREAMING, of all that move data
Settings = collections.namedtuple("Settings", "all from_three")
SETTINGS = {
    "barrier": Settings(["barrier=" + name for name in BARRIERS.split()], []),
    "bcast": Settings(
        MOVING,
        ["bcast_tree=flat", "bcast_tree=kary:bcast_tree_k=2", "bcast_tree=chain"]
        + ["bcast_group=*:" + tree for tree in ("kary/2", "knomial/2", "chain")],
    ),
    "reduce": Settings(
        ["fragment_rule=fixed", "reduce_group=*:chain_all"],
        ["reduce_group=*:" + tree for tree in ("flat", "knomial/2", "kary/2")],
    ),
    "allreduce": Settings(
        ["allreduce_version=" + version for version in ("symmetric", "sliced", "rb")], []
    ),
    **{
        name: Settings(MOVING, [])
        for name in "scatter scatterv gather gatherv allgather allgatherv".split()
    },
}
OTHERS = Settings([], [])
# Collectives that a parameter changes, but which have no candidate for it: they move data in
# fragments; Allreduce may reduce and broadcast (rb)
UNTRIED_IN = {
    "fragment_rule": "allreduce alltoall alltoallv alltoallw reduce_scatter reduce_scatter_block "
    "scan exscan".split(),
    **dict.fromkeys("bcast_tree bcast_tree_k bcast_group reduce_group".split(), ["allreduce"]),
}
# STREAMING: above so many bytes a writer measures which stores are faster, and a reader streams
# what it receives; by default above NC_PACES_ABOVE, and above the reader's share of the last-level
# cache. Tried are never, and one threshold by which readers stream sooner:
# * where the choice may depend on the size, that of writers, who then do as by default. The sizes
#   at which it is chosen are any higher threshold of readers.
# * where one choice is for all sizes, 64 KiB: so much is in no first-level cache when the reader
#   looks at it, whatever the stores. Judgement, not measured. Up to it nothing streams, as with 0.
NEVER, WRITERS, LONG = 0, 4095, 65536  # bytes
# where readers stream nothing, whatever the threshold, on more than two ranks; and on two (of one
# NUMA node)
NOT_ON_MORE, NOT_ON_TWO = ("reduce_scatter", "reduce_scatter_block"), ("allreduce",)
# parameters for which numacoll-model predict has no rows
UNPREDICTED = ("fragment_rule", "fragment_size", "streaming")
# its rows, where they are not called as the parameter's value
ROWS = {
    "bcast_tree=flat": "flat, notice flat",
    "bcast_tree=kary:bcast_tree_k=2": "flat, notice kary/2",
    "bcast_tree=chain": "flat, notice chain",
}


def parameters_of(label):
    """The parameters of an algorithm, NAME=VALUE each. A colon begins one only if NAME= follows."""
    return re.split(r":(?=\w+=)", label)[1:]


def thresholds(collective, ranks, largest, sized):
    """The values of STREAMING that are tried, if sizes are at most `largest` bytes: those that can
    make a difference. No more is compared with them than that of all ranks together."""
    streams = collective not in (NOT_ON_TWO if ranks == 2 else NOT_ON_MORE)
    tried = [NEVER, *([WRITERS if sized else LONG] if streams else [])]
    return [t for t in tried if ranks * largest > max(t, WRITERS)]


def values_of(setting):
    """{parameter: value}."""
    return dict(p.split("=", 1) for p in parameters_of("numacoll:" + setting))


def restoring(settings, largest, variables):
    """The settings that give a parameter of `settings` its default where a variable has another
    value. The size of fragments is such a parameter only where slots are longer than by default:
    a fragment is at most a slot, and an entry cannot make slots longer."""
    names = dict.fromkeys(name for setting in settings for name in values_of(setting))
    changed = [n for n in names if variables.get(n, BY_DEFAULT[n]) != BY_DEFAULT[n]]
    slot = variables.get("fragment_size", "")
    long_slots = slot.isdigit() and int(slot) > SLOT and largest > SLOT
    size = [f"fragment_size={SLOT}"] if long_slots else []
    return [f"{name}={BY_DEFAULT[name]}" for name in changed] + size


def of(collective, ranks, largest, sized, oversubscribed, variables={}):
    """The labels for a collective. largest: bytes, as numacoll-bench takes a size; sized: whether
    the choice may depend on it; variables: as variables_of returns them. What these have already
    is no candidate. Where ranks outnumber processors MPICH's own choice is none: a call may take it
    a thousand times as long, and its waits are not those that it would have."""
    settings = SETTINGS.get(collective, OTHERS)
    tried = settings.all + (settings.from_three if ranks > 2 else [])
    tried = tried + [f"streaming={t}" for t in thresholds(collective, ranks, largest, sized)]
    new = [setting for setting in tried if not values_of(setting).items() <= variables.items()]
    new += restoring(tried, largest, variables)
    own = [] if oversubscribed else [MPICH]
    return [DEFAULT, AGAIN, *own, *("numacoll:" + setting for setting in new)]


def untried(variables, collectives):
    """{name: those of the collectives that it may change, but have no candidate which undoes it},
    of variables that are not as by default. FRAGMENT_SIZE is one: it makes the slots, in whatever
    fragments a message goes through them."""
    stays = {}
    for name, value in variables.items():
        if name not in NO_TIME and value != BY_DEFAULT.get(name):
            of = UNTRIED_IN.get(name, []) if name in BY_DEFAULT else collectives
            stays[name] = [collective for collective in collectives if collective in of]
    return {name: of for name, of in stays.items() if of}


# ---- narrowing by the model ----


def predicted(model, collective, size, ranks, words):
    """Microseconds by name of a row of numacoll-model, and by DEFAULT those of its choice; empty if
    it does not know the collective. words: options more, the constants."""
    what = [collective] if collective == "barrier" else [collective, str(size)]
    done = subprocess.run(
        [model, "predict", *what, "-n", str(ranks), "--json", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        universal_newlines=True,
    )
    rows = json.loads(done.stdout)["rows"] if done.returncode == 0 else []
    times = {row.get("inside", row.get("barrier")): row["us"] for row in rows}
    chosen = [row["us"] for row in rows if row["choice"] == "auto"]
    return {**times, DEFAULT: chosen[0] if chosen else min(times.values())} if times else {}


def row_of(label):
    """The name of the row that predicts an algorithm, or None if none does."""
    setting = label[len("numacoll:") :]
    name, _, value = setting.partition("=")
    if not name or name in UNPREDICTED or value == BY_DEFAULT.get(name):
        return None
    return ROWS.get(setting, value.replace("*:", ""))


def prediction(times, label):
    """Microseconds of an algorithm, or None. times: as `predicted` returns them."""
    return times.get(label if label == DEFAULT else row_of(label))


def narrowed(labels, predictions, factor):
    """The labels without those that the model has no row for, because they cannot be on this
    machine, and without those that it predicts to take at every size more than `factor` times as
    long as the best. predictions: of each size what `predicted` returns. factor None: times do not
    count."""
    rows = [p for p in predictions if p]

    def stays(label):
        row = row_of(label)
        if row is None or not rows:
            return True
        times = [(p[row], min(p.values())) for p in rows if row in p]
        return any(factor is None or us <= factor * best for us, best in times)

    return [label for label in labels if stays(label)]
