"""A folder of tuned files: MPICH's selection files, whatever is in them, and machine.json, which
says for which machine they are and has their checksums. libmpi looks for such a folder, by the name
of the machine, where COLLECTIVES=tuned is set (mpich/tuned.h)."""
import errno
import hashlib
import json
import os
import re
import shutil

from . import write

FILES = tuple(level + ".json" for level in write.LEVELS)
ABOUT = "machine.json"


class Unusable(Exception):
    """One line."""


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def describe(folder, about):
    """Writes machine.json: `about` with the checksums of the files that are there."""
    sums = {name: sha256(folder / name) for name in FILES}
    write.replace(folder, {ABOUT: {**about, "sha256": sums}})


def described(folder):
    """What machine.json says, if the files are those that it describes."""
    try:
        about = json.loads((folder / ABOUT).read_text())
        changed = [name for name in FILES if sha256(folder / name) != about["sha256"][name]]
        named = about["machine"] is None or re.fullmatch(r"[\w+-][\w.+-]*", about["machine"])
        if not isinstance(about["chosen"], list) or not named:
            raise ValueError
    except OSError as problem:
        raise Unusable(f"{problem.filename}: {problem.strerror}")
    except (ValueError, KeyError, TypeError):
        raise Unusable(f"{folder / ABOUT} is not what numacoll-tune writes")
    if changed:
        raise Unusable(f"{folder / changed[0]} was changed since numacoll-tune wrote it")
    return about


def says_what_was_measured(about, most):
    """Whether machine.json says what was measured, for numacoll-tune to launch it again. most:
    ranks."""

    def lists(key, kind):
        values = about.get(key)
        return isinstance(values, list) and all(type(value) is kind for value in values)

    return (
        all(lists(key, str) for key in ("collectives", "chosen"))
        and all(lists(key, int) and about[key] for key in ("ranks", "sizes"))
        and all(2 <= n <= most for n in about["ranks"])
        and (
            about.get("launcher", 0) is None or (lists("launcher", str) and about["launcher"] != [])
        )
        and isinstance(about.get("variables", {}), dict)
    )


def machine_of(names):
    """The machine of files, from those that launches were on: None if they differ, or if the
    library does not tell."""
    names = set(names)
    return names.pop() if len(names) == 1 and "" not in names else None


def install(folder, above):
    """Copies the files of a folder to that of their machine in the folder `above`; returns it. Jobs
    that begin meanwhile have the old files or none."""
    machine = described(folder)["machine"]
    if not machine:
        raise Unusable(
            f"{folder}: was not measured on one machine: tune numbers of ranks that outnumber the "
            "processors apart from others"
        )
    place = above / machine
    fresh, old = above / (machine + ".new"), above / (machine + ".old")
    try:
        if not above.is_dir():
            above.mkdir(parents=True)
            above.chmod(0o755)  # whatever the umask: jobs of all users read it
        for left_over in (fresh, old):
            shutil.rmtree(str(left_over), ignore_errors=True)
        fresh.mkdir()
        fresh.chmod(0o755)
        for name in (*FILES, ABOUT):
            shutil.copyfile(str(folder / name), str(fresh / name))
            (fresh / name).chmod(0o644)
        if place.exists():
            os.rename(str(place), str(old))
        os.rename(str(fresh), str(place))
        shutil.rmtree(str(old), ignore_errors=True)
    except OSError as problem:
        shutil.rmtree(str(fresh), ignore_errors=True)
        full = problem.errno in (errno.ENOSPC, errno.EDQUOT)  # the name is then the other file's
        raise Unusable(f"{fresh if full else problem.filename}: {problem.strerror}")
    return place
