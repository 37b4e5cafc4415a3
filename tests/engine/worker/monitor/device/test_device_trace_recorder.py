"""The record of a call, from a device and a driver that are scripted."""

from __future__ import annotations

from typing import Any

import pytest

from engine import protocol
from engine.clock.cupti import CuptiError, Kind
from engine.clock.instruments import Instruments
from engine.clock.scripted import ScriptedDevice
from engine.worker.monitor.device import device_trace_recorder as device_trace_recorder
from engine.worker.monitor.device.device_trace_recorder import DeviceTraceRecorder
from engine.worker.monitor.device.own_kernels import OwnKernels

OWN, FOREIGN, INDUCTOR = 11, 22, 33


FILES = {OWN: "/candidate/kernel.py", INDUCTOR: "/cache/generated.py"}


class Owner(OwnKernels):
    """Has one function of the candidate and one of another file, and follows no loads of Triton."""

    def __init__(self) -> None:
        """Without the hook of the base class."""

    def owns(self, function: int | None) -> bool:
        """Whether it is the candidate's."""
        return function == OWN

    def file_of(self, function: int | None) -> str:
        """The file that defines its kernel."""
        return FILES.get(function or 0, "")


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No wait for other threads: there are none."""
    monkeypatch.setattr(device_trace_recorder, "_SETTLING_S", 0.0)


def record(device: ScriptedDevice, call: Any, *, leave: Any = None, instruments: Instruments | None = None) -> Any:
    recorder = DeviceTraceRecorder(instruments or device.instruments(), Owner())
    return recorder.record("i", call, leave or (lambda returned: ()))


def seen(recorded: protocol.Recorded) -> list[tuple[str, bool, str, bool, int, int]]:
    return [(one.name, one.own, one.file, one.replayed, one.launches, one.device_ns) for one in recorded.activities]


def test_kernels_are_reported_by_function_longest_first() -> None:
    device = ScriptedDevice()

    def call() -> None:
        device.put("own", 50, function=OWN)
        device.put("own", 40, function=FOREIGN)
        device.put("fused", 200, function=INDUCTOR)
        device.put("own", 50, function=OWN)

    assert seen(record(device, call)) == [
        ("fused", False, "/cache/generated.py", False, 1, 200),
        ("own", True, "", False, 2, 100),
        ("own", False, "", False, 1, 40),
    ]


def test_copies_and_fills_have_no_names() -> None:
    device = ScriptedDevice()

    def call() -> None:
        device.put("copy of 8 bytes", 5, kind=Kind.COPY)
        device.put("copy of 16 bytes", 7, kind=Kind.COPY)
        device.put("fill of 8 bytes", 3, kind=Kind.FILL)

    recorded = record(device, call)
    assert [(one.kind, one.name, one.launches, one.device_ns) for one in recorded.activities] == [
        (protocol.ActivityKind.COPY, "", 2, 12),
        (protocol.ActivityKind.FILL, "", 1, 3),
    ]


def test_monitor_work_is_not_attributed_to_candidate() -> None:
    device = ScriptedDevice()
    recorded = record(
        device, lambda: device.put("own", 50, function=OWN), leave=lambda _: (device.put("ours", 9), ())[1]
    )
    assert ([one.name for one in recorded.activities], recorded.late) == (["own"], ())


def test_launch_by_thread_after_return_is_late() -> None:
    device = ScriptedDevice()

    def leave(returned: object) -> tuple[()]:
        device.put("late", 9, function=OWN, thread=-1)
        return ()

    recorded = record(device, lambda: device.put("own", 50, function=OWN), leave=leave)
    assert recorded.late == ("late",)
    assert [one.name for one in recorded.activities] == ["own", "late"]


def test_replayed_graph_uses_names_from_capture() -> None:
    device = ScriptedDevice()
    recorder = DeviceTraceRecorder(device.instruments(), Owner())
    recorder.record(
        "i", lambda: (device.put("own", 5, function=OWN), device.put("both", 5, function=OWN)), lambda _: ()
    )
    recorder.record("i", lambda: device.put("both", 5, function=FOREIGN), lambda _: ())
    recorder.record("i", lambda: device.put("both", 5, function=OWN), lambda _: ())  # it stays in doubt

    def replay() -> None:
        for name in ("own", "both", "never"):
            device.put(name, 5, function=None)

    replayed = recorder.record("i", replay, lambda _: ())
    assert [(one.name, one.own, one.replayed) for one in replayed.activities] == [
        ("own", True, True),
        ("both", False, True),
        ("never", False, True),
    ]


def test_streams_beside_the_callers_are_counted() -> None:
    device = ScriptedDevice()

    def call() -> None:
        for stream in (0, 4, 4, 5):
            device.put("own", 5, function=OWN, stream=stream)

    assert record(device, call).streams == 2


def test_nodes_of_captured_call_are_reported_by_function() -> None:
    device = ScriptedDevice()

    def call() -> None:
        device.put("own", 50, function=OWN)
        device.put("other", 50, function=FOREIGN)

    recorded = record(device, call)
    assert [(node.name, node.own) for node in recorded.nodes] == [("own", True), ("other", False)]
    assert recorded.uncaptured == ""


def test_call_that_cannot_be_captured_gives_reason() -> None:
    device = ScriptedDevice()

    def call() -> None:
        if device.capturing:
            raise RuntimeError("cannot wait\nwhile capturing")
        device.put("own", 50, function=OWN)

    recorded = record(device, call)
    assert (recorded.nodes, recorded.uncaptured) == ((), "RuntimeError: cannot wait")


def test_without_a_recorder_nothing_is_recorded() -> None:
    device = ScriptedDevice()
    with pytest.raises(CuptiError, match="scripted without a recorder"):
        record(device, lambda: None, instruments=device.instruments(precise=False))


def test_record_contradicted_by_driver_is_discarded() -> None:
    device = ScriptedDevice()
    device.listener.hear = lambda call: None  # type: ignore[method-assign]  # a driver that tells nothing
    with pytest.raises(CuptiError, match="the driver and the device's record disagree on a launch of kgtui"):
        record(device, lambda: None)


def test_recording_ends_when_candidate_raises() -> None:
    device = ScriptedDevice()

    def call() -> None:
        raise ArithmeticError("no answer")

    with pytest.raises(ArithmeticError):
        record(device, call)
    assert (device.is_recording, device.listener.is_listening) == (False, False)
