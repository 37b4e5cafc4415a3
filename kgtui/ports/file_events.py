"""Reports of a watcher: a file was saved, or saves cannot be detected.

Plain records, so that the screen and the command line can take them without knowing watchdog.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Delays:
    """How long the watcher waits, and for what.

    A writer that does not close its file is believed after `settle_s` without an event.  A missing
    file is gone after `gone_s`, an empty one is meant after `empty_s`, and one that does not parse is
    looked at again after `second_look_s`.  `retry_s` follows a file that changed while it was read.
    `poll_s` is how often the safety net compares the file's status; `poll_local_s` how often it does on file systems
    of which the kernel sees every change, `poll_only_s` where the system gives no events.
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
    """New content of the kernel at `path`, read whole.

    `changed` is the file that was saved: the kernel itself, or a file that it imports.  `at_s` is the
    watcher's clock at the last event of the save.
    """

    path: Path
    changed: Path
    content: bytes
    digest: str
    at_s: float


class TroubleKind(enum.StrEnum):
    """Kind of trouble between the watcher and the file, or its end."""

    GONE = "gone"
    UNREADABLE = "unreadable"
    BACK = "back"
    POLLING = "polling"


@dataclass(frozen=True, kw_only=True)
class WatchTrouble:
    """Something about watching `path` that the user should know, in one or two sentences."""

    kind: TroubleKind
    path: Path
    message: str
