"""Cancelling a run by a message, and clean-up that a cancellation must not interrupt."""

from __future__ import annotations

import asyncio
import contextlib
import traceback
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

from engine.errors import EngineError
from engine.model import Outcome
from engine.model.commands import CancelRun
from engine.verdict.decide import Stop


class RunsInProgress:
    """The runs of one engine that are running or waiting for their turn, by id."""

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
            raise EngineError(f"run {run_id!r} is already in progress; give each run a unique id")
        self._cancelled[run_id] = cancelled
        try:
            yield cancelled
        finally:
            del self._cancelled[run_id]

    def cancel(self, command: CancelRun) -> None:
        """Cancel the run; no effect on a run that is not in progress, since it may have ended meanwhile."""
        if command.run_id in self._cancelled:
            self._cancelled[command.run_id].set()


async def work_until_stopped(
    work: Coroutine[Any, Any, Stop | None],  # Any: what a coroutine yields to the event loop
    *,
    cancelled: asyncio.Event,
    excess: Callable[[], Coroutine[Any, Any, Stop]],
    log: Callable[[str], None],
) -> Stop | None:
    """The result of `work`, CANCELLED, or the result of `excess`, which ends a run that uses too much.

    Internal errors become ENGINE_ERROR here and nowhere else; `log` gets their traces.
    """
    tasks = (asyncio.create_task(work), asyncio.create_task(excess()), asyncio.create_task(cancelled.wait()))
    working, exceeding, _ = tasks
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        if exceeding.done():
            return exceeding.result()
        return Stop(outcome=Outcome.CANCELLED, message="cancelled")
    except EngineError as error:
        return Stop(outcome=Outcome.ENGINE_ERROR, message=str(error))
    except OSError as error:
        message = f"the engine could not use its files: {error.strerror or error}; is a disk full or read-only?"
        return Stop(outcome=Outcome.ENGINE_ERROR, message=message)
    except Exception as error:  # boundary of a run: an internal error ends it with a verdict
        log(traceback.format_exc())
        return Stop(outcome=Outcome.ENGINE_ERROR, message=f"the engine failed: {type(error).__name__}: {error}")
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def to_its_end(task: asyncio.Task[None]) -> None:
    """Wait until the task has ended, even when this one is cancelled meanwhile, which is raised afterwards.

    Processes of a run that are still being killed would delay the loading of the next candidate.
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
