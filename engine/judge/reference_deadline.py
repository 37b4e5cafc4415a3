"""The deadline of a reference process, counted in its own time as the parent does (engine/cpu_time)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from engine.cpu_time.deadline import Interval, WaitDecision, Waited, longer, wait_decision
from engine.errors import MachineBusyError
from engine.protocol.transport.byte_stream import StreamError

_LOOK_S = 0.2  # least time between two looks: the reply may arrive in many small parts


class ReferenceDeadline:
    """The time of a reference process for all requests of one command.

    Its CPU time counts, and half of its sleep, but no time in which it waited for a CPU.
    """

    def __init__(self, look: Callable[[], Interval], *, clock: Callable[[], float] = time.monotonic) -> None:
        """`look` measures what the process has used since the last call."""
        self._look, self._clock = look, clock
        self._cores = len(os.sched_getaffinity(0))
        self._looked_s = float("-inf")
        self._limit_s = 0.0
        self._waited = Waited()

    def begin(self, limit_s: float) -> None:
        """Start counting."""
        self._limit_s, self._waited = limit_s, Waited()
        self._look_again()

    def check(self) -> None:
        """Raise when the time is over.

        Raises:
            StreamError: the process has used its time.
            MachineBusyError: other processes left it hardly any time for long, which is not evidence about it.
        """
        if self._clock() - self._looked_s < _LOOK_S:
            return
        self._waited = waited = longer(self._waited, self._look_again(), cores=self._cores)
        match wait_decision(waited, limit_s=self._limit_s):
            case WaitDecision.TIMED_OUT:
                used = f"{waited.wall_s:.3g} s with {waited.cpu_s:.3g} s of CPU time"
                raise StreamError(f"it did not answer in {used}; the limit is {self._limit_s:g} s")
            case WaitDecision.TOO_BUSY:
                given = f"the reference process was given {waited.cpu_s:.3g} s of CPU time in {waited.wall_s:.3g} s"
                raise MachineBusyError(f"this machine is too busy: {given}")

    def _look_again(self) -> Interval:
        self._looked_s = self._clock()
        return self._look()
