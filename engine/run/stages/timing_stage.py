"""The last stage of a run: with exclusive use of the device, time the cases of a right candidate."""

from __future__ import annotations

import asyncio
import contextlib
import math
import random
import secrets
from collections import Counter
from collections.abc import Sequence
from functools import partial

from engine.errors import EngineError, UnsupportedError
from engine.model import BenchmarkPlan, Finding, Outcome, Problem, Stage, events
from engine.model.benchmark import CaseBenchmark, CaseEstimate, Method
from engine.model.layers import Coverage, Fact, Layer, LayerReport, left_out_report
from engine.processes.candidate_session import CandidateSession, LoadError
from engine.profile import Profile
from engine.run.event_stream import EventEmitter
from engine.timing.bench import Bench
from engine.timing.exchange import Exchange
from engine.timing.measurement_context import MeasurementContext
from engine.timing.timed_candidates import OwnKernels, TimedCandidate
from engine.verdict.decide import Stop

_CHECK = "timing"
_NOT_ITS_FAULT = (Outcome.PASS, Outcome.ENGINE_ERROR, Outcome.UNSUPPORTED)


class TimingStage:
    """Times one candidate, or two against each other; `run` once."""

    def __init__(
        self,
        plan: BenchmarkPlan,
        problem: Problem,
        *,
        session: CandidateSession,
        other: CandidateSession | None,
        measurement_context: MeasurementContext,
        profile: Profile,
        emitter: EventEmitter,
        kernels: OwnKernels,
    ) -> None:
        self._plan = plan
        self._problem = problem
        self._session = session
        self._other = other
        self._measurement_context = measurement_context
        self._process_pool = measurement_context.process_pool
        self._profile = profile
        self._emitter = emitter
        self._kernels = kernels
        self._number = 0
        self._verified_s = emitter.now()
        self._outcome = Outcome.PASS
        self._message = ""
        self._timed_cases: list[CaseBenchmark] = []

    async def run(self) -> None:
        """Wait for the device, then time every case; cases that could not be measured are reported."""
        async with contextlib.AsyncExitStack() as held:
            try:
                await held.enter_async_context(self._measurement_context.alone(self._emitter.awaited))
            except UnsupportedError as error:
                self._emitter.note("device_lock", f"other programs may use the device while it is measured: {error}")
            await self._timed()

    async def _timed(self) -> None:
        pool = self._process_pool
        with self._profile.span("settle"):  # no process is made or warmed while calls are timed
            await asyncio.gather(pool.worker.settle(), pool.compiler.settle(), pool.module_compiler.settle())
            await pool.warming.wait()
        began = self._emitter.begin(Stage.BENCHMARK, len(self._plan.cases))
        other = await self._loaded_other()
        bench = Bench(
            self._plan, self._problem,
            candidate=TimedCandidate(side=self._session, reload=partial(_reload, self._session), kernels=self._kernels),
            other=TimedCandidate(side=other, reload=partial(_reload, other)) if other is not None else None,
            exchange=Exchange(
                ask_judge=self._process_pool.ask_judge, clock=self._emitter.clock, on_work=self._profile.note
            ),
            device=self._measurement_context.timed_device(self._problem.name, self._plan.cache.value),
            rng=random.Random(secrets.randbits(64)), listener=self,
        )  # fmt: skip
        await bench.run(end_s=self._end_s)
        if summaries := bench.summaries():
            self._emitter.emit(events.BenchmarkSummarised(at_s=self._emitter.now(), summaries=summaries))
        self._emitter.report(_report(self._timed_cases))
        if bench.left_out:
            self._emitter.report(left_out_report(len(bench.left_out), planned=len(self._plan.cases)))
        self._emitter.end(Stage.BENCHMARK, began, self._outcome, self._message)

    @property
    def stop(self) -> Stop | None:
        """Why the candidate is not right after all: a timed call was wrong; otherwise None."""
        if self._outcome in _NOT_ITS_FAULT:
            return None
        return Stop(outcome=self._outcome, message=self._message)

    @property
    def _end_s(self) -> float:
        """Clock time at which timing should end: the probes that follow take about as long as verification."""
        if self._plan.ends_s is None:
            return math.inf
        return self._emitter.clock() - self._emitter.now() + self._plan.ends_s - self._verified_s

    async def _loaded_other(self) -> CandidateSession | None:
        if self._other is None:
            return None
        try:
            await self._other.load()
        except (LoadError, EngineError) as error:
            self._emitter.note("compare", f"the other candidate could not be loaded: {error}")
            return None
        self._emitter.emit(events.OtherLoaded(at_s=self._emitter.now(), digest=self._other.digest))
        return self._other

    def case_estimated(self, estimate: CaseEstimate) -> None:
        """Emit the times of the case that is being timed."""
        self._emitter.emit(
            events.CaseEstimated(
                at_s=self._emitter.now(), number=self._number + 1, total=len(self._plan.cases), estimate=estimate
            )
        )

    def case_timed(self, benchmark: CaseBenchmark, findings: tuple[Finding, ...]) -> None:
        """Emit the record of a case with its findings, and keep it for the report."""
        for finding in findings:
            self._emitter.find(finding)
        self._number += 1
        self._timed_cases.append(benchmark)
        if benchmark.outcome is not Outcome.PASS and self._outcome in _NOT_ITS_FAULT:
            self._outcome, self._message = benchmark.outcome, f"timing {benchmark.case}: {benchmark.message}"
        if benchmark.outcome is Outcome.PASS:
            self._measurement_context.keep(self._problem.name, benchmark)
        self._emitter.emit(
            events.CaseBenchmarked(
                at_s=self._emitter.now(), number=self._number, total=len(self._plan.cases), benchmark=benchmark
            )
        )


async def learn_peaks(
    measurement_context: MeasurementContext, plan: BenchmarkPlan | None, emitter: EventEmitter, profile: Profile
) -> None:
    """Load or measure the peaks of the device if something is to be timed on it."""
    if plan is None or not plan.cases:
        return
    with profile.span("peaks"):
        await measurement_context.learn_peaks(emitter.awaited)
    for trouble in measurement_context.troubles:
        emitter.note("peaks", trouble)
    measurement_context.troubles.clear()


def not_timed(coverage: Coverage, why: str) -> LayerReport:
    """The report on a layer that was not started."""
    return LayerReport(layer=Layer.TIMING, by=_CHECK, coverage=coverage, why=why)


def _report(timed: Sequence[CaseBenchmark]) -> LayerReport:
    """Report on the checks of the times; only the device's activity record covers every call."""
    right = [one for one in timed if one.outcome is Outcome.PASS]
    methods = Counter(one.timing.method if one.timing is not None else None for one in right)
    facts = (
        Fact(name="cases timed", value=f"{len(right)} of {len(timed)}"),
        Fact(
            name="timed calls verified",
            value=f"{sum(one.verified for one in right)} of {sum(one.calls for one in right)}",
        ),
        Fact(
            name="device times by",
            value=", ".join(f"{method or 'nothing'}: {count}" for method, count in methods.items()) or "nothing",
        ),
    )
    imprecise = sum(count for method, count in methods.items() if method is not Method.CUPTI)
    why = ""
    if not right:
        why = "no case could be timed"
    elif imprecise:
        why = f"{imprecise} of {len(right)} cases were not timed by CUPTI"
    coverage = Coverage.NOT_CHECKED if why else Coverage.CHECKED
    return LayerReport(layer=Layer.TIMING, by=_CHECK, coverage=coverage, why=why, facts=facts)


async def _reload(session: CandidateSession) -> CandidateSession | None:
    """The session with a new worker, or None if none could be started."""
    try:
        if not session.occupied:
            await session.load()
    except EngineError:
        return None
    return session
