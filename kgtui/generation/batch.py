"""A batch: every model on every operator by one strategy, within one budget, resumable after a crash."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import msgspec

from engine.errors import KgtuiError, StoreError
from engine.model import Problem
from engine.model.events import Event
from engine.problem_source import ProblemDescription
from engine.reports.run_record import RunRecord
from kgtui.generation.budget import BudgetReachedError, Spent
from kgtui.generation.events import (
    BatchEnded,
    CandidateVerified,
    GenerationEvent,
    JobEnded,
    RunAdvanced,
    Spot,
)
from kgtui.generation.prompts import Example, Hardware, Prompts
from kgtui.generation.records import Message, ModelName, Sampling
from kgtui.generation.requester import Requester, StoredBatch
from kgtui.generation.saves import SaveVerifier
from kgtui.generation.strategies import Result, StrategyOptions, speedup_of, strategy_module
from kgtui.generation.verifying import Verifier
from sessions.candidates.generation_rows import Ending, GenerationRow, GenerationState

DEFAULT_CONCURRENCY = 8
_JOBS_AT_ONCE = 64


@dataclass(frozen=True, kw_only=True)
class GenerationRequest:
    """Request of a generation.  Its JSON is in the store; a batch with the same request can be resumed.

    `continues` is the stored generation that it is a reply to, None for a batch with a prompt of its own.  `suites` are
    the ids of the foreign suites of its operators, with the user's choices of sizes and precision.
    """

    operators: tuple[str, ...]
    models: tuple[ModelName, ...]
    strategy: str
    options: StrategyOptions
    sampling: Sampling
    device: str
    target: str | None
    continues: int | None = None
    suites: tuple[str, ...] = ()

    def to_json(self) -> str:
        """One line of JSON, the same for equal requests."""
        values = msgspec.to_builtins(self)
        if not self.suites:
            values.pop("suites", None)  # omitted if empty, so that batches stored without this field can be resumed
        return msgspec.json.encode(values, order="sorted").decode()

    @staticmethod
    def from_json(text: str) -> GenerationRequest:
        """The request from the JSON of `to_json`.

        Raises:
            StoreError: another version wrote it.
        """
        try:
            return msgspec.json.decode(text, type=GenerationRequest)
        except msgspec.DecodeError as error:
            raise StoreError(f"the request of this batch cannot be read: {error}; start a new one") from error


@dataclass(frozen=True, kw_only=True)
class Task:
    """An operator with the data of its prompt; a `conversation` is sent in place of the prompt."""

    problem: Problem
    description: ProblemDescription
    examples: tuple[Example, ...] = ()
    conversation: tuple[Message, ...] = ()

    @property
    def refusal(self) -> str:
        """Reason why it cannot be verified here, such as a missing package of a suite's task; "" if it can."""
        return self.problem.suite.refusal if self.problem.suite is not None else ""


class Batch:
    """Runs one batch; `emit` is called with every event, on the event loop."""

    def __init__(
        self,
        request: GenerationRequest,
        tasks: Sequence[Task],
        *,
        stored: StoredBatch,
        requester: Requester,
        verifier: Verifier,
        prompts: Prompts,
        hardware: Hardware,
        emit: Callable[[GenerationEvent], None],
    ) -> None:
        self._number = stored.number
        self._request = request
        self._tasks = tasks
        self._store = stored.generations
        self._stored = stored
        self._requester = requester
        self._verifier = verifier
        self._prompts = prompts
        self._hardware = hardware
        self._emit = emit

    async def run(self) -> BatchEnded:
        """Carry out all jobs; returns how the batch ended.  A cancelled batch is stored as such, and can be resumed."""
        jobs = asyncio.Semaphore(_JOBS_AT_ONCE)
        budget_reasons: list[str] = []
        failures: list[str] = []

        async def carry_out(task: Task, model: ModelName) -> None:
            job = GenerationJob(task, model, batch=self, prompts=self._prompts)
            message = ""
            async with jobs:
                try:
                    await strategy_module(self._request.strategy).run(job, self._request.options)
                except* BudgetReachedError as group:
                    message = _first(group)
                    budget_reasons.append(message)
                except* KgtuiError as group:
                    message = _first(group)
                    failures.append(f"{model} on {task.problem.name}: {message}")
            unused = strategy_module(self._request.strategy).most_answers(self._request.options) - job.requests
            self._emit(JobEnded(problem=task.problem.name, model=str(model), message=message, unused=unused))

        try:
            async with asyncio.TaskGroup() as group:
                for task in self._tasks:
                    for model in self._request.models:
                        group.create_task(carry_out(task, model))
        except BaseException:
            self._emit(BatchEnded(ending=Ending.CANCELLED, spent=self._requester.budget.spent))
            with contextlib.suppress(StoreError):  # a batch without an ending is resumed as well
                self._end(Ending.CANCELLED)
            raise
        ended = replace(_ending(budget_reasons, failures), spent=self._requester.budget.spent)
        try:
            await asyncio.to_thread(self._end, ended.ending)
        except StoreError as error:
            if ended.ending is Ending.FINISHED:
                ended = replace(ended, ending=Ending.FAILED, message=str(error))
        self._emit(ended)
        return ended

    # What a job needs

    def opening(self, task: Task) -> tuple[Message, ...]:
        """Messages that request a first kernel, or continue a conversation."""
        if task.conversation:
            return task.conversation
        return self._prompts.problem(
            task.problem,
            task.description,
            self._hardware,
            examples=task.examples,
            remark=self._request.options.remark,
        )

    async def attempt(self, task: Task, model: ModelName, place: str, messages: Sequence[Message]) -> Result:
        """Send a request, then run the source in the answer."""
        spot = Spot(problem=task.problem.name, model=str(model), place=place)
        saves = SaveVerifier(
            task.problem, spot, verifier=self._verifier, add_save=self._store.add_save, emit=self._emit
        )
        async with contextlib.aclosing(saves):
            row = await self._requester.ask(model, spot, messages, entry=task.problem.entry, saved=saves)
        if row.digest is None:
            return Result(row=row, source=None, run=None)
        source = await asyncio.to_thread(self._stored.source, row.digest)
        run, is_reused = await self._verified(task, row, source, spot)
        verdict = run.final
        self._emit(
            CandidateVerified(
                spot=spot,
                run=run.number,
                outcome=verdict.outcome,
                flagged=verdict.flagged,
                sentence=verdict.sentence,
                speedup=speedup_of(run),
                is_reused=is_reused,
            )
        )
        return Result(row=row, source=source.decode(), run=run)

    def _end(self, ending: Ending) -> None:
        self._store.end_batch(self._number, ending, worked_s=self._requester.budget.elapsed_s)

    async def _verified(self, task: Task, row: GenerationRow, source: bytes, spot: Spot) -> tuple[RunRecord, bool]:
        if row.run is not None and row.run.outcome is not None:
            with contextlib.suppress(KgtuiError):  # a run that can no longer be read is repeated
                return await asyncio.to_thread(self._stored.run, row.run.number), True

        def watch(number: int | None, events: Sequence[Event]) -> None:
            self._emit(RunAdvanced(spot=spot, number=number, events=tuple(events)))

        run = await self._verifier.verify(task.problem, source, name=f"{spot.model} {spot.place}", watch=watch)
        if run.number is not None:
            await asyncio.to_thread(self._store.attach_run, row.id, run.number)
        await self._requester.note_time()
        return run, False


class GenerationJob:
    """One operator for one model, as strategies get it."""

    def __init__(self, task: Task, model: ModelName, *, batch: Batch, prompts: Prompts) -> None:
        self.prompts = prompts
        self.requests = 0
        self._task = task
        self._model = model
        self._batch = batch

    def opening(self) -> tuple[Message, ...]:
        """Messages that request a first kernel."""
        return self._batch.opening(self._task)

    async def attempt(self, place: str, messages: Sequence[Message]) -> Result:
        """Send a request, take the source from the answer, and run it."""
        self.requests += 1
        return await self._batch.attempt(self._task, self._model, place, messages)


def spent_before(rows: Sequence[GenerationRow]) -> Spent:
    """Costs of a batch before it is resumed: a reservation counts if the cost is unknown."""
    charged = [row for row in rows if row.state in (GenerationState.SETTLED, GenerationState.LOST)]
    return Spent(
        microusd=sum(
            row.cost_microusd if row.cost_microusd is not None else row.reserved_microusd or 0 for row in charged
        ),
        tokens=sum(row.usage.total_tokens if row.usage is not None else row.reserved_tokens for row in charged),
        unpriced=sum(row.cost_microusd is None for row in charged),
    )


def _ending(budget_reasons: Sequence[str], failures: Sequence[str]) -> BatchEnded:
    if budget_reasons:
        return BatchEnded(ending=Ending.BUDGET, message=budget_reasons[0])
    if failures:
        others = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        return BatchEnded(ending=Ending.FAILED, message=f"{failures[0]}{others}")
    return BatchEnded(ending=Ending.FINISHED)


def _first(group: BaseExceptionGroup[BaseException]) -> str:
    """Message of the first error in nested exception groups."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error)


def suites_of(tasks: Sequence[Task]) -> tuple[str, ...]:
    """The ids of the foreign suites of the tasks, without repetition."""
    return tuple(dict.fromkeys(task.problem.source for task in tasks if task.problem.suite is not None))
