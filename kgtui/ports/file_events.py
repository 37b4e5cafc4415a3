"""Reports of a watcher: a file was saved, or saves cannot be detected.
Plain records, so that the screen and the command line do not import watchdog.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Delays:
    """Delays of the watcher.
    A file that its writer does not close counts as complete after `settle_s` without an event.  A missing file is
    reported after `gone_s`, an empty one accepted after `empty_s`, and one that does not parse is read again after
    `second_look_s`.  A file that changed during the read is read again after `retry_s`. `poll_s` is the interval of
    comparing the file's status; `poll_local_s` that on file systems whose every change the kernel reports,
    `poll_only_s` that without events.
    """

    settle_s: float = 0.150
    gone_s: float = 0.300
    empty_s: float = 0.250
    second_look_s: float = 0.150
    retry_s: float = 0.010
    poll_s: float = 0.500
    poll_local_s: float = 2.000
    poll_only_s: float = 0.200


@dataclass(frozen=True, kw_only=True)
class Saved:
    """New content of the kernel at `path`, read in full.

    `changed` is the file that was saved: the kernel itself, or a file that it imports.  `at_s` is the
    watcher's clock at the last event of the save.
    """

    path: Path
    changed: Path
    content: bytes
    digest: str
    at_s: float


class TroubleKind(enum.StrEnum):
    """Kind of problem of the watcher with the file, or its end."""

    GONE = "gone"
    UNREADABLE = "unreadable"
    BACK = "back"
    POLLING = "polling"


@dataclass(frozen=True, kw_only=True)
class WatchTrouble:
    """A problem with watching `path` for the user, in one or two sentences."""

    kind: TroubleKind
    path: Path
    message: str
