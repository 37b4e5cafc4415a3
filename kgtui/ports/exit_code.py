"""The exit codes of the program."""

from __future__ import annotations

import enum


class Exit(enum.IntEnum):
    """Exit status of a command.  INTERRUPTED and BROKEN_PIPE are a shell's codes for SIGINT and SIGPIPE."""

    PASSED = 0
    FAILED = 1
    USAGE = 2
    ENGINE = 3
    FLAGGED = 4
    INTERRUPTED = 130
    BROKEN_PIPE = 141
