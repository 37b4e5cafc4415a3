"""Errors of the machine: operations that it refuses.

    MachineError
    |- MalformedError   the text is not TTIR, or breaks its rules
    '- LimitError       more steps, memory or nesting than the limits allow

An operation, type or form that the machine does not execute is an `engine.errors.UnsupportedError`, and so is a program
that waits for one that has not begun.
"""

from __future__ import annotations

from engine.errors import KgtuiError, UnsupportedError


class MachineError(KgtuiError):
    """TTIR that cannot be executed; the message names the line and the operation."""


class MalformedError(MachineError):
    """The text is not TTIR: unknown token, undefined value, type mismatch."""


class LimitError(MachineError):
    """Executing would take more than a limit allows; the message names the limit and the amount."""


class WaitError(UnsupportedError):
    """A program waits for one that runs later; programs run one after the other."""
