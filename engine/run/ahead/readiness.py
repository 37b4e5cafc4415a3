"""When a case is called, and how long its call may take: by a dry run beside the cases, or after the first timeout.

A dry run takes a worker of its own, and where a driver makes device contexts one after another that is a large part of
a small run.  A run with `one_worker` leaves it out, so that kernels are compiled when they are launched.  A call that
takes long may then be compiling, or never end: it is repeated after a dry run, with the limits that follow from it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from engine.model import Case
from engine.run.ahead.dry_run import DryRun

UNPREPARED_S = 20.0
"""Longest call of a case, in seconds, before a run with one worker makes its dry run: a call takes microseconds."""
_MOST_BYTES_IN_ADVANCE = 64 << 20  # the candidate may need the rest of a device's memory


class Readiness:
    """Readiness of the cases of one run; `begin` starts the dry run, None where kernels are not launched on a device.

    Before `start`, or if there is no dry run, every case is ready, and its call may take `case_s`.
    """

    def __init__(
        self, begin: Callable[[], tuple[DryRun, asyncio.Task[None]] | None], *, case_s: float, one_worker: bool
    ) -> None:
        self._begin = begin
        self._case_s = case_s
        self._is_late = one_worker
        self.dry_run: DryRun | None = None
        self.ahead: asyncio.Task[None] | None = None
        """The dry run in progress, and the compilation of what it finds."""

    def start(self) -> None:
        """Start the dry run, unless the run does without it for now."""
        if not self._is_late:
            self._start()

    def start_late(self) -> bool:
        """Start the dry run if the run has done without it so far; returns whether it was started."""
        if not self._is_late:
            return False
        self._is_late = False
        return self._start()

    async def next_of(self, cases: Sequence[Case]) -> Case:
        """The first of these cases that is ready."""
        return await self.dry_run.next_of(cases) if self.dry_run is not None else cases[0]

    def expected_next(self, cases: Sequence[Case]) -> Case | None:
        """The first of these cases that is ready now, to be prepared in advance; None if none is, or if it is large.

        None too in a run on a device without a dry run, where the size of a case is not known.
        """
        if self.dry_run is None:
            return None if self._is_late else next(iter(cases), None)
        case = next((case for case in cases if self.dry_run.is_ready(case)), None)
        return case if case is not None and self.dry_run.bytes_of(case) <= _MOST_BYTES_IN_ADVANCE else None

    def call_s(self, case: Case) -> float:
        """Time limit of a call of this case in seconds."""
        if self.dry_run is not None:
            return self.dry_run.call_s(case)
        return min(self._case_s, UNPREPARED_S) if self._is_late else self._case_s

    async def close(self) -> None:
        """End the dry run.  Safe to call twice."""
        if self.ahead is not None:
            self.ahead.cancel()
            await asyncio.gather(self.ahead, return_exceptions=True)
        if self.dry_run is not None:
            await self.dry_run.close()

    def _start(self) -> bool:
        begun = self._begin()
        if begun is not None:
            self.dry_run, self.ahead = begun
        return begun is not None
