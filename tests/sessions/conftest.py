"""A store with a clock that the test holds, candidates, and the events of whole runs."""

from __future__ import annotations

import contextlib
import importlib
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from engine.model import (
    Artefact,
    CacheState,
    Candidate,
    CaseResult,
    CompiledKernel,
    Finding,
    Launch,
    Location,
    Outcome,
    OutputReport,
    Policy,
    Severity,
    Stage,
    Stream,
    Tier,
    Verdict,
    WrongElement,
)
from engine.model.benchmark import (
    CANDIDATE,
    Bound,
    CaseBenchmark,
    Comparison,
    Floor,
    Interval,
    Method,
    Standing,
    Summary,
    Timing,
)
from engine.model.events import (
    BenchmarkSummarised,
    CaseBenchmarked,
    CaseFinished,
    Event,
    FindingRaised,
    KernelCompiled,
    KernelLaunched,
    LogWritten,
    ProofStored,
    RunFinished,
    RunStarted,
    StageFinished,
    StageStarted,
    SuiteRuleApplied,
)
from sessions import RunKey, Store, open_store


class FixedClock:
    """Says what it is told to say."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def pass_time(self, **units: float) -> None:
        self.now += timedelta(**units)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.db"


@pytest.fixture
def store(path: Path, clock: FixedClock) -> Iterator[Store]:
    with open_store(path, clock=clock) as opened:
        yield opened


@pytest.fixture
def ask(path: Path, store: Store) -> Callable[[str], list[tuple]]:
    """Rows of a statement, by a connection of its own: what is not committed is not seen."""

    def rows(statement: str) -> list[tuple]:
        connection = sqlite3.connect(path)
        try:
            return connection.execute(statement).fetchall()
        finally:
            connection.close()

    return rows


@pytest.fixture
def session_id(store: Store) -> int:
    return store.begin_session("a morning", environment={"triton": "3.9.0", "torch": "2.13.0"})


Begin = Callable[..., int]
WithoutRoot = Callable[[], contextlib.AbstractContextManager[None]]


@pytest.fixture
def begin(store: Store, session_id: int) -> Begin:
    """Begin a run of a small softmax; everything can be said otherwise."""

    def begin_run(
        *,
        session: int = session_id,
        problem: str = "aten::softmax",
        source: bytes = b"def softmax(x): ...\n",
        device: str = "cpu",
        target: str | None = "sm_90",
        tiers: tuple[Tier, ...] = (Tier.SMOKE,),
        path: Path | None = Path("/home/user/softmax.py"),
    ) -> int:
        candidate = Candidate(source=source, problem=problem)
        return store.begin_run(session, candidate, device=device, target=target, tiers=tiers, path=path)

    return begin_run


def case_finished(name: str, *, outcome: Outcome = Outcome.PASS, number: int = 1, total: int = 2) -> CaseFinished:
    """A judged case; a wrong value comes with its report."""
    report = OutputReport(
        name="return", outcome=outcome, shape=(1, 131072), dtype="float32", mismatched=3, total=131072,
        nonfinite_got=1, max_absolute_error=0.031, max_relative_error=0.5, max_ulp_error=9000.0,
        worst=WrongElement(index=(0, 131071), expected="0.5", got="nan"), first_wrong=(0, 131069),
        last_wrong=(0, 131071), error_map=("...#",),
    )  # fmt: skip
    return CaseFinished(
        at_s=0.5,
        number=number,
        total=total,
        result=CaseResult(
            case=name,
            tier=Tier.SMOKE,
            outcome=outcome,
            elapsed_s=0.01,
            calls=2,
            seed=2**64 - 1,
            message="" if outcome is Outcome.PASS else "3 elements are out of tolerance",
            location=None if outcome is Outcome.PASS else Location(line=41, column=9),
            outputs=(report,) if outcome is Outcome.WRONG_VALUE else (),
        ),
    )


def run_finished(
    outcome: Outcome = Outcome.PASS, *, passed: int = 2, total: int = 2, flagged: bool = False
) -> RunFinished:
    sentence = f"{passed} of {total} cases passed"
    return RunFinished(
        at_s=1.25,
        verdict=Verdict(outcome=outcome, sentence=sentence, passed=passed, total=total, flagged=flagged),
    )


LAUNCH = Launch(
    kernel="softmax_kernel",
    signature={"x": "*fp32", "n": "i32"},
    constants={"BLOCK": "1024"},
    divisible_by_16=("x",),
    num_warps=4,
    num_stages=2,
    grid=(4, 1, 1),
    line=12,
)

# One event of every kind, in the order of a run that goes wrong in one case.
WHOLE_RUN: tuple[Event, ...] = (
    RunStarted(
        at_s=0.0, problem="aten::softmax", digest="d" * 64, device="cpu", device_name="A CPU", target="sm_90", cases=2
    ),
    StageStarted(at_s=0.1, stage=Stage.VERIFY, total=2),
    FindingRaised(
        at_s=0.2,
        finding=Finding(
            check="handler", severity=Severity.HINT, message="x[0] | a [bold]handler[/]",
            location=Location(line=7), case="1x8 f32",
        ),
    ),
    KernelLaunched(at_s=0.3, launch=LAUNCH),
    LogWritten(at_s=0.4, stream=Stream.STDOUT, text="hello\n"),
    case_finished("4x8 f32"),
    case_finished("1x131072 f32", outcome=Outcome.WRONG_VALUE, number=2),
    StageFinished(at_s=0.8, stage=Stage.VERIFY, outcome=Outcome.WRONG_VALUE, elapsed_s=0.7, message="1 of 2 failed"),
    KernelCompiled(
        at_s=1.0, number=1, total=1,
        kernel=CompiledKernel(
            launch=LAUNCH, target="sm_90", outcome=Outcome.PASS, elapsed_s=0.2, registers=32, spill_bytes=0,
            shared_bytes=None, artefacts=(
                Artefact(kind="ptx", digest="a" * 64, bytes=1000), Artefact(kind="sass", digest="b" * 64, bytes=2000),
            ),
        ),
    ),
    ProofStored(at_s=1.1, artefact=Artefact(kind="proof", digest="c" * 64, bytes=3000), cases=1),
    SuiteRuleApplied(at_s=1.2, calls=3, passed=2),
    run_finished(Outcome.WRONG_VALUE, passed=1),
)  # fmt: skip


@pytest.fixture
def whole_run() -> tuple[Event, ...]:
    return WHOLE_RUN


Judge = Callable[..., int]


@pytest.fixture
def judge(store: Store, begin: Begin) -> Judge:
    """A finished run whose cases had the outcomes given by name."""

    def judged(
        outcome: Outcome = Outcome.PASS,
        *,
        flagged: bool = False,
        cases: dict[str, Outcome] | None = None,
        **how: object,
    ) -> int:
        run_id = begin(**how)
        judged_cases = cases or {}
        for number, (name, case_outcome) in enumerate(judged_cases.items(), start=1):
            store.record(run_id, case_finished(name, outcome=case_outcome, number=number, total=len(judged_cases)))
        passed = sum(case_outcome is Outcome.PASS for case_outcome in judged_cases.values())
        store.record(run_id, run_finished(outcome, passed=passed, total=len(judged_cases), flagged=flagged))
        return run_id

    return judged


def interval(value: float) -> Interval:
    """An estimate with a tenth to either side."""
    return Interval(value=value, low=value * 0.9, high=value * 1.1)


def timing(side: str, device_us: float | None, *, notes: tuple[str, ...] = ()) -> Timing:
    """What one side took; a call takes a microsecond more than the device does."""
    if device_us is None:
        return Timing(side=side, method=None, device_us=None, call_us=None, notes=notes)
    return Timing(
        side=side,
        method=Method.CUPTI,
        device_us=interval(device_us),
        call_us=interval(device_us + 1),
        graph_us=interval(device_us),
        samples_us=(device_us,),
        notes=notes,
    )


def case_timed(
    name: str = "4096x4096 f32",
    *,
    device_us: float = 50.0,
    baselines: dict[str, float | None] | None = None,
    cache: CacheState = CacheState.COLD,
    outcome: Outcome = Outcome.PASS,
    number: int = 1,
    total: int = 1,
    at_s: float = 1.1,
) -> CaseBenchmarked:
    """A case that was timed beside baselines; one whose time is None could not be."""
    times = {"eager": 100.0} if baselines is None else baselines
    return CaseBenchmarked(
        at_s=at_s, number=number, total=total,
        benchmark=CaseBenchmark(
            case=name, outcome=outcome, cache=cache, elapsed_s=0.5,
            message="" if outcome is Outcome.PASS else "3 elements are out of tolerance",
            timing=timing(CANDIDATE, device_us),
            baselines=tuple(timing(side, us, notes=() if us else ("not installed",)) for side, us in times.items()),
            comparisons=tuple(
                Comparison(baseline=side, speedup=interval(us / device_us), resolution=0.01, standing=Standing.FASTER)
                for side, us in times.items() if us
            ),
            floor=Floor(
                floor_us=40.0, bound=Bound.MEMORY, bandwidth_bytes_per_s=3e12, peak_flops_per_s=None,
                precision="float32", percent=80.0,
            ),
            slots=7, calls=40, verified=39,
        ),
    )  # fmt: skip


def summarised(speedup: float = 2.0, *, baseline: str = "eager", cases: int = 1, planned: int = 1) -> Event:
    summary = Summary(
        baseline=baseline, speedup=interval(speedup), cases=cases, planned=planned, fast={"1.0": cases, "2.0": 0}
    )
    return BenchmarkSummarised(at_s=1.2, summaries=(summary,))


def started_on(device_name: str = "A GPU", policy: Policy = Policy.DEFAULT) -> RunStarted:
    return RunStarted(
        at_s=0.0,
        problem="aten::softmax",
        digest="d",
        device="cuda",
        device_name=device_name,
        target="sm_90",
        cases=2,
        policy=policy,
    )


@pytest.fixture
def judge_in(begin_in: Begin) -> Callable[[Store], int]:
    """A right run with a benchmark, in whichever store is given."""

    def judged(store: Store) -> int:
        run_id = begin_in(store)
        store.record_all(run_id, (started_on(), case_timed(), summarised(), run_finished()))
        return run_id

    return judged


@pytest.fixture
def time(store: Store, begin: Begin) -> Judge:
    """A finished run on a GPU that was timed as the events given say."""

    def timed(
        *events: Event,
        outcome: Outcome = Outcome.PASS,
        flagged: bool = False,
        device_name: str = "A GPU",
        policy: Policy = Policy.DEFAULT,
        **how: object,
    ) -> int:
        run_id = begin(**how)
        reported = events or (case_timed(), summarised())
        store.record_all(run_id, (started_on(device_name, policy), *reported, run_finished(outcome, flagged=flagged)))
        return run_id

    return timed


@pytest.fixture
def reported() -> SimpleNamespace:
    """Makes the events of a benchmark."""
    return SimpleNamespace(case=case_timed, summary=summarised)


@pytest.fixture
def begin_in() -> Begin:
    """Begin a run, in a session of its own, in whichever store is given."""

    def begin_run(store: Store) -> int:
        candidate = Candidate(source=b"", problem="aten::softmax")
        session_id = 1 if store.sessions() else store.begin_session("here")
        return store.begin_run(session_id, candidate, device="cpu", target=None, tiers=(Tier.SMOKE,), path=None)

    return begin_run


@pytest.fixture
def unprivileged_later(without_root: WithoutRoot) -> WithoutRoot:
    """A block without the powers of root, in which a store can be opened."""
    importlib.import_module("sqlite_utils.migrations")  # while its folder can still be read
    return without_root


@pytest.fixture
def unprivileged(unprivileged_later: WithoutRoot) -> Iterator[None]:
    """A test without the powers of root."""
    with unprivileged_later():
        yield


@pytest.fixture
def find(store, session_id):
    """The number of the stored run that answers a request as that of a run, or one changed a little; None without."""

    def find_cached(run_id: int, **changed):
        key = RunKey(
            digest=store.run(run_id).digest,
            problem="aten::softmax",
            device="cpu",
            target="sm_90",
            tiers=(Tier.SMOKE,),
            session=session_id,
        )
        found = store.find_cached(replace(key, **changed))
        return found.id if found else None

    return find_cached
