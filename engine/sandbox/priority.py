"""Lowers the scheduling priority of a process.  An optimisation: it must never be a reason to fail."""

from __future__ import annotations

import contextlib
import os

NICEST = 19


def raise_niceness(by: int) -> None:
    """Raise the inherited niceness by this much: only root may lower it, and a machine may refuse any change."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, min(NICEST, os.getpriority(os.PRIO_PROCESS, 0) + by))
