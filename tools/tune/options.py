"""The command line of numacoll-tune."""
import argparse
import os
import pathlib
import re
import shlex
import shutil
import tempfile

LARGEST = 1 << 30  # bytes
MOST_RANKS = 4096
SIZES, QUICK_SIZES = "4,16,64,256,1K,4K,16K,64K,256K,1M", "4,64,1K,16K,256K,1M"
LAUNCHES, QUICK_LAUNCHES = 5, 3
MINUTES, QUICK_MINUTES, CHECK_MINUTES = 15, 3, 5
# A candidate that the model predicts to take so many times as long as the best is not measured
FACTOR, QUICK_FACTOR = 4, 2

EPILOG = """Exit status: 0; 1 if nothing could be measured or, with --check, something is slower or
not measured; 2 after a line that says which argument is wrong; 130 after Ctrl-C. The manual is
numacoll-tune(1)."""


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f"numacoll-tune: {message}\n")


def wrong(text, must):
    return argparse.ArgumentTypeError(f"{text}: must be {must}")


def number(low, high):
    def parse(text):
        if not re.fullmatch(r"\d{1,9}", text) or not low <= int(text) <= high:
            raise wrong(text, f"{low} to {high}")
        return int(text)

    return parse


def ranks(text):
    parse = number(2, MOST_RANKS)
    return sorted({parse(word) for word in text.split(",")})


def some_of(names):
    def parse(text):
        words = text.split(",")
        for word in words:
            if word not in names:
                raise wrong(word or text, "one of " + ", ".join(names))
        return [name for name in names if name in words]

    return parse


def size(text):
    found = re.fullmatch(r"(\d{1,10})([KkMm]?)", text)
    value = found and int(found.group(1)) << {"": 0, "K": 10, "M": 20}[found.group(2).upper()]
    if not found or not 1 <= value <= LARGEST:
        raise wrong(text, "bytes, 1 to 1024M, with K or M for units of 1024 or 1024 * 1024")
    return value


def sizes(text):
    """LO:HI, doubling, and single sizes, ascending."""
    found = []
    for word in text.split(","):
        low, _, high = word.partition(":")
        value, last = size(low), size(high or low)
        if last < value:
            raise wrong(word, "LO:HI with LO at most HI")
        while value <= last:
            found.append(value)
            value *= 2
    if found != sorted(set(found)) or len(found) > 64:
        raise wrong(text, "ascending, at most 64 sizes")
    return found


def minutes(text):
    if not re.fullmatch(r"\d{1,5}(\.\d+)?", text) or float(text) <= 0:
        raise wrong(text, "minutes, above 0 and below 100000")
    return float(text)


def folder(text):
    path = pathlib.Path(text).resolve()
    if not (path / "machine.json").is_file():
        raise wrong(text, "a folder that numacoll-tune has written, with machine.json")
    return path


def launcher(text):
    try:
        words = shlex.split(text)
    except ValueError as problem:
        raise wrong(text, f"words of a command: {problem}")
    if not words or not shutil.which(words[0]):
        raise wrong(text, "a command that can be run")
    return words


def page(text):
    if not text.endswith(".html"):
        raise wrong(text, "a name that ends in .html")
    if not shutil.which("gnuplot"):
        raise wrong(text, "left out where there is no gnuplot")
    path = pathlib.Path(text).resolve()
    if not os.access(str(path.parent), os.W_OK) or path.is_dir():
        raise wrong(text, "a file that can be written")
    return path


def named(text):
    if not text:
        raise wrong(text, "the name of a folder")
    return text


def parse(version, collectives, words):
    """collectives: those that there are."""
    p = Parser(
        prog="numacoll-tune",
        description="Measure which settings of numacoll are fastest on this machine, and write "
        "MPICH's selection files.",
        epilog=EPILOG,
        allow_abbrev=False,
    )
    p.add_argument("-n", dest="ranks", type=ranks, metavar="N1,N2", help="numbers of ranks (2)")
    p.add_argument("--collectives", type=some_of(collectives), metavar="A,B", help="(all)")
    p.add_argument("--sizes", type=sizes, metavar="LO:HI,..", help=f"bytes ({SIZES})")
    p.add_argument(
        "--launches", type=number(3, 100), metavar="N", help=f"of everything ({LAUNCHES})"
    )
    p.add_argument(
        "--time",
        type=minutes,
        metavar="MINUTES",
        help=f"at most ({MINUTES}; {CHECK_MINUTES} with --check)",
    )
    p.add_argument(
        "--quick",
        action="store_true",
        help=f"{QUICK_LAUNCHES} launches, {QUICK_MINUTES} minutes, sizes {QUICK_SIZES}",
    )
    p.add_argument("--dry-run", action="store_true", help="only say what would be measured")
    p.add_argument("--report", type=page, metavar="FILE.html", help="also write a page")
    p.add_argument(
        "--output", type=named, metavar="DIR", default="numacoll-tuned", help="(numacoll-tuned)"
    )
    p.add_argument(
        "--check", type=folder, metavar="DIR", help="compare the files of DIR with the default"
    )
    p.add_argument(
        "--install",
        type=folder,
        metavar="DIR",
        help="put the files of DIR where COLLECTIVES=tuned looks for them",
    )
    p.add_argument("--launcher", type=launcher, metavar="CMD", help="the words before -n (mpiexec)")
    p.add_argument("--version", action="version", version="numacoll-tune " + version)
    o = p.parse_args(words)
    given = {name for name, value in vars(o).items() if value != p.get_default(name)}
    if o.install and given != {"install"}:
        p.error("--install: takes DIR alone, and measures nothing")
    if o.check and not given <= {"check", "quick", "launches", "time", "launcher"}:
        p.error("--check: measures what its DIR was measured with, without other options for that")
    if o.dry_run and o.report:
        p.error("--report: must not be given with --dry-run, which measures nothing")
    o.ranks = o.ranks or [2]
    o.collectives = o.collectives or collectives
    o.sizes = o.sizes or sizes(QUICK_SIZES if o.quick else SIZES)
    o.launches = o.launches or (QUICK_LAUNCHES if o.quick else LAUNCHES)
    usual = QUICK_MINUTES if o.quick else CHECK_MINUTES if o.check else MINUTES
    o.seconds = 60 * (o.time or usual)
    o.crowded = {}  # {ranks: whether they outnumber the processors}, once that is known
    o.factor = QUICK_FACTOR if o.quick else FACTOR
    o.output = pathlib.Path(o.output).resolve()
    try:
        if not (o.dry_run or o.check or o.install):
            o.output.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=str(o.output)).close()
    except OSError as problem:
        p.error(f"--output: {o.output}: {problem.strerror}")
    return o
