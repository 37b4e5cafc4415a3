"""Transport of tensors in a run: shared memory of the device, or bytes through the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine import protocol
from engine.model import (
    Outcome,
    OutputReport,
    events,
)
from tests.engine.run.device_run import CASES, DeviceRun, notes, verdict

if TYPE_CHECKING:
    pass


async def test_driver_without_shared_memory_uses_the_host(device_run: DeviceRun) -> None:
    def refuse(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.Prepare) and command.arena_path is None:
            message = "cuIpcGetMemHandle: CUDA_ERROR_NOT_SUPPORTED"
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=message)
        return None

    device_run.changes = refuse
    emitted = await device_run.run(*CASES)
    assert verdict(emitted) is Outcome.PASS
    prepared = [command for command in device_run.commands(protocol.Prepare) if isinstance(command, protocol.Prepare)]
    assert [command.arena_path is None for command in prepared] == [True, False, False, False, False]
    assert notes(emitted) == [
        (
            "memory",
            "device memory is not shared between processes here (cuIpcGetMemHandle: "
            "CUDA_ERROR_NOT_SUPPORTED); tensors travel through the host",
        )
    ]
    assert not device_run.process_pool.shares_device


async def test_candidate_claim_about_memory_does_not_choose_transport(device_run: DeviceRun) -> None:
    def pretend(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.Call):
            message = "cuIpcOpenMemHandle_v2: CUDA_ERROR_NOT_SUPPORTED"
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=message)
        return None

    device_run.changes = pretend
    emitted = await device_run.run(*CASES)
    assert device_run.process_pool.shares_device
    prepared = [command for command in device_run.commands(protocol.Prepare) if isinstance(command, protocol.Prepare)]
    assert [command.arena_path for command in prepared] == [None, None]
    assert {event.result.outcome for event in emitted if isinstance(event, events.CaseFinished)} == {
        Outcome.UNSUPPORTED
    }
    assert verdict(emitted) is Outcome.UNSUPPORTED


async def test_every_run_reports_unshared_memory(device_run: DeviceRun) -> None:
    device_run.process_pool.share_no_more("no such driver")
    for _ in range(2):
        assert notes(await device_run.run(*CASES)) == [
            (
                "memory",
                "device memory is not shared between processes here (no such driver); tensors travel through the host",
            )
        ]


async def test_lost_context_gives_next_case_new_worker(device_run: DeviceRun) -> None:
    def break_the_first(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.Call) and command.case == "a":
            return protocol.Failed(
                id=command.id, kind=protocol.FailureKind.RAISED, message="illegal memory access", broken=True
            )
        return None

    device_run.changes = break_the_first
    emitted = await device_run.run(*CASES)
    outcomes = {event.result.case: event.result.outcome for event in emitted if isinstance(event, events.CaseFinished)}
    assert outcomes == {"a": Outcome.RUNTIME_ERROR, "b": Outcome.PASS}
    loads = [kind for kind, command in device_run.asked if isinstance(command, protocol.Load) and kind == "worker"]
    assert len(loads) == 3  # one makes the dry run, one is lost, one goes on


async def test_write_beside_arguments_ends_passing_case(device_run: DeviceRun) -> None:
    def overrun(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.Compare):
            report = OutputReport(name="return", outcome=Outcome.PASS, shape=(4,), dtype="float32", total=4)
            return protocol.Compared(
                id=command.id, reports=(report,), repeated=None, mutated="memory past the end of x was written"
            )
        return None

    device_run.changes = overrun
    emitted = await device_run.run(CASES[0])
    [result] = [event.result for event in emitted if isinstance(event, events.CaseFinished)]
    assert (result.outcome, result.message) == (Outcome.MUTATED_INPUT, "memory past the end of x was written")
