"""Cancelling a run by a message, and clean-up that a cancellation must not cut short."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator

from engine.errors import EngineError
from engine.model.commands import CancelRun


class RunsInProgress:
    """The runs of one engine that are running or wait for their turn, by id."""

    def __init__(self) -> None:
        self._cancelled: dict[str, asyncio.Event] = {}

    @contextlib.contextmanager
    def open(self, run_id: str | None) -> Iterator[asyncio.Event]:
        """An event that is set when a CancelRun for `run_id` arrives inside the block; never set for None.

        Raises:
            EngineError: a run with this id is in progress already.
        """
        cancelled = asyncio.Event()
        if run_id is None:
            yield cancelled
            return
        if run_id in self._cancelled:
            raise EngineError(f"run {run_id!r} is in progress already; give each run an id of its own")
        self._cancelled[run_id] = cancelled
        try:
            yield cancelled
        finally:
            del self._cancelled[run_id]

    def cancel(self, command: CancelRun) -> None:
        """Cancel the run; no effect on a run that is not in progress, since it may have ended meanwhile."""
        if command.run_id in self._cancelled:
            self._cancelled[command.run_id].set()


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
