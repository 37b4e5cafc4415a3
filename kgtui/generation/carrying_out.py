"""Carries out one batch, new or resumed, for the command line, the screen and the demo."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from engine.devices import Device, platform_named
from engine.errors import UsageError
from engine.model import BenchmarkPlan, Problem, Tier
from engine.reports.run_record import RunRecord
from kgtui.generation.batch import Batch, GenerationRequest, Task, spent_before
from kgtui.generation.budget import Budget, Spent
from kgtui.generation.events import GenerationEvent
from kgtui.generation.prices import PriceList
from kgtui.generation.progress import NO_BATCH, GenerationProgress, after
from kgtui.generation.prompts import Hardware, Prompts
from kgtui.generation.providers import Provider, open_provider
from kgtui.generation.records import ModelName
from kgtui.generation.requester import Clocks, Requester, StoredBatch
from kgtui.generation.strategies import strategy_module
from kgtui.generation.verifying import QueuedVerifier, RunConditions, Submit
from kgtui.ports.requests import DEFAULT_TIERS
from kgtui.runner.run_queue import Ticket
from sessions.candidates.generation_rows import Limits
from sessions.candidates.generations import GenerationStore
from sessions.store import utc_now


class GenerationRecording(Protocol):
    """Interface of the store for a batch."""

    @property
    def generations(self) -> GenerationStore:
        """Batches and generations."""

    def session(self) -> int:
        """The number of this session, which is created on first use."""

    def source(self, digest: str) -> bytes:
        """A stored source."""

    def run_record(self, number: int) -> RunRecord:
        """A stored run."""


@dataclass(frozen=True, kw_only=True)
class GenerationOrder:
    """A batch to carry out; `resume` continues the stored batch with the same request."""

    request: GenerationRequest
    tasks: tuple[Task, ...]
    limits: Limits
    device: Device
    concurrency: int
    tiers: tuple[Tier, ...] = DEFAULT_TIERS
    resume: bool = False

    @property
    def answers(self) -> int:
        """Upper bound of the number of answers."""
        jobs = len(self.request.operators) * len(self.request.models)
        return jobs * strategy_module(self.request.strategy).most_answers(self.request.options)


@dataclass(frozen=True, kw_only=True)
class GenerationServices:
    """Dependencies of a batch: the store, the queue of runs, prices, templates, and the event callback."""

    recording: GenerationRecording
    submit: Submit
    drop: Callable[[Ticket], None]
    prices: PriceList
    prompts: Prompts
    environment: Mapping[str, str]
    trouble: Callable[[str], None]
    on_generation_event: Callable[[GenerationEvent, GenerationProgress], None]
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], datetime] = utc_now


@dataclass(frozen=True, kw_only=True)
class Generated:
    """A batch that ended, or was cancelled: its number, its session and its result."""

    batch: int
    session: int
    progress: GenerationProgress


async def carry_out(order: GenerationOrder, services: GenerationServices) -> Generated:
    """Begin or resume the batch and run it to its end.

    Raises:
        UsageError: a key is missing, there is nothing to resume, or an operator cannot be verified.
        StoreError: the store cannot be written.
    """
    for task in order.tasks:
        if task.refusal:
            raise UsageError(f"{task.problem.name} cannot be verified, so nothing is generated: {task.refusal}")
    async with connected(order.request.models, services.environment) as providers:
        session = await asyncio.to_thread(services.recording.session)
        number, before, worked_s = await asyncio.to_thread(_begun, order, services.recording, session=session)
        progress = replace(
            NO_BATCH, number=number, total=order.answers, limits=order.limits, began_s=services.clock(), spent=before
        )

        def on_generation_event(event: GenerationEvent) -> None:
            nonlocal progress
            progress = after(progress, (event,))
            services.on_generation_event(event, progress)

        stored = StoredBatch(
            generations=services.recording.generations,
            session=session,
            number=number,
            source=services.recording.source,
            run=services.recording.run_record,
        )
        requester = Requester(
            stored,
            provider_of=providers.__getitem__,
            prices=services.prices,
            budget=Budget(order.limits, clock=services.clock, spent=before, worked_s=worked_s),
            sampling=order.request.sampling,
            concurrency=order.concurrency,
            clocks=Clocks(now=services.now, clock=services.clock),
            emit=on_generation_event,
        )
        await _batch(order, services, stored=stored, requester=requester, on_generation_event=on_generation_event).run()
    return Generated(batch=number, session=session, progress=progress)


@contextlib.asynccontextmanager
async def connected(
    models: Sequence[ModelName], environment: Mapping[str, str]
) -> AsyncGenerator[dict[ModelName, Provider], None]:
    """Context with a provider for each model, closed at the end."""
    async with contextlib.AsyncExitStack() as stack:
        providers: dict[ModelName, Provider] = {}
        for model in models:
            providers[model] = open_provider(model, environment)
            stack.push_async_callback(providers[model].aclose)
        yield providers


def benchmark_of(device: str) -> Callable[[Problem], BenchmarkPlan | None]:
    """Timed cases of an operator on this device; none if kernels are interpreted."""
    is_executed_on_cpu = platform_named(device).EXECUTED_ON_CPU

    def plan(problem: Problem) -> BenchmarkPlan | None:
        cases = tuple(case for case in problem.cases if case.tier is Tier.BENCH)
        return BenchmarkPlan(cases=cases) if cases and not is_executed_on_cpu else None

    return plan


def _batch(
    order: GenerationOrder,
    services: GenerationServices,
    *,
    stored: StoredBatch,
    requester: Requester,
    on_generation_event: Callable[[GenerationEvent], None],
) -> Batch:
    conditions = RunConditions(
        device=order.device.platform,
        target=order.request.target,
        benchmark=benchmark_of(order.device.platform),
        tiers=order.tiers,
    )
    verifier = QueuedVerifier(services.submit, conditions, trouble=services.trouble, drop=services.drop)
    return Batch(
        order.request,
        order.tasks,
        stored=stored,
        requester=requester,
        verifier=verifier,
        prompts=services.prompts,
        hardware=Hardware(name=order.device.name, target=order.request.target),
        emit=on_generation_event,
    )


def _begun(order: GenerationOrder, recording: GenerationRecording, *, session: int) -> tuple[int, Spent, float]:
    """The number of the batch, its earlier costs, and its earlier time in seconds."""
    generations, text = recording.generations, order.request.to_json()
    if not order.resume:
        return generations.begin_batch(session, text, order.limits), Spent(), 0.0
    number = generations.unfinished_batch(text)
    if number is None:
        raise UsageError(
            "no unfinished batch has these arguments; omit --resume to start one, or repeat its exact arguments"
        )
    batch = generations.resume_batch(number)
    return number, spent_before(generations.of_batch(number)), batch.worked_s
