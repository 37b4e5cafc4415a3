"""Whether the process that had a given id still runs, by its start time.

A process id alone identifies no process, for it is reused; with the boot id and the start time it does.  Linux has both
under /proc; without /proc every unfinished run counts as interrupted.  This module only reads: it must never signal a
process.
"""

from __future__ import annotations

from pathlib import Path

_PROC = Path("/proc")
_STATE_FIELD = 0  # fields of /proc/PID/stat, counted after the command's name
_START_FIELD = 19
_DEAD_STATES = frozenset("ZX")


def process_stamp(pid: int) -> str | None:
    """Boot id and start tick of process `pid`; None when it has exited, reaped or not."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        stat = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    # The command's name is in parentheses and may contain spaces and parentheses: cut after the last one.
    fields = stat.rpartition(")")[2].split()
    if fields[_STATE_FIELD] in _DEAD_STATES:
        return None
    return f"{boot}/{fields[_START_FIELD]}"


def is_alive(pid: int, stamp: str | None) -> bool:
    """Whether the process that had this id and this stamp still runs."""
    return stamp is not None and process_stamp(pid) == stamp
