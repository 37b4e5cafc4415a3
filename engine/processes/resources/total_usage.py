"""Resources of the descendants of some processes, as counted by the kernel; one reading, no writes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

_BLOCK_BYTES = 512  # the unit of st_blocks, whatever the file system's own


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Resources in use: private memory with swap, shared memory, processes, and file blocks."""

    memory_bytes: int
    processes: int
    disk_bytes: int


def usage_below(
    roots: Iterable[int], *, trusted: Collection[int] = (), folders: Iterable[Path] = (), proc: Path = Path("/proc")
) -> Usage:
    """Usage of all descendants of `roots`, except `trusted` and their descendants, and of files in `folders`.

    Memory that a process shares with its root by fork counts once: the root's own usage is subtracted from that of
    every process below it.
    """
    memory_bytes = processes = 0
    for root in roots:
        inherited_bytes = _private_bytes(proc / str(root))
        level = [pid for pid in _children(proc / str(root)) if pid not in trusted]
        while level:
            processes += len(level)
            memory_bytes += sum(_memory_bytes(proc / str(pid), inherited_bytes) for pid in level)
            level = [child for pid in level for child in _children(proc / str(pid)) if child not in trusted]
    return Usage(memory_bytes=memory_bytes, processes=processes, disk_bytes=sum(map(_disk_bytes, folders)))


def _children(process: Path) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):  # it ended in the meantime
        for thread in (process / "task").iterdir():
            found += map(int, (thread / "children").read_text().split())
    return found


def _memory_bytes(process: Path, inherited_bytes: int) -> int:
    fields = _status(process)
    return max(0, _of(fields, "RssAnon") + _of(fields, "VmSwap") - inherited_bytes) + _of(fields, "RssShmem")


def _private_bytes(process: Path) -> int:
    return _of(_status(process), "RssAnon")


def _status(process: Path) -> dict[str, str]:
    try:
        lines = (process / "status").read_text(errors="replace").splitlines()
    except OSError:  # it ended in the meantime
        return {}
    return dict(line.split(":", 1) for line in lines if ":" in line)


def _of(fields: dict[str, str], name: str) -> int:
    """A field of /proc/PID/status in bytes; 0 if a zombie or a kernel has none."""
    words = fields.get(name, "").split()
    return int(words[0]) * 1024 if words else 0


def _disk_bytes(folder: Path) -> int:
    """Size of the files below `folder`; skips files that are removed meanwhile or unreadable."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_blocks * _BLOCK_BYTES  # noqa: PTH118
    return total
