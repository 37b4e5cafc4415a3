"""Carries out one batch, new or resumed, on one or several engines, for the command and the screen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from engine.errors import KgtuiError, StoreError, UsageError
from engine.model import Problem
from engine.reports.run_record import RunRecord
from kgtui.batches.candidates import BatchCandidate
from kgtui.batches.request import BatchRequest
from kgtui.batches.results import BatchProgress, CandidateResult, ListedOperator, results_of
from kgtui.batches.turns import Turns, groups, key_of
from sessions.candidates.checked import CheckedRow, CheckedStore


class CandidateVerifier(Protocol):
    """Runs one candidate at a time."""

    async def verify(
        self, problem: Problem, source: bytes, *, name: str, filename: str | None, began: Callable[[int], None]
    ) -> RunRecord:
        """The finished run of this source; `began` is called with its number in the store when it begins.

        Errors name the file `filename`, by default one that is called like the operator.

        Raises:
            RunWithdrawnError: the run was cancelled.
        """


class BatchRecording(Protocol):
    """Interface of the store for a batch."""

    @property
    def checked(self) -> CheckedStore:
        """Batches and their results."""

    def session(self) -> int:
        """The number of this session, which is created on first use."""


@dataclass(frozen=True, kw_only=True)
class BatchOrder:
    """A batch to carry out; `resume` continues batch number `batch`, or the newest one with the same request."""

    request: BatchRequest
    candidates: tuple[BatchCandidate, ...]
    resume: bool = False
    batch: int | None = None


class OnProgress(Protocol):
    """Callback for each change of a batch, on the event loop."""

    def __call__(
        self, progress: BatchProgress, changed: tuple[CandidateResult, ...], results: Sequence[CandidateResult], /
    ) -> None:
        """Report the results that `changed`, none at the beginning and the end, and all results."""


@dataclass(frozen=True, kw_only=True)
class BatchServices:
    """Dependencies of a batch: the store, a verifier for each engine, operators, and the progress callback."""

    recording: BatchRecording
    verifiers: Sequence[CandidateVerifier]
    problem: Callable[[str], Problem]
    operators: Mapping[str, ListedOperator]
    on_progress: OnProgress
    trouble: Callable[[str], None]
    clock: Callable[[], float]


@dataclass(frozen=True, kw_only=True)
class Checked:
    """A finished batch: its number, its session and every result."""

    batch: int
    session: int
    results: tuple[CandidateResult, ...]


async def carry_out(order: BatchOrder, services: BatchServices) -> Checked:
    """Begin or resume the batch and run the rest of it.

    Raises:
        UsageError: there is nothing to resume, or another process works on the batch.
        StoreError: the store cannot be written.
    """
    session = await asyncio.to_thread(services.recording.session)
    number = await asyncio.to_thread(_begun, order, services.recording.checked, session)
    batch = _Batch(order, services, number=number)
    await batch.run()
    return Checked(batch=number, session=session, results=tuple(batch.results))


def _begun(order: BatchOrder, store: CheckedStore, session: int) -> int:
    """The number of the batch, created in the store or found there."""
    text, listed = order.request.to_json(), [candidate.listed for candidate in order.candidates]
    if not order.resume:
        return store.begin(session, text, listed)
    row = store.newest(text) if order.batch is None else store.batch(order.batch)
    if row is None:
        raise UsageError(
            "no stored batch has these arguments; omit --resume to start one, or repeat its exact arguments"
        )
    store.resume(row.id, session, listed)
    return row.id


class _Batch:
    """One batch while it runs.  Candidates of one operator with the same source share one run."""

    def __init__(self, order: BatchOrder, services: BatchServices, *, number: int) -> None:
        self.results: list[CandidateResult] = []
        self._number = number
        self._candidates = order.candidates
        self._services = services
        self._store = services.recording.checked
        self._began_s = services.clock()
        self._fresh = 0
        self._running: dict[str, None] = {}
        self._problems: dict[str, Problem] = {}

    async def run(self) -> None:
        """Run all candidates without a verdict; the batch ends when none is left."""
        rows = await asyncio.to_thread(self._store.results, self._number)
        await self._adopt(rows)
        self.results[:] = self._results(await asyncio.to_thread(self._store.results, self._number))
        self._report_progress(())
        turns = Turns(result.row for result in self.results if not result.row.is_done)
        async with asyncio.TaskGroup() as group:
            for engine, verifier in enumerate(self._services.verifiers):
                group.create_task(self._work(verifier, turns, engine))
        has_ended = all(result.row.is_done for result in self.results)
        if has_ended:
            await asyncio.to_thread(self._store.end, self._number)
        self._report_progress((), has_ended=has_ended)

    async def _adopt(self, rows: Sequence[CheckedRow]) -> None:
        """Give candidates the verdict that the batch already has on the same source."""
        runs = {key_of(row): row.run.number for row in rows if row.is_done and row.run is not None}
        for places, first in groups(row for row in rows if not row.is_done):
            run = runs.get(key_of(first))
            if run is not None:
                await asyncio.to_thread(self._store.attach, self._number, places, run)

    async def _work(self, verifier: CandidateVerifier, turns: Turns, engine: int) -> None:
        while (places := turns.next(engine)) is not None:
            candidate = self._candidates[places[0] - 1]
            name = candidate.listed.name
            self._running[name] = None
            self._report_progress(())
            try:
                await self._check(verifier, candidate, places)
            except StoreError:
                raise
            except KgtuiError as error:  # error of one candidate: the others continue, and --resume tries it again
                self._services.trouble(f"{name}: not run: {error}")
            finally:
                self._running.pop(name, None)
            changed = self._results(await asyncio.to_thread(self._store.results, self._number, places))
            for result in changed:
                self.results[result.row.place - 1] = result
            self._fresh += sum(result.row.is_done for result in changed)
            self._report_progress(changed)

    async def _check(self, verifier: CandidateVerifier, candidate: BatchCandidate, places: tuple[int, ...]) -> None:
        attached: list[asyncio.Task[None]] = []

        def began(run: int) -> None:
            attaching = asyncio.to_thread(self._store.attach, self._number, places, run)
            attached.append(asyncio.create_task(attaching))

        source = await asyncio.to_thread(candidate.read)
        problem = await self._problem(candidate.listed.problem)
        try:
            note = _note(self._number, candidate)
            run = await verifier.verify(problem, source, name=note, filename=candidate.filename, began=began)
        finally:
            for task in attached:  # in order: a repeated run has another number
                await task
        if run.number is None:
            raise StoreError("the result cannot be saved, so the batch ends here; --resume continues it")

    async def _problem(self, name: str) -> Problem:
        if name not in self._problems:
            self._problems[name] = await asyncio.to_thread(self._services.problem, name)
        return self._problems[name]

    def _results(self, rows: Sequence[CheckedRow]) -> tuple[CandidateResult, ...]:
        return results_of(rows, self._services.operators)

    def _report_progress(self, changed: tuple[CandidateResult, ...], *, has_ended: bool = False) -> None:
        progress = BatchProgress(
            batch=self._number,
            total=len(self.results),
            done=sum(result.row.is_done for result in self.results),
            fresh=self._fresh,
            began_s=self._began_s,
            running=tuple(self._running),
            has_ended=has_ended,
        )
        self._services.on_progress(progress, changed, self.results)


def _note(batch: int, candidate: BatchCandidate) -> str:
    return f"batch {batch}: {candidate.listed.name}"
