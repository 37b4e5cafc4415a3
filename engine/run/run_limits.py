"""Limits on the resources of all processes of one run together.

Each process has limits of its own from the kernel (`engine.sandbox.confinement`).  Many processes that each stay below
theirs are stopped here: the parent adds up their usage while the run lasts, and ends the run above the limit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from engine.model import Limits, Outcome
from engine.processes.resources.total_usage import Usage
from engine.verdict.decide import Stop

_EVERY_S = 0.5


async def watch_usage(limits: Limits, measure: Callable[[], Usage], *, every_s: float = _EVERY_S) -> Stop:
    """Return once all processes of the run together have used more than `limits` allow."""
    while True:
        stop = excess(await asyncio.to_thread(measure), limits)
        if stop is not None:
            return stop
        await asyncio.sleep(every_s)


def excess(usage: Usage, limits: Limits) -> Stop | None:
    """Why a run with this usage is ended; None if it is within its limits."""
    if usage.memory_bytes > limits.total_memory_bytes:
        used, most = usage.memory_bytes / 2**30, limits.total_memory_bytes / 2**30
        message = (
            f"the candidate's processes used {used:.1f} GiB of memory together, more than the {most:.1f} GiB allowed"
        )
        return Stop(outcome=Outcome.OUT_OF_MEMORY, message=message)
    if usage.disk_bytes > limits.total_disk_bytes:
        used, most = usage.disk_bytes / 2**30, limits.total_disk_bytes / 2**30
        message = f"the candidate's files took up {used:.1f} GiB, more than the {most:.1f} GiB allowed"
        return Stop(outcome=Outcome.OUT_OF_MEMORY, message=message)
    if usage.processes > limits.total_processes:
        message = (
            f"the candidate ran {usage.processes} processes at once, more than the {limits.total_processes} allowed"
        )
        return Stop(outcome=Outcome.RUNTIME_ERROR, message=message)
    return None
