"""What a run has done so far: a journal, to which every launch is appended at once, so that a run
that was interrupted goes on from it. The first line says of what run it is."""
import errno
import fcntl
import json
import os


HEAD = b'{"run": {'  # how a journal begins


class OtherRun(Exception):
    """The journal is of a run with other arguments, or on another machine."""


class NoJournal(Exception):
    """The file is somebody else's, or another run writes to it."""


class Journal:
    """run: what tells runs apart. head: the first line, with the key `run`; describe() gives its
    other keys, and is asked only if there is no journal yet. records: of each launch that is done.
    before: the seconds that earlier runs have taken, by the lines."""

    def __init__(self, path, run, describe):
        self.path = path
        self.file = open(str(path), "a")
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise NoJournal("another numacoll-tune is writing to it")
        except OSError as problem:  # a file system without locks, as some of clusters are mounted
            if problem.errno not in (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP):
                raise
        lines = self.whole_lines()
        try:
            self.head = lines[0] if lines else {"run": run, **describe()}
        except BaseException:  # there is nothing to go on from
            os.unlink(str(path))
            raise
        self.records = lines[1:]
        if not all(isinstance(r, dict) for r in self.records):
            raise NoJournal("it has lines that numacoll-tune does not write")
        self.before = sum(line.get("seconds", 0) for line in lines)
        if self.head["run"] != run:
            raise OtherRun(difference(self.head["run"], run))
        if not lines:
            self.write(self.head)

    def whole_lines(self):
        """The lines; one whose end is missing, because the process was ended while it wrote it, is
        cut off the file."""
        text = self.path.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        if not text.startswith(HEAD[: len(text)]):
            raise NoJournal("it is not a journal of numacoll-tune")
        try:
            lines = [json.loads(line) for line in whole.decode().splitlines()]
        except ValueError as problem:
            raise NoJournal(str(problem))
        if whole != text:
            os.truncate(str(self.path), len(whole))
        return lines

    def write(self, value):
        self.file.write(json.dumps(value) + "\n")
        self.file.flush()
        os.fsync(self.file.fileno())

    def append(self, record):
        self.write(record)
        self.records.append(record)


def difference(one, other):
    """The first key in which two runs differ."""
    for key in sorted(set(one) | set(other)):
        if one.get(key) != other.get(key):
            return f"{key}: {one.get(key)} there, {other.get(key)} here"
    return ""
