"""A batch over a store in a folder, with a scripted provider and a verifier that starts nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from engine.model import Candidate, Tier
from engine.model.events import RunFinished, RunStarted
from kgtui.generation.batch import Batch, GenerationRequest, Task, spent_before
from kgtui.generation.budget import Budget
from kgtui.generation.events import BatchEnded, GenerationEvent
from kgtui.generation.prices import Price, PriceList
from kgtui.generation.prompts import Hardware, Prompts
from kgtui.generation.records import ModelName, Sampling
from kgtui.generation.requester import Clocks, Requester, StoredBatch
from kgtui.generation.strategies import StrategyOptions
from sessions import Store, open_store
from sessions.candidates.generation_rows import GenerationRow, Limits
from tests.kgtui.fakes import descriptions, softmax_problem
from tests.kgtui.generation.fakes import FakeVerifier, ScriptedProvider, finished

ALPHA = ModelName(provider="openai", model="alpha")
PRICE = Price(input_usd=Decimal(1), output_usd=Decimal(2), cached_usd=Decimal(1), cache_write_usd=Decimal(1))
REQUEST = GenerationRequest(
    operators=("aten::softmax",),
    models=(ALPHA,),
    strategy="single",
    options=StrategyOptions(),
    sampling=Sampling(max_tokens=100),
    device="cpu",
    target=None,
)


@dataclass
class Bench:
    """Runs batches; the store may be closed and opened again between them, as after a crash."""

    path: Path
    provider: ScriptedProvider = field(default_factory=ScriptedProvider)
    limits: Limits = field(default_factory=Limits)
    prices: PriceList = field(default_factory=lambda: PriceList({"openai:alpha": PRICE}))
    concurrency: int = 8
    events: list[GenerationEvent] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    verifier: FakeVerifier = field(default_factory=FakeVerifier)
    on_event: Callable[[GenerationEvent], None] = lambda event: None
    now: datetime = datetime(2026, 1, 1, tzinfo=UTC)
    """The wall clock, of the store too."""
    elapsed_s: float = 0.0
    """The monotonic clock."""

    def open(self) -> None:
        self.store: Store = open_store(self.path, clock=lambda: self.now)
        self.session = self.store.begin_session("generate")
        self.verifier.number_of = self._recorded

    def crash(self) -> None:
        """End the program without a word: what it reserved stays reserved, its process is gone."""
        self.store.close()
        self.open()

    async def run(
        self, request: GenerationRequest = REQUEST, *, resume: int | None = None, **changes: object
    ) -> BatchEnded:
        request = replace(request, **changes)
        generations = self.store.generations
        number = resume or generations.begin_batch(self.session, request.to_json(), self.limits)
        worked_s = generations.resume_batch(resume).worked_s if resume else 0.0
        self.number = number
        before = spent_before(generations.of_batch(number))
        self.budget = Budget(self.limits, clock=lambda: self.elapsed_s, spent=before, worked_s=worked_s)
        stored = StoredBatch(
            generations=generations, session=self.session, number=number, source=self.store.source, run=self._read
        )
        requester = Requester(
            stored, provider_of=lambda model: self.provider,
            prices=self.prices, budget=self.budget, sampling=request.sampling, concurrency=self.concurrency,
            clocks=Clocks(now=lambda: self.now, clock=lambda: self.elapsed_s, sleep=self._sleep),
            emit=self._emit,
        )  # fmt: skip
        batch = Batch(
            request, [Task(problem=softmax_problem(), description=descriptions()[0])], stored=stored,
            requester=requester, verifier=self.verifier, prompts=Prompts(),
            hardware=Hardware(name="a device", target=None), emit=self._emit,
        )  # fmt: skip
        return await batch.run()

    @property
    def rows(self) -> tuple[GenerationRow, ...]:
        return self.store.generations.of_batch(self.number)

    def of(self, kind: type) -> list:
        return [event for event in self.events if isinstance(event, kind)]

    def _emit(self, event: GenerationEvent) -> None:
        self.events.append(event)
        self.on_event(event)

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    def _recorded(self) -> int:
        source = self.verifier.sources[-1]
        candidate = Candidate(source=source, problem="aten::softmax")
        run = self.store.begin_run(self.session, candidate, device="cpu", target=None, tiers=(Tier.SMOKE,), path=None)
        record = finished("aten::softmax", source.decode(), number=run)
        started = RunStarted(
            at_s=0.0, problem="aten::softmax", digest=candidate.digest, device="cpu", device_name="a device",
            target=None, cases=1,
        )  # fmt: skip
        self.store.record_all(run, (started, RunFinished(at_s=1.0, verdict=record.final)))
        return run

    def _read(self, run: int):
        return self.store.run_record(run)


@pytest.fixture
def bench(tmp_path):
    made = Bench(path=tmp_path / "sessions.db")
    made.open()
    yield made
    made.store.close()
