"""The engines of a batch, each with a separate queue, started with its first candidate."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from types import TracebackType
from typing import Self

from engine.model import Problem
from engine.reports.run_record import RunRecord
from kgtui.batches.request import BatchRequest
from kgtui.cli.runs.run_command import StartedEngine
from kgtui.generation.verifying import QueuedVerifier, queued
from kgtui.ports.protocols import Recording
from kgtui.runner.driver import RunDriver
from kgtui.runner.run_queue import RunQueue


class BatchEngine:
    """A verifier on a separate engine; a context manager that stops it."""

    def __init__(
        self,
        make_engine: Callable[[], StartedEngine],
        request: BatchRequest,
        *,
        recording: Recording,
        trouble: Callable[[str], None],
    ) -> None:
        self._make_engine = make_engine
        self._recording = recording
        self._trouble = trouble
        self._open = contextlib.AsyncExitStack()
        self._queue = RunQueue(on_trouble=trouble)
        self._is_started = False
        self._verifier = QueuedVerifier(queued(self._queue), request.conditions, trouble=trouble, drop=self._queue.drop)

    async def verify(
        self, problem: Problem, source: bytes, *, name: str, filename: str | None, began: Callable[[int], None]
    ) -> RunRecord:
        """The finished run of this source.

        Raises:
            EngineError: the engine cannot be started.
        """
        if not self._is_started:
            await self._start()
            self._is_started = True
        return await self._verifier.verify(problem, source, name=name, filename=filename, began=began)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._open.aclose()

    async def _start(self) -> None:
        engine = await self._open.enter_async_context(self._make_engine())
        driver = RunDriver(engine, recording=self._recording, on_trouble=self._trouble)
        serving = asyncio.create_task(self._queue.serve(driver))
        self._open.push_async_callback(_ended, serving)


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
