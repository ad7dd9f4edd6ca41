"""What the pages show of kept files: tables between the markers, and the pictures."""
import re
import sys

from . import pictures, plan
from .sets import Set, all_sets
from .tables import machine_text, table_of


# The files of the commands that measure files by name
PLANNED = {
    p.file for of in (plan.RUNS, plan.COMPARED, plan.WAITS, plan.PEERS, plan.VARIANTS) for p in of
}
UNMEASURED = "Not measured yet"  # so begins what a page has in the place of such a file's table


def commands_text(kept):
    lines = []
    for file, about in kept.files.items():
        settings = "".join(f"'{k}={v}' " for k, v in about.get("settings", {}).items())
        lines.append(f"    {file}: {settings}{about['command']}")
    return "\n".join(lines)


def description(kept):
    return f"{machine_text(kept)}.\n\n{commands_text(kept)}"


def whole(kept):
    """A set that the page does not describe by hand."""
    parts = [f"### {kept.name}", description(kept)]
    for file, about in kept.files.items():
        parts += [f"{file}, {about['title']}:", table_of(kept, [file])]
    return "\n\n".join(parts)


def marked(kind):
    """What is between the markers <!-- KIND WORDS.. --> and <!-- end --> of a page: a match has the
    first marker, the words, the text and the last marker."""
    return re.compile(rf"(<!-- {kind} (.*?) -->\n)(.*?)(<!-- end -->)", re.S)


def filled(text, kind, make):
    """A page's text with what `make` returns for each marker below the marker; where that is None
    the text stays. make: of the text below the marker now, and the marker's words."""

    def fill(m):
        made = make(m[3].strip("\n"), *m[2].split())
        return m[0] if made is None else f"{m[1]}\n{made}\n\n{m[4]}"

    return marked(kind).sub(fill, text)


def measured(text, top):
    """A page's text with its tables from the files; where it says of a file that is planned that it
    is not measured yet, and that is so, it stays.

    <!-- measure SET FILE.. -->: a table; <!-- measure SET -->: machine and commands; <!-- measure
    others -->: the sets that no marker of the page names"""
    named = {m[2].split()[0] for m in marked("measure").finditer(text)}

    def make(shown, name, *files):
        kept = Set(top / "doc/measurements" / name)
        if name == "others":
            return "\n\n".join(whole(s) for s in all_sets(top) if s.name not in named) or "None."
        missing = set(files) - set(kept.files)
        if kept.files and not missing:
            return table_of(kept, files) if files else description(kept)
        if missing - PLANNED or not shown.startswith(UNMEASURED):
            what = ", ".join(sorted(missing)) or "machine and commands"
            sys.exit(f"measure: {what}: shown by a page, not in set {name}")
        return None

    return filled(text, "measure", make)


def tables(o):
    pages = [o.top / "README.md", o.top / "doc/measurements.md"]
    changed = {p: measured(p.read_text(), o.top) for p in pages}
    changed = {p: text for p, text in changed.items() if text != p.read_text()}
    if o.check and changed:
        sys.exit(f"{', '.join(p.name for p in changed)}: run maint/measure tables")
    if not o.check:
        for page, text in changed.items():
            page.write_text(text)
        pictures.draw(o.top)
