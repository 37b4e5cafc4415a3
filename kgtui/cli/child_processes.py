"""The processes that this one has started, and theirs: those that are no others on a device."""

from __future__ import annotations

import os
from pathlib import Path


def own_processes(*, of: int | None = None, table: Path = Path("/proc")) -> tuple[int, ...]:
    """This process, or the one numbered `of`, and all below it; one that ends meanwhile is left out."""
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
        # A name may hold blanks and brackets: the state follows the last bracket, then the parent.
        return int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None
