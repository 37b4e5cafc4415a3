"""Waiting for a process, with time limits that allow for a busy machine."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection
from typing import Any, TypeVar

from engine.cpu_time.deadline import Interval, WaitDecision, Waited, longer, wait_decision
from engine.errors import DeadlineError, EngineError, MachineBusyError

_T = TypeVar("_T")
_LOOK_S = 0.25


async def within(
    future: asyncio.Future[_T], *, kind: str, limit_s: float, look: Callable[[], Interval], look_s: float = _LOOK_S
) -> _T:
    """The result of `future`, which is this caller's own; `limit_s` counts the time of the process `look` measures.

    A reply that was awaited so is returned in the next turn of the event loop; `asyncio.wait` needs one more.

    Raises:
        DeadlineError: the process has used its time.
        MachineBusyError: other processes left it hardly any.
    """
    watch = _Watch(future, kind=kind, limit_s=limit_s, look=look, look_s=look_s)
    watch.go_on()
    try:
        return await future
    finally:
        watch.stop()


class _Watch:
    """Ends the wait for a future with an error when a process has used its time."""

    def __init__(
        self, future: asyncio.Future[_T], *, kind: str, limit_s: float, look: Callable[[], Interval], look_s: float
    ) -> None:
        self._future = future
        self._kind = kind
        self._limit_s = limit_s
        self._look = look
        self._interval_s = min(look_s, limit_s)
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._waited = Waited()

    def go_on(self) -> None:
        """Look at the process after the next interval."""
        self._timer = self._loop.call_later(self._interval_s, self._measure)

    def stop(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()

    def _measure(self) -> None:
        error: Exception | None
        try:
            self._waited = longer(self._waited, self._look(), cores=len(os.sched_getaffinity(0)))
            error = _error_of(self._waited, kind=self._kind, limit_s=self._limit_s)
        except Exception as unexpected:  # the event loop would only log it, and the wait would have no limit
            error = unexpected
        if error is None:
            self.go_on()
        elif not self._future.done():
            self._future.set_exception(error)


async def first_of(
    futures: Collection[asyncio.Future[Any]], *, kind: str, limit_s: float, look: Callable[[], Interval]
) -> None:
    """Wait until one of `futures` is done, whose results differ in type; limit and errors as for `within`."""
    first: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def end(_: object) -> None:
        if not first.done():
            first.set_result(None)

    for future in futures:
        future.add_done_callback(end)
    try:
        await within(first, kind=kind, limit_s=limit_s, look=look)
    finally:
        for future in futures:
            future.remove_done_callback(end)


def _error_of(waited: Waited, *, kind: str, limit_s: float) -> EngineError | None:
    """The error that ends this wait; None if it goes on."""
    match wait_decision(waited, limit_s=limit_s):
        case WaitDecision.TIMED_OUT:
            used = f"{waited.wall_s:.3g} s with {waited.cpu_s:.3g} s of CPU time"
            slept = waited.asleep_s > waited.running_s
            return DeadlineError(f"the {kind} timed out after {used}", slept=slept)
        case WaitDecision.TOO_BUSY:
            given = f"the {kind} was given {waited.cpu_s:.3g} s of CPU time in {waited.wall_s:.3g} s"
            return MachineBusyError(f"this machine is too busy: {given}")
        case WaitDecision.WAIT:
            return None
