"""A benchmark with a simulated judge and simulated workers, and its findings."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from engine.devices import Device
from engine.model import (
    BenchmarkPlan,
    CacheState,
    Case,
    Cost,
    Finding,
)
from engine.model.benchmark import CaseBenchmark, CaseEstimate, DeviceState, Peaks
from engine.timing.bench import Bench
from engine.timing.exchange import Exchange
from engine.timing.kernel_times import KernelSource
from engine.timing.timed_candidates import OwnKernels, TimedCandidate
from engine.timing.timed_device import TimedDevice
from tests.engine.timing.simulated_device import CASE, PEAKS, SECOND, STATE, Machine, Script
from tests.engine.timing.simulated_judge import Judge
from tests.engine.timing.simulated_worker import Worker
from tests.engine.toy_problem import toy_problem

COST = Cost(flops=1000, bytes_read=6_000_000, bytes_written=6_000_000)


@dataclass(kw_only=True)
class Lab:
    """A simulated machine, and the records of a benchmark on it."""

    device: Machine
    judge: Judge
    worker: Worker
    seed: int = 7
    cases: list[CaseBenchmark] = field(default_factory=list)
    estimates: list[CaseEstimate] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    work: list[str] = field(default_factory=list)
    states: int = 0
    case = CASE
    second = SECOND

    def another(self, **script: Any) -> Worker:
        """One more worker on the same machine."""
        return Worker(self.device, Script(**script), name="another")

    def state(self) -> DeviceState:
        self.states += 1
        return STATE

    def bench(
        self,
        *,
        cases: tuple[Case, ...] = (CASE,),
        baselines: tuple[str, ...] = ("eager",),
        cache: CacheState = CacheState.COLD,
        case_s: float = 2.0,
        tuning_s: float = 30.0,
        peaks: Peaks | None = PEAKS,
        stored: Callable[[str, str], float | None] = lambda *_: None,
        other: Worker | None = None,
        reload: Callable[[], Awaitable[Worker | None]] | None = None,
        own: frozenset[str] = frozenset(),
        source: KernelSource | None = None,
    ) -> Bench:
        """A benchmark of the worker."""
        return Bench(
            BenchmarkPlan(cases=cases, cache=cache, baselines=baselines, case_s=case_s, tuning_s=tuning_s),
            toy_problem(*(cases or (CASE,)), cost=COST),
            candidate=TimedCandidate(side=self.worker, reload=reload, kernels=OwnKernels(names=own, source=source)),
            other=TimedCandidate(side=other) if other is not None else None,
            exchange=Exchange(
                ask_judge=self.judge, clock=self.device.clock, on_work=lambda doing, *_: self.work.append(doing)
            ),
            device=TimedDevice(
                device=Device(platform="cuda", index=0, name="H100"),
                state=self.state,
                peaks=peaks,
                free_bytes=60 << 30,
                stored_us=stored,
            ),
            rng=random.Random(self.seed),
            listener=self,
        )

    def case_estimated(self, estimate: CaseEstimate) -> None:
        self.estimates.append(estimate)

    def case_timed(self, benchmark: CaseBenchmark, findings: tuple[Finding, ...]) -> None:
        self.cases.append(benchmark)
        self.findings += findings

    async def run(self, **options: Any) -> CaseBenchmark:
        """The record of the one case."""
        await self.bench(**options).run()
        assert not self.device.arranged
        assert self.device.occupied == 0
        (case,) = self.cases
        return case

    def raised(self) -> dict[str, str]:
        """Severity by check."""
        return {finding.check: finding.severity.value for finding in self.findings}
