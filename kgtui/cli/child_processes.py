"""The process IDs of this process and its descendants, which do not count as other users of a device."""

from __future__ import annotations

import os
from pathlib import Path


def own_processes(*, of: int | None = None, table: Path = Path("/proc")) -> tuple[int, ...]:
    """IDs of this process, or of process `of`, and all its descendants; those that exit meanwhile are left out."""
    parents: dict[int, int] = {}
    for entry in table.iterdir():
        if entry.name.isdecimal() and (parent := _parent_of(entry)) is not None:
            parents[int(entry.name)] = parent
    root = os.getpid() if of is None else of
    found = {root}
    while below := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= below
    return tuple(sorted(found))


def _parent_of(entry: Path) -> int | None:
    try:
        # A name may contain spaces and brackets: state and parent follow the last bracket.
        return int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None
