"""Timing of the reference of a foreign problem, which runs in another process than the judge."""

from __future__ import annotations

from typing import Any, Protocol

from engine.model.problems.case import Case


class ReferenceTimer(Protocol):
    """Interface for timing the reference of a problem."""

    def prepare(self, case: Case) -> None:
        """Prepare it for timing in a case.

        Raises:
            UnsupportedError: it cannot be timed.
        """
        ...

    def time(self, command: Any) -> Any:  # Any: messages of engine.protocol, which records know nothing of
        """The reply of the process to a TimeBaseline."""
        ...

    def forget(self) -> None:
        """Free its memory."""
        ...
