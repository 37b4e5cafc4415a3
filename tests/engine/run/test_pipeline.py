"""A run from its source to its verdict, with a process pool whose answers are written here."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
import torch

from engine import protocol
from engine.artefacts import ArtefactStore
from engine.devices import Device
from engine.devices.hardware.device_lock import DeviceLock
from engine.model import (
    BenchmarkPlan,
    Candidate,
    Case,
    Cost,
    DType,
    Launch,
    Limits,
    Outcome,
    OutputReport,
    Plan,
    Policy,
    ProblemDefinition,
    Stage,
    Tier,
    Tolerance,
    events,
)
from engine.processes.directories import EngineDirectories
from engine.run.engine_resources import EngineResources
from engine.run.pipeline import Run
from engine.static.source import Source, read_source
from engine.timing.measurement_context import MeasurementContext
from tests.guards import PATIENCE_S

if TYPE_CHECKING:
    from tests.engine.conftest import Employ

DEFINITION = ProblemDefinition(
    name="toy::twice",
    entry="f",
    signature="f(x: Tensor) -> Tensor",
    summary="",
    category="toy",
    cases=(Case(name="empty", dtype=DType.FLOAT32, tier=Tier.FULL, params={}),),
    make_inputs=lambda case, rng: (torch.zeros(0),),
    reference=lambda x: 2 * x,
    eager=lambda x: 2 * x,
    tolerance=lambda case: Tolerance(relative=0.0, absolute=0.0),
    cost=lambda case: Cost(flops=1, bytes_read=1, bytes_written=1),
)
PROBLEM = DEFINITION.problem("toy_problems")


async def test_a_case_without_elements_needs_no_kernel(employ: Employ, tmp_path: Path) -> None:
    def empty_case(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply:
        report = OutputReport(name="return", outcome=Outcome.PASS, shape=(0,), dtype="float32")
        match command:
            case protocol.Load():
                return protocol.Loaded(id=command.id)
            case protocol.Prepare():
                arena = protocol.ArenaSpec(path=command.arena_path or "", storages=(), bytes=256)
                return protocol.Prepared(id=command.id, arguments=(), arena=arena, elapsed_s=0.0)
            case protocol.Call():
                return protocol.Called(id=command.id, returned=(), launches=(), elapsed_s=0.0)
            case protocol.Compare():
                return protocol.Compared(id=command.id, reports=(report,), repeated=None, mutated=None)
            case protocol.Release():
                return protocol.Released(id=command.id, seed=1)
            case protocol.Observe():
                return protocol.Observed(id=command.id)
            case _:
                return protocol.Done(id=command.id)

    _, process_pool = employ(empty_case)
    candidate = Candidate(source=b"import triton\n@triton.jit\ndef k(): ...\ndef f(x): ...\n", problem="toy::twice")
    run = Run(
        candidate,
        Plan(problem=PROBLEM, cases=PROBLEM.cases, device="cpu", target=None),
        EngineResources(
            process_pool=process_pool,
            artefacts=ArtefactStore(folder=tmp_path),
            device=Device(platform="cpu", index=0, name="cpu"),
            limits=Limits(),
        ),
        probes=(),
    )
    emitted = [event async for event in run.stream(asyncio.Event())]
    finished = emitted[-1]
    assert isinstance(finished, events.RunFinished)
    assert (finished.verdict.outcome, finished.verdict.flagged) == (Outcome.PASS, False)


LAUNCH = Launch(
    kernel="k", signature={"x": "*fp32"}, constants={}, divisible_by_16=(), num_warps=4, num_stages=3, grid=(1,), line=2
)
ARENA = protocol.ArenaSpec(
    handle="0f" * 64,
    block_bytes=4096,
    storages=(protocol.StorageSpec(offset=256, bytes=16),),
    bytes=1024,
    outputs=protocol.StorageSpec(offset=768, bytes=16),
)
CASES = tuple(Case(name=name, dtype=DType.FLOAT32, tier=Tier.FULL, params={}) for name in "ab")
GPU = Device(platform="cuda", index=0, name="a GPU", target="sm_90", driver="580.1")


class Theatre:
    """A run on a device whose children are played here; `asked` is what they were, in this order."""

    def __init__(self, employ: Employ, folder: Path) -> None:
        self.asked: list[tuple[str, protocol.AnyCommand]] = []
        self.changes: Callable[[str, protocol.AnyCommand], protocol.AnyReply | None] = lambda kind, command: None
        self.silent: tuple[type[protocol.AnyCommand], ...] = ()
        self.fork_server, self.process_pool = employ(self._play, target="sm_90")
        self._artefacts = ArtefactStore(folder=folder)

    def open(
        self,
        *cases: Case,
        target: str | None = "sm_90",
        timed: tuple[Case, ...] | None = None,
        measurement_context: MeasurementContext | None = None,
        other: Candidate | None = None,
    ) -> Run:
        """A run of these cases; `timed` of None has no benchmark."""
        problem = replace(DEFINITION, cases=cases).problem("toy_problems")
        candidate = Candidate(source=b"import triton\n@triton.jit\ndef k(): ...\ndef f(x): ...\n", problem="toy::twice")
        benchmark = BenchmarkPlan(cases=timed) if timed is not None else None
        plan = Plan(problem=problem, cases=cases, device="cuda", target=target, benchmark=benchmark)
        resources = EngineResources(
            process_pool=self.process_pool,
            artefacts=self._artefacts,
            device=GPU,
            limits=Limits(),
            measurement_context=measurement_context,
        )
        return Run(candidate, plan, resources, other=other, probes=())

    async def run(
        self,
        *cases: Case,
        target: str | None = "sm_90",
        timed: tuple[Case, ...] | None = None,
        measurement_context: MeasurementContext | None = None,
    ) -> list[events.Event]:
        """Everything that such a run tells."""
        run = self.open(*cases, target=target, timed=timed, measurement_context=measurement_context)
        return [event async for event in run.stream(asyncio.Event())]

    def commands(self, *kinds: type[protocol.AnyCommand]) -> list[protocol.AnyCommand]:
        """The commands of these kinds, in their order."""
        return [command for _, command in self.asked if isinstance(command, kinds)]

    def _play(self, kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        self.asked.append((kind, command))
        changed = self.changes(kind, command)
        return None if isinstance(command, self.silent) else changed or self._usual(command)

    def _usual(self, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        report = OutputReport(name="return", outcome=Outcome.PASS, shape=(4,), dtype="float32", total=4)
        met = protocol.SuppressedLaunch(launch=LAUNCH, specialisation='{"signature": {"x": "*fp32"}}')
        match command:
            case protocol.Load():
                return protocol.Loaded(id=command.id)
            case protocol.Describe():
                shape = protocol.Shape(arguments=(), storages=(16,))
                return protocol.Described(id=command.id, shapes=(shape,) * len(command.cases))
            case protocol.RunDry():
                return protocol.RanDry(id=command.id, launches=(met,))
            case protocol.Compile() | protocol.BuildLauncher():
                return protocol.Compiled(id=command.id, stages={})
            case protocol.Prepare():
                arena = ARENA
                if command.arena_path is not None:
                    arena = protocol.ArenaSpec(path=command.arena_path, storages=ARENA.storages, bytes=1024)
                return protocol.Prepared(id=command.id, arguments=(), arena=arena, elapsed_s=0.0)
            case protocol.Call():
                return protocol.Called(id=command.id, returned=(), launches=(LAUNCH,), elapsed_s=0.0)
            case protocol.Compare() | protocol.CompareSnapshot():
                return protocol.Compared(id=command.id, reports=(report,), repeated=None, mutated=None)
            case protocol.Release():
                return protocol.Released(id=command.id, seed=1)
        return protocol.Done(id=command.id)


@pytest.fixture
def theatre(employ: Employ, tmp_path: Path) -> Theatre:
    return Theatre(employ, tmp_path)


def verdict(emitted: list[events.Event]) -> Outcome:
    [finished] = [event for event in emitted if isinstance(event, events.RunFinished)]
    return finished.verdict.outcome


def notes(emitted: list[events.Event]) -> list[tuple[str, str]]:
    return [
        (event.finding.check, event.finding.message) for event in emitted if isinstance(event, events.FindingRaised)
    ]


async def test_device_run_compiles_kernels_before_first_call(theatre: Theatre) -> None:
    emitted = await theatre.run(CASES[0])
    assert verdict(emitted) is Outcome.PASS
    asked = theatre.commands(protocol.RunDry, protocol.Compile, protocol.Call)
    order = [type(command) for command in asked if not getattr(command, "tape", "")]  # a proof comes behind
    assert order == [protocol.RunDry, protocol.Compile, protocol.Call, protocol.Call, protocol.Call]
    assert [event.kernel.outcome for event in emitted if isinstance(event, events.KernelCompiled)] == [Outcome.PASS]


async def test_device_run_calls_every_case_on_new_content(theatre: Theatre) -> None:
    await theatre.run(CASES[0])
    refills = [command for command in theatre.commands(protocol.Refill) if isinstance(command, protocol.Refill)]
    assert [refill.fresh for refill in refills[:2]] == [False, True]  # those behind are of the proof


async def test_kernels_for_another_target_compile_beside_device(theatre: Theatre) -> None:
    emitted = await theatre.run(CASES[0], target="gfx942")
    compiled = [command for command in theatre.commands(protocol.Compile) if isinstance(command, protocol.Compile)]
    assert [(command.target, command.specialisation != "") for command in compiled] == [
        ("sm_90", True),
        ("gfx942", False),
    ]
    assert [event.kernel.target for event in emitted if isinstance(event, events.KernelCompiled)] == ["gfx942"]


async def test_device_kernels_compile_early_without_target(theatre: Theatre) -> None:
    emitted = await theatre.run(CASES[0], target=None)
    assert len(theatre.commands(protocol.Compile)) == 1
    assert [event for event in emitted if isinstance(event, events.KernelCompiled)] == []
    assert verdict(emitted) is Outcome.PASS


async def test_driver_without_shared_memory_uses_the_host(theatre: Theatre) -> None:
    def refuse(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.Prepare) and command.arena_path is None:
            message = "cuIpcGetMemHandle: CUDA_ERROR_NOT_SUPPORTED"
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=message)
        return None

    theatre.changes = refuse
    emitted = await theatre.run(*CASES)
    assert verdict(emitted) is Outcome.PASS
    prepared = [command for command in theatre.commands(protocol.Prepare) if isinstance(command, protocol.Prepare)]
    assert [command.arena_path is None for command in prepared] == [True, False, False, False, False]
    assert notes(emitted) == [
        (
            "memory",
            "device memory is not shared between processes here (cuIpcGetMemHandle: "
            "CUDA_ERROR_NOT_SUPPORTED); tensors travel through the host",
        )
    ]
    assert not theatre.process_pool.shares_device


async def test_candidate_claim_about_memory_does_not_choose_transport(theatre: Theatre) -> None:
    def pretend(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.Call):
            message = "cuIpcOpenMemHandle_v2: CUDA_ERROR_NOT_SUPPORTED"
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=message)
        return None

    theatre.changes = pretend
    emitted = await theatre.run(*CASES)
    assert theatre.process_pool.shares_device
    prepared = [command for command in theatre.commands(protocol.Prepare) if isinstance(command, protocol.Prepare)]
    assert [command.arena_path for command in prepared] == [None, None]
    assert {event.result.outcome for event in emitted if isinstance(event, events.CaseFinished)} == {
        Outcome.UNSUPPORTED
    }
    assert verdict(emitted) is Outcome.UNSUPPORTED


async def test_every_run_reports_unshared_memory(theatre: Theatre) -> None:
    theatre.process_pool.share_no_more("no such driver")
    for _ in range(2):
        assert notes(await theatre.run(*CASES)) == [
            (
                "memory",
                "device memory is not shared between processes here (no such driver); tensors travel through the host",
            )
        ]


async def test_lost_context_gives_next_case_new_worker(theatre: Theatre) -> None:
    def break_the_first(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.Call) and command.case == "a":
            return protocol.Failed(
                id=command.id, kind=protocol.FailureKind.RAISED, message="illegal memory access", broken=True
            )
        return None

    theatre.changes = break_the_first
    emitted = await theatre.run(*CASES)
    outcomes = {event.result.case: event.result.outcome for event in emitted if isinstance(event, events.CaseFinished)}
    assert outcomes == {"a": Outcome.RUNTIME_ERROR, "b": Outcome.PASS}
    loads = [kind for kind, command in theatre.asked if isinstance(command, protocol.Load) and kind == "worker"]
    assert len(loads) == 3  # one makes the dry run, one is lost, one goes on


async def test_write_beside_arguments_ends_passing_case(theatre: Theatre) -> None:
    def overrun(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.Compare):
            report = OutputReport(name="return", outcome=Outcome.PASS, shape=(4,), dtype="float32", total=4)
            return protocol.Compared(
                id=command.id, reports=(report,), repeated=None, mutated="memory past the end of x was written"
            )
        return None

    theatre.changes = overrun
    emitted = await theatre.run(CASES[0])
    [result] = [event.result for event in emitted if isinstance(event, events.CaseFinished)]
    assert (result.outcome, result.message) == (Outcome.MUTATED_INPUT, "memory past the end of x was written")


async def test_different_bits_on_same_input_are_a_note(theatre: Theatre) -> None:
    def waver(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.Compare):
            report = OutputReport(name="return", outcome=Outcome.PASS, shape=(4,), dtype="float32", total=4)
            return protocol.Compared(id=command.id, reports=(report,), repeated=False, mutated=None)
        return None

    theatre.changes = waver
    emitted = await theatre.run(CASES[0])
    assert verdict(emitted) is Outcome.PASS
    assert notes(emitted) == [("repeat", "two calls on the same input differ in bits, both within tolerance")]


async def test_candidate_without_dry_run_is_verified(theatre: Theatre) -> None:
    def refuse(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.RunDry):
            return protocol.Failed(
                id=command.id, kind=protocol.FailureKind.RAISED, message="it looked at its own result"
            )
        return None

    theatre.changes = refuse
    emitted = await theatre.run(*CASES)
    assert verdict(emitted) is Outcome.PASS
    assert [event.result.case for event in emitted if isinstance(event, events.CaseFinished)] == ["a", "b"]


async def test_kernel_cache_is_removed_after_its_run(theatre: Theatre, directories: EngineDirectories) -> None:
    await theatre.run(CASES[0])
    await theatre.process_pool.wait_until_warm()
    launchers = theatre.process_pool.launchers
    assert launchers is not None
    assert [place for place in directories.folder.iterdir() if place.name.endswith("-kernel-cache")] == [
        launchers.cache_folder
    ]
    [first, second] = [await theatre.process_pool.worker.take(), await theatre.process_pool.worker.take()]
    forked = len(theatre.fork_server.forked)
    await first.dismiss()
    await second.dismiss()
    assert len(theatre.fork_server.forked) == forked  # both were there


@pytest.fixture
def measurement_context(theatre: Theatre, tmp_path: Path) -> MeasurementContext:
    """Measurements on a device whose driver does not open."""

    class DriverError(Exception):
        pass

    def refuse() -> None:
        raise DriverError("Driver Not Loaded")

    driver = SimpleNamespace(NVMLError=DriverError, nvmlInit=refuse)
    return MeasurementContext(
        device=GPU,
        process_pool=theatre.process_pool,
        peaks_folder=None,
        lock=DeviceLock(tmp_path, device_id="d", command="kgtui"),
        driver=driver,  # type: ignore[arg-type]  # nothing else is asked of a driver that does not open
    )


async def test_peaks_are_measured_before_candidate_process(
    theatre: Theatre, measurement_context: MeasurementContext
) -> None:
    await theatre.run(CASES[0], timed=(CASES[0],), measurement_context=measurement_context)
    order = [type(command) for command in theatre.commands(protocol.MeasurePeaks, protocol.Load, protocol.Arrange)]
    assert order.count(protocol.MeasurePeaks) == 1
    assert order[0] is protocol.MeasurePeaks
    assert protocol.Load in order
    assert order[-1] is protocol.Arrange


async def test_timed_run_proves_its_cases_last(theatre: Theatre, measurement_context: MeasurementContext) -> None:
    await theatre.run(CASES[0], timed=(CASES[0],), measurement_context=measurement_context)
    asked = theatre.commands(protocol.Arrange, protocol.Call)
    taped = [isinstance(command, protocol.Call) and bool(command.tape) for command in asked]
    arranged = [isinstance(command, protocol.Arrange) for command in asked]
    assert True in taped
    assert arranged.index(True) < taped.index(True)


@pytest.mark.parametrize("timed", [None, ()], ids=["no benchmark", "a benchmark of no case"])
async def test_peaks_are_not_measured_where_nothing_is_timed(
    theatre: Theatre, measurement_context: MeasurementContext, timed: tuple[Case, ...] | None
) -> None:
    await theatre.run(CASES[0], timed=timed, measurement_context=measurement_context)
    assert theatre.commands(protocol.MeasurePeaks) == []


async def test_why_there_are_no_peaks_is_noted_once(theatre: Theatre, measurement_context: MeasurementContext) -> None:
    def fail(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.MeasurePeaks):
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message="too little memory")
        return None

    theatre.changes = fail
    emitted = await theatre.run(CASES[0], timed=(CASES[0],), measurement_context=measurement_context)
    assert [message for check, message in notes(emitted) if check == "peaks"] == [
        "the device's peaks could not be measured: too little memory"
    ]


async def test_run_reports_time_of_its_stages(theatre: Theatre) -> None:
    emitted = await theatre.run(CASES[0])
    [profile] = [event for event in emitted if isinstance(event, events.ProfileTaken)]
    assert {"load", "load for dry run", "describe cases", "dry run", "compile", "make inputs", "call", "compare"} <= {
        span.name for span in profile.spans
    }
    assert {span.name: span.count for span in profile.spans}["call"] == 3


def compiling(emitted: list[events.Event]) -> list[tuple[Outcome, str]]:
    """How the stage of compiling ended, as often as it was said."""
    ended = [event for event in emitted if isinstance(event, events.StageFinished) and event.stage is Stage.COMPILE]
    assert [event.stage for event in emitted if isinstance(event, events.StageStarted)].count(Stage.COMPILE) == len(
        ended
    )
    return [(event.outcome, event.message) for event in ended]


async def listen(run: Run, cancelled: asyncio.Event, emitted: list[events.Event]) -> None:
    """Add to `emitted` what the run tells, also when it ends with an error."""
    async for event in run.stream(cancelled):
        emitted.append(event)  # noqa: PERF401  # a list of them all would be lost with the error


async def test_early_build_failure_is_reported_when_launched(theatre: Theatre) -> None:
    def refuse(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.Compile):
            message = "k is made only when the entry runs"
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=message)
        return None

    theatre.changes = refuse
    emitted = await theatre.run(*CASES)
    message = "k is made only when the entry runs"
    assert [
        (event.kernel.outcome, event.number, event.total)
        for event in emitted
        if isinstance(event, events.KernelCompiled)
    ] == [(Outcome.UNSUPPORTED, 1, 1)]
    assert compiling(emitted) == [(Outcome.UNSUPPORTED, message)]
    assert verdict(emitted) is Outcome.PASS


async def test_compile_stage_ends_when_nothing_builds(theatre: Theatre) -> None:
    def refuse(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        match command:
            case protocol.Compile():
                return protocol.Failed(id=command.id, kind=protocol.FailureKind.COMPILE, message="too many registers")
            case protocol.Call():
                return protocol.Failed(id=command.id, kind=protocol.FailureKind.COMPILE, message="too many registers")
        return None

    theatre.changes = refuse
    emitted = await theatre.run(CASES[0])
    assert compiling(emitted) == [(Outcome.UNSUPPORTED, "no expected kernel builds, and none was launched")]


async def test_compile_stage_ends_when_run_is_cancelled(theatre: Theatre) -> None:
    asked, cancelled = asyncio.Event(), asyncio.Event()

    def hang(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.Compile):
            asked.set()
        return None

    theatre.changes = hang
    theatre.silent = (protocol.Compile,)
    emitted: list[events.Event] = []
    listening = asyncio.create_task(listen(theatre.open(CASES[0]), cancelled, emitted))
    await asked.wait()
    cancelled.set()
    await listening
    assert compiling(emitted) == [(Outcome.CANCELLED, "the run ended with 1 kernels still to compile")]
    assert verdict(emitted) is Outcome.CANCELLED
    assert isinstance(emitted[-1], events.RunFinished)


async def test_cleanup_error_ends_stream_and_is_raised(theatre: Theatre, monkeypatch: pytest.MonkeyPatch) -> None:
    emitted: list[events.Event] = []

    def fail(cache_folder: Path) -> None:
        raise RuntimeError("the folder is stuck")

    monkeypatch.setattr(theatre.process_pool.directories, "clear_kernel_cache", fail)
    listening = listen(theatre.open(CASES[0]), asyncio.Event(), emitted)
    with pytest.raises(RuntimeError, match="the folder is stuck"):
        await asyncio.wait_for(listening, timeout=PATIENCE_S)
    assert verdict(emitted) is Outcome.PASS


async def test_session_that_cannot_be_cleared_blocks_no_other(theatre: Theatre) -> None:
    run = theatre.open(CASES[0], other=Candidate(source=b"", problem="toy::twice"))

    async def stuck() -> None:
        raise RuntimeError("the desk is stuck")

    run._session.clear, clear = stuck, run._session.clear  # type: ignore[method-assign]
    with pytest.raises(RuntimeError, match="the desk is stuck"):
        async for _ in run.stream(asyncio.Event()):
            pass
    assert [session.occupied for builder in run._builders() for session in builder._sessions] == [False] * len(
        run._builders()[0]._sessions
    )
    assert run._cache_folder is not None
    assert not run._cache_folder.exists()
    await clear()


async def test_other_candidate_shares_no_compiled_code(theatre: Theatre) -> None:
    """The compilers have loaded the first candidate, and published code is found by its key alone."""
    run = theatre.open(CASES[0], other=Candidate(source=b"def f(x): ...\n", problem="toy::twice"))
    assert run._other is not None
    assert theatre.process_pool.launchers is not None
    for session in (run._session, run._other):
        await session.load()
    cache_folders = [
        command.cache_folders for command in theatre.commands(protocol.Load) if isinstance(command, protocol.Load)
    ]
    launchers = str(theatre.process_pool.launchers.cache_folder)
    assert cache_folders == [(launchers, str(run._cache_folder)), (launchers,)]
    await run._clean_up()


async def test_file_refused_by_strict_policy_reaches_no_process(theatre: Theatre, tmp_path: Path) -> None:
    plan = Plan(problem=PROBLEM, cases=PROBLEM.cases, device="cuda", target="sm_90", policy=Policy.STRICT)
    run = Run(
        Candidate(source=b"def f(x):\n    return x @ x\n", problem="toy::twice"),
        plan,
        EngineResources(
            process_pool=theatre.process_pool,
            artefacts=ArtefactStore(folder=tmp_path),
            device=GPU,
            limits=Limits(),
        ),
    )
    emitted = [event async for event in run.stream(asyncio.Event())]
    assert theatre.commands(protocol.Load, protocol.Describe, protocol.RunDry, protocol.Compile) == []
    assert isinstance(emitted[0], events.RunStarted)
    assert emitted[0].policy is Policy.STRICT
    assert isinstance(emitted[-1], events.RunFinished)
    assert emitted[-1].verdict.outcome is Outcome.REFUSED
    assert emitted[-1].verdict.sentence.endswith(", by the strict policy")


async def test_candidate_is_parsed_outside_the_event_loop(theatre: Theatre, monkeypatch: pytest.MonkeyPatch) -> None:
    parsers: list[threading.Thread] = []

    def parse(candidate: Candidate, entry: str) -> Source:
        parsers.append(threading.current_thread())
        return read_source(candidate, entry)

    monkeypatch.setattr("engine.run.static_reading.read_source", parse)
    assert verdict(await theatre.run(*PROBLEM.cases)) is Outcome.PASS
    assert len(parsers) == 1
    assert threading.current_thread() not in parsers


async def test_kernels_for_another_target_wait_for_the_cases(theatre: Theatre) -> None:
    theatre.process_pool.compiles_beside_cases = False
    emitted = await theatre.run(*CASES, target="gfx942")
    asked = theatre.commands(protocol.Compile, protocol.Call)
    offline = [isinstance(command, protocol.Compile) and command.target == "gfx942" for command in asked]
    assert offline == [False] * (len(asked) - 1) + [True]
    stages = [
        (type(event).__name__, event.stage)
        for event in emitted
        if isinstance(event, events.StageStarted | events.StageFinished)
        and event.stage in (Stage.VERIFY, Stage.COMPILE)
    ]
    assert stages == [
        ("StageStarted", Stage.VERIFY),
        ("StageFinished", Stage.VERIFY),
        ("StageStarted", Stage.COMPILE),
        ("StageFinished", Stage.COMPILE),
    ]


async def test_held_kernel_failing_to_build_fails_run(theatre: Theatre) -> None:
    def refuse(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.Compile) and command.target == "gfx942":
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.COMPILE, message="too much shared memory")
        return None

    theatre.process_pool.compiles_beside_cases = False
    theatre.changes = refuse
    assert verdict(await theatre.run(*CASES, target="gfx942")) is Outcome.COMPILE_ERROR
