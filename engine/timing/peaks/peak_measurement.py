"""The device's peaks, measured by the judge, with the device and versions of the measurement."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping

from engine import protocol
from engine.devices import Device
from engine.errors import EngineError, UnsupportedError
from engine.model.benchmark import Peaks
from engine.verdict import outcome_mapping


async def measure_peaks(
    ask_judge: Callable[[protocol.AnyCommand], Awaitable[protocol.AnyReply]],
    *,
    device: Device,
    versions: Mapping[str, str],
    measured_at: str,
) -> Peaks:
    """Peaks of the device, measured now; `measured_at` is the date, `versions` those of the judge's libraries.

    Raises:
        UnsupportedError: the device cannot be measured, or does not report its driver; the message has the reason.
        EngineError: the judge did not reply properly.
    """
    if device.driver is None:
        raise UnsupportedError(f"{device.name} does not report its driver version, so its peaks cannot be stored")
    reply = await ask_judge(protocol.MeasurePeaks(id=protocol.new_id()))
    if isinstance(reply, protocol.Failed) and reply.kind in (
        protocol.FailureKind.UNSUPPORTED,
        protocol.FailureKind.OUT_OF_MEMORY,
    ):
        raise UnsupportedError(reply.message)
    if not isinstance(reply, protocol.PeaksMeasured):
        raise EngineError(outcome_mapping.of_trusted(reply, "measuring the device's peaks").message)
    rates = {"copy_bytes_per_s": reply.copy_bytes_per_s, **reply.flops_per_s}
    for name, rate in rates.items():
        if not (math.isfinite(rate) and rate > 0):
            raise EngineError(f"the judge measured {name} = {rate} on {device.name}; expected a finite rate above zero")
    return Peaks(
        device_name=device.name,
        driver=device.driver,
        versions=versions_text(versions),
        copy_bytes_per_s=reply.copy_bytes_per_s,
        flops_per_s=reply.flops_per_s,
        measured_at=measured_at,
    )


def versions_text(versions: Mapping[str, str]) -> str:
    """The versions that peaks depend on, as one text: "torch 2.13.0, triton 3.9.0"."""
    return ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))
