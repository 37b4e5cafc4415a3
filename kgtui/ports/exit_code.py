"""The exit codes of the program."""

from __future__ import annotations

import enum


class Exit(enum.IntEnum):
    """How a command ended.  INTERRUPTED and BROKEN_PIPE are what a shell calls death by SIGINT and SIGPIPE."""

    PASSED = 0
    FAILED = 1
    USAGE = 2
    ENGINE = 3
    FLAGGED = 4
    INTERRUPTED = 130
    BROKEN_PIPE = 141
