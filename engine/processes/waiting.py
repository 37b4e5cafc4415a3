"""Waiting for a process, with time limits that allow for a busy machine."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection
from typing import Any

from engine.cpu_time.deadline import Interval, WaitDecision, Waited, longer, wait_decision
from engine.errors import DeadlineError, MachineBusyError

_LOOK_S = 0.25


async def first_of(
    futures: Collection[asyncio.Future[Any]],
    *,
    kind: str,
    limit_s: float,
    look: Callable[[], Interval],
    look_s: float = _LOOK_S,
) -> None:
    """Wait until one of `futures` is done; `limit_s` counts the time of the process that `look` measures.

    Raises:
        DeadlineError: the process has used its time.
        MachineBusyError: other processes left it hardly any.
    """
    waited = Waited()
    cores = len(os.sched_getaffinity(0))
    while True:
        done, _ = await asyncio.wait(futures, timeout=min(look_s, limit_s), return_when=asyncio.FIRST_COMPLETED)
        if done:
            return
        waited = longer(waited, look(), cores=cores)
        match wait_decision(waited, limit_s=limit_s):
            case WaitDecision.TIMED_OUT:
                used = f"{waited.wall_s:.3g} s ({waited.cpu_s:.3g} s of CPU time)"
                slept = waited.asleep_s > waited.running_s
                raise DeadlineError(f"the {kind} timed out after {used}", slept=slept)
            case WaitDecision.TOO_BUSY:
                given = f"the {kind} was given {waited.cpu_s:.3g} s of CPU time in {waited.wall_s:.3g} s"
                raise MachineBusyError(f"this machine is too busy: {given}")
