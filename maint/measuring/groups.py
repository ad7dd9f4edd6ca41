"""A scheduling group of its own for a job: a cgroup, with or without a quota."""
import contextlib
import os
import pathlib
import signal
import time

NAME = "numacoll-measure."  # and the process that made it
PERIOD = 100000  # us


def own_paths():
    """The cgroup of this process by controller; "" is the one of version 2."""
    paths = {}
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        paths.update(dict.fromkeys(controllers.split(","), path))
    return paths


def mounts(kind, controller):
    for line in pathlib.Path("/proc/mounts").read_text().splitlines():
        _, folder, of, how = line.split()[:4]
        if of == kind and (not controller or controller in how.split(",")):
            yield folder


def parents(kind, controller):
    """Where a group could be made: below this process's cgroup, or below the topmost."""
    path = own_paths().get(controller)
    if path is None:
        return []
    folders = [pathlib.Path(f) for mount in mounts(kind, controller) for f in (mount + path, mount)]
    return [f for f in folders if f.exists()]


def parent_of_groups():
    """With the controller cpu; and the version of cgroups."""
    first = parents("cgroup", "cpu")
    if first:
        return first[0], 1
    for folder in parents("cgroup2", ""):
        if "cpu" in (folder / "cgroup.subtree_control").read_text().split():
            return folder, 2
    raise OSError("no cgroup gives the controller cpu to its children")


class Group:
    def __init__(self, quota):
        parent, version = parent_of_groups()
        remove_stale(parent)
        self.folder = parent / f"{NAME}{os.getpid()}"
        self.folder.mkdir()
        try:
            self.limit(quota, version)
        except OSError:
            self.folder.rmdir()
            raise

    def limit(self, quota, version):
        """To so many processors; None: to none."""
        us = quota and int(quota * PERIOD)
        if version == 1:
            (self.folder / "cpu.cfs_period_us").write_text(str(PERIOD))
            (self.folder / "cpu.cfs_quota_us").write_text(str(us or -1))
        else:
            (self.folder / "cpu.max").write_text(f"{us or 'max'} {PERIOD}")

    def join(self):
        """Called by a child before it becomes another program."""
        (self.folder / "cgroup.procs").write_text("0")

    def remove(self):
        """With what is left in it, which only a job that was killed leaves."""
        for _ in range(100):
            for pid in (self.folder / "cgroup.procs").read_text().split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
            with contextlib.suppress(OSError):
                return self.folder.rmdir()
            time.sleep(0.05)
        print(f"measure: {self.folder} could not be removed")


def remove_stale(parent):
    """Groups of measurements that were killed."""
    for folder in parent.glob(NAME + "*"):
        if not os.path.exists("/proc/" + folder.name[len(NAME) :]):
            with contextlib.suppress(OSError):
                folder.rmdir()


@contextlib.contextmanager
def made(quota=None):
    group = Group(quota)
    try:
        yield group
    finally:
        group.remove()


def why_not():
    """Why no group can be made; None if it can."""
    try:
        with made(1):
            return None
    except OSError as error:
        return str(error)
