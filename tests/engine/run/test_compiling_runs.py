"""Compiling within a run on a device: before the first call, for another target, and when nothing builds."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from engine import protocol
from engine.model import Outcome, OutputReport, Stage, events
from engine.processes.directories import EngineDirectories
from tests.engine.run.device_run import CASES, LAUNCH, DeviceRun, listen, verdict


async def test_device_run_compiles_kernels_before_first_call(device_run: DeviceRun) -> None:
    emitted = await device_run.run(CASES[0])
    assert verdict(emitted) is Outcome.PASS
    asked = device_run.commands(protocol.RunDry, protocol.Compile, protocol.Call)
    order = [type(command) for command in asked[:5]]  # the calls of the proof follow
    assert order == [protocol.RunDry, protocol.Compile, protocol.Call, protocol.Call, protocol.Call]
    assert [event.kernel.outcome for event in emitted if isinstance(event, events.KernelCompiled)] == [Outcome.PASS]


async def test_kernels_for_another_target_compile_beside_device(device_run: DeviceRun) -> None:
    emitted = await device_run.run(CASES[0], target="gfx942")
    compiled = [command for command in device_run.commands(protocol.Compile) if isinstance(command, protocol.Compile)]
    assert [(command.target, command.specialisation != "") for command in compiled] == [
        ("sm_90", True),
        ("gfx942", False),
    ]
    assert [event.kernel.target for event in emitted if isinstance(event, events.KernelCompiled)] == ["gfx942"]


async def test_device_kernels_compile_early_without_target(device_run: DeviceRun) -> None:
    emitted = await device_run.run(CASES[0], target=None)
    assert len(device_run.commands(protocol.Compile)) == 1
    assert [event for event in emitted if isinstance(event, events.KernelCompiled)] == []
    assert verdict(emitted) is Outcome.PASS


async def test_kernel_cache_is_removed_after_its_run(device_run: DeviceRun, directories: EngineDirectories) -> None:
    await device_run.run(CASES[0])
    await device_run.process_pool.wait_until_warm()
    launchers = device_run.process_pool.launchers
    assert launchers is not None
    assert [place for place in directories.folder.iterdir() if place.name.endswith("-kernel-cache")] == [
        launchers.cache_folder
    ]
    [first, second] = [await device_run.process_pool.worker.take(), await device_run.process_pool.worker.take()]
    forked = len(device_run.fork_server.forked)
    await first.end()
    await second.end()
    assert len(device_run.fork_server.forked) == forked  # both were there


def compiling(emitted: list[events.Event]) -> list[tuple[Outcome, str]]:
    """Outcome and message of each end of the compile stage."""
    ended = [event for event in emitted if isinstance(event, events.StageFinished) and event.stage is Stage.COMPILE]
    assert [event.stage for event in emitted if isinstance(event, events.StageStarted)].count(Stage.COMPILE) == len(
        ended
    )
    return [(event.outcome, event.message) for event in ended]


async def test_early_build_failure_is_reported_when_launched(device_run: DeviceRun) -> None:
    def refuse(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.Compile):
            message = "k is made only when the entry runs"
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=message)
        return None

    device_run.changes = refuse
    emitted = await device_run.run(*CASES)
    message = "k is made only when the entry runs"
    assert [
        (event.kernel.outcome, event.number, event.total)
        for event in emitted
        if isinstance(event, events.KernelCompiled)
    ] == [(Outcome.UNSUPPORTED, 1, 1)]
    assert compiling(emitted) == [(Outcome.UNSUPPORTED, message)]
    assert verdict(emitted) is Outcome.PASS


async def test_compile_stage_ends_when_nothing_builds(device_run: DeviceRun) -> None:
    def refuse(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        match command:
            case protocol.Compile():
                return protocol.Failed(id=command.id, kind=protocol.FailureKind.COMPILE, message="too many registers")
            case protocol.Call():
                return protocol.Failed(id=command.id, kind=protocol.FailureKind.COMPILE, message="too many registers")
        return None

    device_run.changes = refuse
    emitted = await device_run.run(CASES[0])
    assert compiling(emitted) == [(Outcome.UNSUPPORTED, "no expected kernel builds, and none was launched")]


async def test_compile_stage_ends_when_run_is_cancelled(device_run: DeviceRun) -> None:
    asked, cancelled = asyncio.Event(), asyncio.Event()

    def hang(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.Compile):
            asked.set()
        return None

    device_run.changes = hang
    device_run.silent = (protocol.Compile,)
    emitted: list[events.Event] = []
    listening = asyncio.create_task(listen(device_run.open(CASES[0]), cancelled, emitted))
    await asked.wait()
    cancelled.set()
    await listening
    assert compiling(emitted) == [(Outcome.CANCELLED, "the run ended with 1 kernel still to compile")]
    assert verdict(emitted) is Outcome.CANCELLED
    assert isinstance(emitted[-1], events.RunFinished)


async def test_kernels_for_another_target_wait_for_the_cases(device_run: DeviceRun) -> None:
    device_run.process_pool.compiles_beside_cases = False
    emitted = await device_run.run(*CASES, target="gfx942")
    asked = device_run.commands(protocol.Compile, protocol.Call)
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


async def test_held_kernel_failing_to_build_fails_run(device_run: DeviceRun) -> None:
    def refuse(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.Compile) and command.target == "gfx942":
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.COMPILE, message="too much shared memory")
        return None

    device_run.process_pool.compiles_beside_cases = False
    device_run.changes = refuse
    assert verdict(await device_run.run(*CASES, target="gfx942")) is Outcome.COMPILE_ERROR


async def test_failed_case_leaves_out_other_kernels(device_run: DeviceRun) -> None:
    launched = iter([(4, 8), (16,)])

    def answer(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        wrong = OutputReport(name="return", outcome=Outcome.WRONG_VALUE, shape=(4,), dtype="float32", total=4)
        match command:
            case protocol.Call():
                launches = tuple(replace(LAUNCH, num_warps=warps) for warps in next(launched, (16,)))
                return protocol.Called(id=command.id, returned=(), launches=launches, elapsed_s=0.0)
            case protocol.Compare() | protocol.CompareSnapshot():
                return protocol.Compared(id=command.id, reports=(wrong,), repeated=None, mutated=None)
        return None

    device_run.process_pool.compiles_beside_cases = False
    device_run.changes = answer
    emitted = await device_run.run(*CASES, target="gfx942")
    assert verdict(emitted) is Outcome.WRONG_VALUE
    compiled = [event.kernel.launch.num_warps for event in emitted if isinstance(event, events.KernelCompiled)]
    assert compiled == [4, 8]
    assert compiling(emitted) == [(Outcome.PASS, "1 kernel left out: not all cases passed")]
