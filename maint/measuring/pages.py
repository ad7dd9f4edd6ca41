"""What the pages show of kept files: tables between the markers, and the pictures."""
import re
import sys

from . import pictures
from .sets import Set, all_sets
from .tables import machine_text, table_of


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


# <!-- measure SET FILE.. -->: a table; <!-- measure SET -->: machine and commands;
# <!-- measure others -->: the sets that no marker of the page names
MARKED = re.compile(r"(<!-- measure (.*?) -->\n)(.*?)(<!-- end -->)", re.S)


def filled(text, top):
    """A page's text with new text between its markers; where there are no files yet it stays."""
    named = {m[2].split()[0] for m in MARKED.finditer(text)}

    def fill(m):
        name, *files = m[2].split()
        kept = Set(top / "doc/measurements" / name)
        if name == "others":
            made = "\n\n".join(whole(s) for s in all_sets(top) if s.name not in named) or "None."
        elif not kept.files or set(files) - set(kept.files):
            return m[0]
        else:
            made = table_of(kept, files) if files else description(kept)
        return f"{m[1]}\n{made}\n\n{m[4]}"

    return MARKED.sub(fill, text)


def tables(o):
    pages = [o.top / "README.md", o.top / "doc/measurements.md"]
    changed = {p: filled(p.read_text(), o.top) for p in pages}
    changed = {p: text for p, text in changed.items() if text != p.read_text()}
    if o.check and changed:
        sys.exit(f"{', '.join(p.name for p in changed)}: run maint/measure tables")
    if not o.check:
        for page, text in changed.items():
            page.write_text(text)
        pictures.draw(o.top)
