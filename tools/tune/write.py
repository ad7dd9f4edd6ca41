"""MPICH's selection files from what was decided. Only this module knows their form.

What was chosen is for communicators of exactly as many ranks as were measured, all on one node;
others, and larger messages, keep the default. Between two sizes that were measured the choice
changes at their geometric mean. The files of MPICH's device and of MPICH itself have the same
conditions: where numacoll is chosen the device passes the call on, where MPICH's own choice is,
both have MPICH's own."""
import copy
import json
import math
import os

from . import candidates

LEVELS = {
    "mpir": "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE",
    "ch4": "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE",
    "posix": "MPIR_CVAR_CH4_POSIX_COLL_SELECTION_TUNING_JSON_FILE",
}
COLLECTIVES = "MPIR_CVAR_NUMACOLL_COLLECTIVES"
# The condition by which MPICH can tell messages apart such that all ranks agree, and how many bytes
# of it a call has: those of a rank, or of all ranks. MPICH has none for the other collectives.
PER_RANK, OF_ALL = "avg_msg_size", "total_msg_size"
SIZED = {
    **{name: PER_RANK for name in "bcast reduce allreduce alltoall".split()},
    **{name: OF_ALL for name in "allgather allgatherv reduce_scatter reduce_scatter_block".split()},
}


def read(folder):
    """The three files of a folder: {level: content}."""
    return {level: json.loads((folder / (level + ".json")).read_text()) for level in LEVELS}


def entry(collective, label):
    """The csel entry of numacoll."""
    name = f"algorithm=MPIR_{collective.capitalize()}_intra_numacoll"
    return {name: {parameter: {} for parameter in candidates.parameters_of(label)}}


def rows_of(choices):
    """[(choice, its largest size)] of rows of equal choices. choices: [(size, choice)]."""
    rows = []
    for size, choice in choices:
        if rows and rows[-1][0] == choice:
            rows.pop()
        rows.append((choice, size))
    return rows


def over_sizes(collective, ranks, choices, leaf, default):
    """The conditions on the size. leaf: what is below them, for a choice."""
    condition = SIZED.get(collective)
    if not condition:
        return leaf(choices[0][1])
    rows = [(leaf(choice), size) for choice, size in rows_of(choices)]
    if rows[-1][0] == default:
        rows.pop()
    times = ranks if condition == OF_ALL else 1
    sizes = [size for size, _ in choices] + [choices[-1][0]]
    tree = {}
    for below, size in rows:
        # up to the middle between this size and the next; the last one up to itself
        middle = math.sqrt(size * sizes[sizes.index(size) + 1])
        tree[f"{condition}<={int(middle) * times}"] = below
    tree[condition + "=any"] = default
    if collective == "alltoall":  # in place the size means nothing
        return {"is_sendbuf_inplace=yes": default, "is_sendbuf_inplace=no": tree}
    return tree


def over_ranks(collective, decided, leaf, default):
    """The conditions on the communicator. decided: {ranks: [(size, choice)]}."""
    tree, covered = {}, 1
    for ranks, choices in sorted(decided.items()):
        if all(choice == candidates.DEFAULT for _, choice in choices):
            continue
        if covered < ranks - 1:
            tree[f"comm_size<={ranks - 1}"] = default
        tree[f"comm_size<={ranks}"] = over_sizes(collective, ranks, choices, leaf, default)
        covered = ranks
    return {**tree, "comm_size=any": default} if tree else default


def on_one_node(tree, default):
    """The tree, for communicators with all ranks on one node; below comm_hierarchy=parent."""
    one = {"comm_size=node_comm_size": tree, "comm_size=any": default}
    return default if tree == default else one


def served(mpir):
    """The collectives that a file lets numacoll serve."""
    names = [key[len("collective=") :] for key in mpir]
    ours = {name: entry(name, candidates.DEFAULT) for name in names}
    return [name for name in names if intra(mpir, name).get("comm_hierarchy=parent") == ours[name]]


def intra(file, collective):
    """What a file says of a collective on intracommunicators."""
    tree = file["collective=" + collective]
    return tree.get("comm_type=intra", tree)


def selection_files(decided, base, own):
    """{level: content}. decided: {collective: {ranks: [(size, label)]}}; base: the files in which
    numacoll serves everything; own: those with MPICH's own choices."""
    files = copy.deepcopy({"mpir": base["mpir"], "ch4": base["ch4"], "posix": own["posix"]})
    for collective, of_ranks in decided.items():
        choices = {label for chosen in of_ranks.values() for _, label in chosen}
        ours = intra(files["mpir"], collective)["comm_hierarchy=parent"]

        def serving(label):
            mpichs = label == candidates.MPICH
            return intra(own["mpir"], collective) if mpichs else entry(collective, label)

        tree = over_ranks(collective, of_ranks, serving, ours)
        here = intra(files["mpir"], collective)
        here["comm_hierarchy=parent"] = on_one_node(tree, ours)
        # what MPICH's own choice for the communicator does among the ranks of a node
        if "comm_hierarchy=node" in here:
            here["comm_hierarchy=node"] = tree
        if candidates.MPICH in choices:
            let_through(files["ch4"], own["ch4"], collective, of_ranks)
    return files


def let_through(ch4, own, collective, of_ranks):
    """Changes the device's file: MPICH's own choices there where they are chosen."""
    passed_on = intra(ch4, collective)

    def device(label):
        return intra(own, collective) if label == candidates.MPICH else passed_on

    where = {
        ranks: [(s, c if c == candidates.MPICH else candidates.DEFAULT) for s, c in choices]
        for ranks, choices in of_ranks.items()
    }
    tree = over_ranks(collective, where, device, passed_on)
    tree = {
        "comm_hierarchy=parent": on_one_node(tree, passed_on),
        "comm_hierarchy=any": passed_on,
    }
    key = "collective=" + collective
    if "comm_type=intra" in ch4[key]:
        ch4[key]["comm_type=intra"] = tree
    else:
        ch4[key] = tree


def replace(folder, contents):
    """Writes files of JSON. All of them are replaced at the end, so that a run that is interrupted
    while it writes leaves those that were there. contents: {name: content}."""
    fresh = {folder / (name + ".new"): content for name, content in contents.items()}
    try:
        for path, content in fresh.items():
            path.write_text(json.dumps(content, indent=1) + "\n")
        for path in fresh:
            os.replace(str(path), str(path.with_suffix("")))
    finally:
        for path in fresh:
            if path.exists():
                path.unlink()


def write(folder, decided, base, own):
    """Writes the three files."""
    contents = selection_files(decided, base, own)
    replace(folder, {level + ".json": content for level, content in contents.items()})


def files(folder):
    """The variables with which MPICH reads the files of a folder."""
    return {name: str(folder / (level + ".json")) for level, name in LEVELS.items()}


def settings(folder):
    """All variables that use a folder: the collectives that have the default everywhere do not look
    into the files, which would take time in every call."""
    default = served(read(folder)["mpir"])
    return {**files(folder), **({COLLECTIVES: ",".join(default)} if default else {})}
