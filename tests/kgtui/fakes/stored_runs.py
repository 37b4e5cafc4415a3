"""Runs to be put side by side, on a real store in memory: timed or not, by a model or by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from engine.model import BenchmarkPlan, Candidate, Finding, Location, Plan, Severity, Tier
from engine.model.benchmark import OTHER, CaseBenchmark, Comparison, Interval, Standing
from engine.model.events import Event, OtherLoaded
from kgtui.history.comparison_source import read_side
from kgtui.history.recorder import StoreRecording
from kgtui.state.compare.sides import Side
from sessions import Store, open_memory_store
from tests.generated import Generation, add_generation
from tests.kgtui.fakes.cases import passed
from tests.kgtui.fakes.kernels import SOURCE
from tests.kgtui.fakes.recording import NOW
from tests.kgtui.fakes.streams import run_events
from tests.kgtui.fakes.timed_runs import benchmark_of, timed_events, timed_problem

TIERS = (Tier.SMOKE, Tier.FULL)
_NOTED = "  # 形状 🚀".encode()
SECOND = SOURCE.replace(b"tl.max(x, axis=0)", b"tl.max(x, axis=0)" + _NOTED).replace(
    b"    rows, cols = x.shape\n", b"    rows, cols = x.shape\n    assert dim == 1\n"
)
THIRD = SOURCE.replace(b"    mask = offsets < cols\n", b"")
FOURTH = b"import os\n" + SOURCE
Script = Callable[[Candidate, Plan], Sequence[Event]]


class Kept(StoreRecording):
    """A store in memory that the application opens."""

    def __init__(self) -> None:
        store = open_memory_store(clock=lambda: NOW)
        super().__init__(store, label="test", environment={"device": "NVIDIA H100", "torch": "2.13.0"})
        self.store: Store = store

    def open_or_raise(self) -> None:
        """It is open."""


class Runs:
    """Stores the runs that a test needs; `device` is where they ran, `store` one that is open already."""

    def __init__(self, folder: Path, *, device: str = "cpu", store: Store | None = None) -> None:
        self.recording = Kept()
        self.store = store or self.recording.store
        self.session = self.store.begin_session("test", environment={"device": "NVIDIA H100", "torch": "2.13.0"})
        self.folder = folder
        self.device = device

    def add(
        self, script: Script, source: bytes = SOURCE, *, filename: str = "softmax.py", session: int | None = None
    ) -> int:
        """The number of a run of this text."""
        path = self.folder / "kernels" / filename
        problem = timed_problem()
        candidate = Candidate(source=source, problem=problem.name, filename=filename, folder=path.parent)
        number = self.store.begin_run(
            self.session if session is None else session,
            candidate,
            device=self.device,
            target="sm_90",
            tiers=TIERS,
            path=path,
        )
        plan = Plan.for_tiers(problem, tiers=TIERS, device=self.device, target="sm_90", failed_before=())
        if self.device != "cpu":
            cases = tuple(case for case in problem.cases if case.tier is Tier.BENCH)
            plan = replace(plan, benchmark=BenchmarkPlan(cases=cases))
        self.store.record_all(number, list(script(candidate, plan)))
        return number

    def answered(self, source: bytes, *, model: str = "a model [8b] 模型", cost: int | None = 1250) -> None:
        """A model wrote this text."""
        add_generation(
            self.store,
            self.session,
            Generation(
                problem="aten::softmax",
                provider="local",
                model=model,
                prompt_tokens=1200,
                completion_tokens=340,
                cost_microusd=cost,
                source=source,
                elapsed_s=4.2,
            ),
        )

    def side(self, number: int) -> Side:
        """The run as one side."""
        return read_side(self.store, number)


def faster(share: float) -> Script:
    """Timed, every case this many times as fast over eager as in `all_timed`."""

    def script(candidate: Candidate, plan: Plan) -> list[Event]:
        assert plan.benchmark is not None
        cases = [_scaled(benchmark_of(case, place), share) for place, case in enumerate(plan.benchmark.cases)]
        return timed_events(candidate, plan, benchmarks=cases)

    return script


def beside(other: Candidate, speedup: float, standing: Standing) -> Script:
    """Timed taking turns with another candidate."""

    def script(candidate: Candidate, plan: Plan) -> list[Event]:
        assert plan.benchmark is not None
        found = Comparison(
            baseline=OTHER,
            speedup=Interval(value=speedup, low=speedup * 0.99, high=speedup * 1.01),
            resolution=0.006,
            standing=standing,
        )
        cases = [
            replace(one, comparisons=(found, *one.comparisons))
            for one in (benchmark_of(case, place) for place, case in enumerate(plan.benchmark.cases))
        ]
        return [*timed_events(candidate, plan, benchmarks=cases), OtherLoaded(at_s=4.9, digest=other.digest)]

    return script


def hinted(candidate: Candidate, plan: Plan) -> list[Event]:
    """Right, with two hints in the same place."""
    findings = [
        Finding(check="handler", severity=Severity.HINT, message=f"a try in [{name}]", location=Location(line=line))
        for name, line in (("softmax", 19), ("形状", 12))
    ]
    return run_events(candidate, plan, [passed(case) for case in plan.cases], findings=findings)


def _scaled(timed: CaseBenchmark, share: float) -> CaseBenchmark:
    def scaled(one: Interval, by: float) -> Interval:
        return Interval(value=one.value * by, low=one.low * by, high=one.high * by)

    comparisons = tuple(replace(one, speedup=scaled(one.speedup, share)) for one in timed.comparisons)
    assert timed.timing is not None and timed.timing.device_us is not None
    timing = replace(timed.timing, device_us=scaled(timed.timing.device_us, 1 / share))
    return replace(timed, comparisons=comparisons, timing=timing)
