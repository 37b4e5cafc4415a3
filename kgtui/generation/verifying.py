"""Verifies generated candidates through the queue of runs, behind every save, with the same driver and verdict."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from engine.errors import KgtuiError
from engine.model import BenchmarkPlan, Policy, Problem, Tier
from engine.model.events import Event, RunFinished
from engine.reports.reducer import record_of
from engine.reports.run_record import RunRecord
from kgtui.ports.requests import DEFAULT_TIERS, Priority, RunHeader, RunRequest
from kgtui.runner.run_queue import RunQueue, Ticket

GENERATED_TAG = "generated"


class RunWithdrawnError(KgtuiError):
    """The run of a candidate was cancelled before its verdict."""


class Watch(Protocol):
    """Callback for the events of one run; called without events when it begins or restarts."""

    def __call__(self, number: int | None, events: Sequence[Event]) -> None: ...


def ignore_events(number: int | None, events: Sequence[Event]) -> None:
    """No operation: the default callback."""


class Verifier(Protocol):
    """Verifies and times generated candidates."""

    async def verify(self, problem: Problem, source: bytes, *, name: str, watch: Watch = ignore_events) -> RunRecord:
        """The finished run of this source; `name` is the model, `watch` is called with its events.

        Raises:
            RunWithdrawnError: the run was cancelled.
        """


class Submit(Protocol):
    """Puts a request into the queue of runs."""

    def __call__(self, request: RunRequest, audience: RunListener) -> Ticket: ...


@dataclass(frozen=True, kw_only=True)
class RunConditions:
    """Conditions for every run of a batch; `benchmark` returns the benchmark of a problem, or None."""

    device: str
    target: str | None
    benchmark: Callable[[Problem], BenchmarkPlan | None]
    tiers: tuple[Tier, ...] = DEFAULT_TIERS
    policy: Policy = Policy.DEFAULT
    tag: str = GENERATED_TAG


class QueuedVerifier:
    """Verifies through a shared queue; `trouble` is called with errors of the store."""

    def __init__(
        self,
        submit: Submit,
        conditions: RunConditions,
        *,
        trouble: Callable[[str], None],
        drop: Callable[[Ticket], None],
    ) -> None:
        self._submit = submit
        self._conditions = conditions
        self._trouble = trouble
        self._drop = drop

    async def verify(
        self,
        problem: Problem,
        source: bytes,
        *,
        name: str,
        filename: str | None = None,
        watch: Watch = ignore_events,
        began: Callable[[int], None] = lambda number: None,
    ) -> RunRecord:
        """The finished run of this source; `began` is called with its number when it begins or restarts."""
        conditions = self._conditions
        path = Path(filename or f"{problem.file_stem}.py")
        listener = RunListener(file=path.name, trouble=self._trouble, watch=watch, began=began)
        benchmark = conditions.benchmark(problem)
        request = RunRequest(
            problem=problem,
            path=path,
            content=source,
            device=conditions.device,
            target=conditions.target,
            tiers=conditions.tiers,
            policy=conditions.policy,
            benchmark=benchmark,
            tag=conditions.tag,
            note=name,
            priority=Priority.BATCH,
            stops_at_verdict=True,
            is_generated=True,
            one_worker=benchmark is None,
        )
        ticket = self._submit(request, listener)
        listener.ticket = ticket
        withdrawn = asyncio.ensure_future(ticket.withdrawn.wait())
        try:
            either: set[asyncio.Future[Any]] = {listener.finished, withdrawn}  # Any: their results differ in type
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            listener.finished.cancel()  # the run ends later, and asyncio would print an error that nothing reads
            self._drop(ticket)
            raise
        finally:
            withdrawn.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await withdrawn
        if not listener.finished.done():
            raise RunWithdrawnError(f"the run of {name} was withdrawn")
        return listener.finished.result()


class RunListener:
    """Collects the events of one run up to its verdict; a preempted run restarts."""

    def __init__(
        self,
        *,
        file: str,
        trouble: Callable[[str], None],
        watch: Watch = ignore_events,
        began: Callable[[int], None] = lambda number: None,
    ) -> None:
        self.finished: asyncio.Future[RunRecord] = asyncio.get_running_loop().create_future()
        self.ticket: Ticket | None = None
        self._file = file
        self._trouble = trouble
        self._watch = watch
        self._began = began
        self._number: int | None = None
        self._events: list[Event] = []

    def run_began(self, header: RunHeader) -> None:
        """Start collecting the events of this run."""
        self._number, self._events = header.number, []
        self._watch(self._number, ())
        if header.number is not None:
            self._began(header.number)

    def on_events(self, events: Sequence[Event]) -> None:
        """Collect new events of the run."""
        self._events += events
        self._watch(self._number, events)
        if self.finished.done() or not any(isinstance(event, RunFinished) for event in events):
            return
        run = record_of(self._events, file=self._file, number=self._number)
        if not run.cancelled:
            self.finished.set_result(run)
        elif self.ticket is None or not self.ticket.runs_again:
            self.finished.set_exception(RunWithdrawnError("the run was cancelled"))

    def trouble_arose(self, message: str) -> None:
        """Report an error of the store."""
        self._trouble(message)


def queued(queue: RunQueue) -> Submit:
    """Adapter from the queue of a command to a QueuedVerifier."""

    def submit(request: RunRequest, audience: RunListener) -> Ticket:
        return queue.submit(request, audience)

    return submit
