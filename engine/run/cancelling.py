"""Waiting for what must not be left half done, also when whoever waits is cancelled."""

from __future__ import annotations

import asyncio


async def to_its_end(task: asyncio.Task[None]) -> None:
    """Wait until the task has ended, also when we are cancelled meanwhile, which is raised afterwards.

    Processes of a run that are still being killed would hold up the loading of the next candidate.
    """
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    task.result()
