"""The device of one benchmark: earlier measurements of it, and its current state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.devices import Device
from engine.model.benchmark import DeviceState, Peaks

_MEMORY_SHARE = 8
"""Of the free memory, for the slots of a block: there are two blocks, two workers' copies, the judge's images
and the copies for its baselines.  The rest is for outputs, references and what compares them."""
_UNKNOWN_MEMORY_BYTES = 1 << 30


@dataclass(frozen=True, kw_only=True)
class TimedDevice:
    """A device that no other process uses while it is timed.

    `state` reads its current state.  `peaks` and `free_bytes` are None if unknown.  `stored_us` gives the time of a
    baseline in an earlier run, by case and baseline, None if there was none.
    """

    device: Device
    state: Callable[[], DeviceState | None]
    peaks: Peaks | None
    free_bytes: int | None
    stored_us: Callable[[str, str], float | None]

    @property
    def slot_bytes(self) -> int:
        """The most memory for the slots of a block; for an unknown device, an amount that every device has."""
        if self.free_bytes is not None:
            return self.free_bytes // _MEMORY_SHARE
        if self.device.memory_bytes is not None:
            return min(_UNKNOWN_MEMORY_BYTES, self.device.memory_bytes // _MEMORY_SHARE)
        return _UNKNOWN_MEMORY_BYTES // _MEMORY_SHARE
