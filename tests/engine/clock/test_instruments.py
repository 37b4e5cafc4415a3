"""What instruments say of themselves, by the record of a scripted device."""

from __future__ import annotations

import pytest

from engine.clock.cupti import CuptiError
from engine.clock.instruments import activities_of
from engine.clock.scripted import ScriptedDevice


def test_device_work_is_counted_from_its_start() -> None:
    device = ScriptedDevice()
    device.start()
    device.put("before", 10)

    def work() -> None:
        device.put("fill", 10)
        device.put("sum", 10)

    waited: list[int] = []
    assert activities_of(work, device, lambda: waited.append(device.clock_ns)) == 2
    assert len(waited) == 2
    assert not device.is_recording


def test_failed_counting_stops_recording() -> None:
    device = ScriptedDevice()

    def work() -> None:
        device.trouble = CuptiError("lost")

    with pytest.raises(CuptiError, match="lost"):
        activities_of(work, device, lambda: None)
    assert not device.is_recording
