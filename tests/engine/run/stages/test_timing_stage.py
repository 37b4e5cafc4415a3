"""The last stage of a run: what it says of the lock, and what it must not take for the lock's fault."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from engine import protocol
from engine.devices import Device
from engine.devices.hardware.device_lock import DeviceLock, lock_state
from engine.errors import EngineError, UnsupportedError
from engine.model import (
    BenchmarkPlan,
    CacheState,
    Candidate,
    Case,
    DType,
    Limits,
    Outcome,
    Tier,
    events,
)
from engine.model.benchmark import CaseBenchmark, CaseEstimate, Interval, Method
from engine.model.layers import Coverage, left_out_count
from engine.processes.candidate_session import CandidateSession, LoadRequest
from engine.processes.warm_pool import PooledProcess, WarmPool
from engine.profile import Profile
from engine.run.event_stream import EventEmitter
from engine.run.stages.timing_stage import TimingStage
from engine.timing.measurement_context import MeasurementContext
from engine.timing.timed_candidates import OwnKernels
from tests.engine.toy_problem import toy_problem

if TYPE_CHECKING:
    from tests.engine.conftest import Employ

GPU = Device(platform="cuda", index=0, name="a GPU", target="sm_90")
LOCK = "GPU-1a20"
_TURNS = 1000  # of the event loop, more than a benchmark takes to begin
NOTHING = BenchmarkPlan(cases=())
CASE = Case(name="c", dtype=DType.FLOAT32, tier=Tier.BENCH, params={})


PROBLEM = toy_problem(CASE)


class DriverError(Exception):
    """Stands for pynvml.NVMLError."""


class Stage:
    """A timing stage, on a device whose memory `ask_memory` tells; `asked` says whether we held the lock."""

    def __init__(
        self,
        employ: Employ,
        locks: Path,
        *,
        other: Candidate | None = None,
        plan: BenchmarkPlan = NOTHING,
        judged_s: float = 0.0,
    ) -> None:
        self.locks = locks
        self.asked: list[bool] = []
        self.failure: Exception | None = None
        driver = SimpleNamespace(
            NVMLError=DriverError,
            nvmlInit=lambda: None,
            nvmlShutdown=lambda: None,
            nvmlDeviceGetHandleByIndex=lambda index: index,
            nvmlDeviceGetMemoryInfo=self._ask_memory,
        )
        loop = asyncio.get_running_loop()
        self._emitter = EventEmitter(loop.time, started=loop.time() - judged_s)
        _, self.process_pool = employ(_load_what_is_text, target="sm_90")
        process_pool = self.process_pool

        def session(candidate: Candidate) -> CandidateSession:
            return CandidateSession(
                LoadRequest(candidate=candidate, entry="f"),
                spare=process_pool.worker,
                limits=Limits(),
                on_log=lambda *_: None,
            )

        self.stage = TimingStage(
            plan,
            PROBLEM,
            session=session(Candidate(source=b"", problem=PROBLEM.name)),
            other=session(other) if other is not None else None,
            measurement_context=MeasurementContext(
                device=GPU,
                process_pool=process_pool,
                peaks_folder=None,
                lock=DeviceLock(locks, device_id=LOCK, command="kgtui", poll_s=0.001),
                driver=driver,  # type: ignore[arg-type]  # what is asked of it here
            ),
            profile=Profile(loop.time, started=loop.time()),
            emitter=self._emitter,
            kernels=OwnKernels(),
        )

    async def emitted(self) -> list[events.Event]:
        """What was told until now."""
        self._emitter.close()
        return [event async for event in self._emitter.stream()]

    async def notes(self) -> list[tuple[str, str]]:
        """What was noted until now."""
        found = [event.finding for event in await self.emitted() if isinstance(event, events.FindingRaised)]
        return [(finding.check, finding.message) for finding in found]

    def _ask_memory(self, handle: object) -> SimpleNamespace:
        self.asked.append(self.locks.is_dir() and lock_state(self.locks, LOCK).is_held)
        if self.failure is not None:
            raise self.failure
        return SimpleNamespace(free=1 << 30)


def _load_what_is_text(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply:
    """A worker that loads every file but one that is broken."""
    if isinstance(command, protocol.Load) and Path(command.path).read_bytes() == b"broken":
        return protocol.Failed(id=command.id, kind=protocol.FailureKind.RAISED, message="no such name")
    return (
        protocol.Loaded(id=command.id, siblings=())
        if isinstance(command, protocol.Load)
        else protocol.Done(id=command.id)
    )


@pytest.fixture
async def stage(employ: Employ, tmp_path: Path) -> Stage:
    return Stage(employ, tmp_path / "locks")


async def test_timing_holds_the_device_lock(stage: Stage) -> None:
    await stage.stage.run()
    assert stage.asked == [True]
    assert await stage.notes() == []
    assert not lock_state(stage.locks, LOCK).is_held


@pytest.mark.parametrize("name", ["worker", "compiler", "module_compiler"])
async def test_timing_waits_for_processes_that_are_being_made(stage: Stage, name: str) -> None:
    pool = stage.process_pool
    made = asyncio.Event()

    async def start() -> PooledProcess:
        await made.wait()
        raise EngineError("no process is needed here")

    making = WarmPool(start)
    making.prepare()
    setattr(pool, name, making)
    timing = asyncio.create_task(stage.stage.run())
    for _ in range(_TURNS):
        await asyncio.sleep(0)
    assert stage.asked == []
    made.set()
    await timing
    assert stage.asked == [True]


async def test_timing_without_lock_is_done_and_reported(stage: Stage) -> None:
    stage.locks.write_text("no folder")
    await stage.stage.run()
    assert stage.asked == [False]
    [(check, message)] = await stage.notes()
    assert check == "device_lock"
    assert message.startswith(f"other programs may use the device while it is measured: {stage.locks}")


async def test_unsupported_benchmark_is_not_retried(stage: Stage) -> None:
    stage.failure = UnsupportedError("no such thing on this machine")
    with pytest.raises(UnsupportedError, match="no such thing"):
        await stage.stage.run()
    assert stage.asked == [True]
    assert await stage.notes() == []
    assert not lock_state(stage.locks, LOCK).is_held


async def test_comparison_candidate_is_reported_by_hash(employ: Employ, tmp_path: Path) -> None:
    other = Candidate(source=b"an earlier text", problem=PROBLEM.name)
    stage = Stage(employ, tmp_path / "locks", other=other)
    await stage.stage.run()
    assert [event.digest for event in await stage.emitted() if isinstance(event, events.OtherLoaded)] == [other.digest]


async def test_comparison_candidate_that_fails_to_load_is_reported(employ: Employ, tmp_path: Path) -> None:
    stage = Stage(employ, tmp_path / "locks", other=Candidate(source=b"broken", problem=PROBLEM.name))
    await stage.stage.run()
    emitted = await stage.emitted()
    assert [event for event in emitted if isinstance(event, events.OtherLoaded)] == []
    [note] = [event.finding for event in emitted if isinstance(event, events.FindingRaised)]
    assert note.check == "compare"
    assert note.message.startswith("the other candidate could not be loaded")


async def test_cases_without_remaining_time_are_not_requested(employ: Employ, tmp_path: Path) -> None:
    plan = BenchmarkPlan(cases=(CASE, replace(CASE, name="d"), replace(CASE, name="e")), ends_s=1e-9)
    stage = Stage(employ, tmp_path / "locks", plan=plan)
    await stage.stage.run()
    emitted = await stage.emitted()
    reports = [event.report for event in emitted if isinstance(event, events.LayerChecked)]
    assert [event.benchmark.case for event in emitted if isinstance(event, events.CaseBenchmarked)] == ["c"]
    assert [(report.by, report.coverage) for report in reports][1:] == [("cases left out", Coverage.NOT_ASKED)]
    assert reports[1].why == ("2 of 3 cases were not timed, so that the run ends soon; `kgtui bench` times all of them")
    assert left_out_count(reports) == 2


async def test_probes_keep_as_much_time_as_verification(employ: Employ, tmp_path: Path) -> None:
    plan = BenchmarkPlan(cases=(CASE, replace(CASE, name="d")), ends_s=5_000.0)
    for judged_s, timed in ((1_000.0, ["c", "d"]), (2_600.0, ["c"])):
        stage = Stage(employ, tmp_path / "locks", plan=plan, judged_s=judged_s)
        await stage.stage.run()
        assert [
            each.benchmark.case for each in await stage.emitted() if isinstance(each, events.CaseBenchmarked)
        ] == timed


async def test_with_time_enough_no_case_is_left_out(employ: Employ, tmp_path: Path) -> None:
    plan = BenchmarkPlan(cases=(CASE, replace(CASE, name="d")), ends_s=1e9)
    stage = Stage(employ, tmp_path / "locks", plan=plan)
    await stage.stage.run()
    emitted = await stage.emitted()
    assert [event.benchmark.case for event in emitted if isinstance(event, events.CaseBenchmarked)] == ["c", "d"]
    assert [event.report.by for event in emitted if isinstance(event, events.LayerChecked)] == ["timing"]


async def test_estimate_has_the_number_of_the_case_that_is_timed(stage: Stage) -> None:
    estimate = CaseEstimate(case="d", rounds=8, method=Method.CUPTI, device_us=Interval(value=2.0, low=1.0, high=3.0))
    timed = CaseBenchmark(case="c", outcome=Outcome.PASS, cache=CacheState.COLD, elapsed_s=1.0)
    stage.stage.case_timed(timed, ())
    stage.stage.case_estimated(estimate)
    (event,) = [each for each in await stage.emitted() if isinstance(each, events.CaseEstimated)]
    assert (event.number, event.total, event.estimate) == (2, 0, estimate)
