"""Peaks from the judge's numbers: completed with what they were measured on, or refused."""

from __future__ import annotations

import pytest

from engine import protocol
from engine.devices import Device
from engine.errors import EngineError, UnsupportedError
from engine.timing.peaks.peak_measurement import measure_peaks

DEVICE = Device(platform="cuda", index=0, name="NVIDIA H100", driver="580.1")
VERSIONS = {"triton": "3.6.0", "torch": "2.11.0"}


def judge(**reply: object):
    async def ask(command: protocol.AnyCommand) -> protocol.AnyReply:
        assert isinstance(command, protocol.MeasurePeaks)
        kind = protocol.Failed if "kind" in reply else protocol.PeaksMeasured
        return kind(id=command.id, **reply)

    return ask


async def measured(ask, device: Device = DEVICE):
    return await measure_peaks(ask, device=device, versions=VERSIONS, measured_at="2026-01-02")


async def test_peaks_state_their_measurement_context():
    peaks = await measured(judge(copy_bytes_per_s=3e12, flops_per_s={"float32": 5e13}))
    assert (peaks.device_name, peaks.driver, peaks.measured_at) == ("NVIDIA H100", "580.1", "2026-01-02")
    assert peaks.versions == "torch 2.11.0, triton 3.6.0"
    assert (peaks.copy_bytes_per_s, dict(peaks.flops_per_s)) == (3e12, {"float32": 5e13})


@pytest.mark.parametrize("rate", [0.0, -1.0, float("inf"), float("nan")])
async def test_a_rate_that_cannot_be_is_refused(rate):
    with pytest.raises(EngineError, match="float32"):
        await measured(judge(copy_bytes_per_s=3e12, flops_per_s={"float32": rate}))


async def test_a_device_that_cannot_be_measured_is_unsupported():
    with pytest.raises(UnsupportedError, match="too little memory"):
        await measured(judge(kind=protocol.FailureKind.UNSUPPORTED, message="too little memory"))


async def test_failing_judge_is_engine_error():
    with pytest.raises(EngineError, match="an assertion failed"):
        await measured(judge(kind=protocol.FailureKind.ENGINE, message="an assertion failed"))


async def test_peaks_of_an_unknown_driver_are_not_measured():
    with pytest.raises(UnsupportedError, match="does not report its driver"):
        await measured(judge(), Device(platform="cuda", index=0, name="NVIDIA H100"))
