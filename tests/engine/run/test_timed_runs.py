"""Timed runs: peaks are measured before the candidate's process starts, and the proof comes last."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine import protocol
from engine.model import (
    Case,
    events,
)
from engine.timing.measurement_context import MeasurementContext
from tests.engine.replay.tapes import DOUBLE
from tests.engine.run.device_run import CASES, DeviceRun, notes
from tests.engine.run.proving.test_replayer import BINARY

if TYPE_CHECKING:
    pass


async def test_peaks_are_measured_before_candidate_process(
    device_run: DeviceRun, measurement_context: MeasurementContext
) -> None:
    await device_run.run(CASES[0], timed=(CASES[0],), measurement_context=measurement_context)
    order = [type(command) for command in device_run.commands(protocol.MeasurePeaks, protocol.Load, protocol.Arrange)]
    assert order.count(protocol.MeasurePeaks) == 1
    assert order[0] is protocol.MeasurePeaks
    assert protocol.Load in order
    assert order[-1] is protocol.Arrange


async def test_timed_run_proves_its_cases_first(device_run: DeviceRun, measurement_context: MeasurementContext) -> None:
    await device_run.run(CASES[0], timed=(CASES[0],), measurement_context=measurement_context)
    asked = device_run.commands(protocol.Arrange, protocol.Call)
    taped = [isinstance(command, protocol.Call) and bool(command.tape) for command in asked]
    arranged = [isinstance(command, protocol.Arrange) for command in asked]
    assert True in taped
    assert taped.index(True) < arranged.index(True)


async def test_binaries_for_replays_are_held_before_timing(
    device_run: DeviceRun, measurement_context: MeasurementContext
) -> None:
    def compiled(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        match command:
            case protocol.Lower():
                return protocol.Lowered(id=command.id, ttir=DOUBLE, arguments=("x", "y", "n"))
            case protocol.BuildBinary():
                return protocol.BinaryBuilt(id=command.id, binary=BINARY)
        return None

    device_run.changes = compiled
    device_run.process_pool.compiles_beside_cases = True
    await device_run.run(*CASES, timed=(CASES[0],), measurement_context=measurement_context)
    asked = device_run.commands(protocol.Lower, protocol.BuildBinary, protocol.HoldBinary, protocol.Arrange)
    names = [type(command).__name__ for command in asked]
    assert names[:3] == ["Lower", "BuildBinary", "HoldBinary"]
    assert set(names[3:]) == {"Arrange"}
    assert device_run.fork_server.forked.count("replayer") == 1


@pytest.mark.parametrize("timed", [None, ()], ids=["no benchmark", "a benchmark of no case"])
async def test_peaks_are_not_measured_without_timing(
    device_run: DeviceRun, measurement_context: MeasurementContext, timed: tuple[Case, ...] | None
) -> None:
    await device_run.run(CASES[0], timed=timed, measurement_context=measurement_context)
    assert device_run.commands(protocol.MeasurePeaks) == []


async def test_missing_peaks_are_noted_once(device_run: DeviceRun, measurement_context: MeasurementContext) -> None:
    def fail(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.MeasurePeaks):
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message="too little memory")
        return None

    device_run.changes = fail
    emitted = await device_run.run(CASES[0], timed=(CASES[0],), measurement_context=measurement_context)
    assert [message for check, message in notes(emitted) if check == "peaks"] == [
        "the device's peaks could not be measured: too little memory"
    ]


async def test_run_reports_time_of_its_stages(device_run: DeviceRun) -> None:
    emitted = await device_run.run(CASES[0])
    [profile] = [event for event in emitted if isinstance(event, events.ProfileTaken)]
    assert {"load", "load for dry run", "describe cases", "dry run", "compile", "make inputs", "call", "compare"} <= {
        span.name for span in profile.spans
    }
    assert {span.name: span.count for span in profile.spans}["call"] == 3
