"""A control group (cgroup v2) that limits all processes of one run together, if this user may create one.

The kernel enforces it without delay.  Without it `engine.run.run_limits` alone limits the run: only a group whose
parent passes the memory and pids controllers on is usable, and only its owner can create one there.  A group in use is
locked, so that no other run removes it as a leftover, whatever process that run belongs to.
Source: the kernel's Documentation/admin-guide/cgroup-v2.rst.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from pathlib import Path

_MOUNT, _OWN = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
_PREFIX = "kgtui-"


class ControlGroup:
    """A limited group of processes; `open_group` creates it, `close` removes it.

    `lock` is a descriptor of its folder that holds a lock on it, closed with the group.
    """

    def __init__(self, folder: Path, *, lock: int | None = None) -> None:
        self._folder = folder
        self._lock = lock

    def add(self, pid: int) -> bool:
        """Move a process and its future children into the group; returns whether the kernel did so."""
        try:
            (self._folder / "cgroup.procs").write_text(str(pid))
        except OSError:
            return False
        return True

    @property
    def ran_out_of_memory(self) -> bool:
        """Whether the kernel killed a process because the group reached its limit."""
        with contextlib.suppress(OSError, ValueError):
            events = dict(line.split() for line in (self._folder / "memory.events").read_text().splitlines())
            return int(events.get("oom_kill", 0)) > 0
        return False

    def close(self) -> None:
        """Kill the remaining processes of the group and remove it.  Safe to call twice."""
        with contextlib.suppress(OSError):
            (self._folder / "cgroup.kill").write_text("1")
        with contextlib.suppress(OSError):  # still in use by a process being killed: `open_group` removes it later
            self._folder.rmdir()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def open_group(*, memory_bytes: int, threads: int, mount: Path = _MOUNT, own: Path = _OWN) -> ControlGroup | None:
    """A new group beside that of this process, with limits for all its processes together; None if impossible."""
    parent = _parent_of_own(mount, own)
    if parent is None:
        return None
    _remove_empty(parent)
    folder = parent / f"{_PREFIX}{secrets.token_hex(8)}"
    try:
        folder.mkdir()
        lock = _locked(folder)
    except OSError:
        return None
    limits = {"memory.max": memory_bytes, "memory.swap.max": 0, "memory.oom.group": 1, "pids.max": threads}
    try:
        for name, value in limits.items():
            if name == "memory.swap.max" and not (folder / name).exists():
                continue  # the kernel has no swap accounting
            (folder / name).open("r+").close()  # fails for a missing controller instead of creating a file
            (folder / name).write_text(str(value))
    except OSError:
        with contextlib.suppress(OSError):
            folder.rmdir()
        os.close(lock)
        return None
    return ControlGroup(folder, lock=lock)


def _parent_of_own(mount: Path, own: Path) -> Path | None:
    """The group above that of this process in the version 2 hierarchy; None if none is visible."""
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return None
    path = next((line.removeprefix("0::") for line in lines if line.startswith("0::")), "/")
    folder = mount / path.strip("/")
    if path == "/" or not (folder / "cgroup.procs").exists():
        return None
    return folder.parent


def _locked(folder: Path) -> int:
    """A descriptor of the folder with a lock on it.

    Raises:
        OSError: the folder does not exist, or another descriptor has the lock.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise
    return handle


def _remove_empty(parent: Path) -> None:
    """Remove groups of runs that ended while their last process was still being killed, or with their engine."""
    for folder in parent.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            lock = _locked(folder)
            try:
                if not (folder / "cgroup.procs").read_text().strip():
                    folder.rmdir()
            finally:
                os.close(lock)
