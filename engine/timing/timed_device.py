"""The device of one benchmark: what was known of it before, and how its state is read meanwhile."""

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

    `state` reads it now.  `peaks` and `free_bytes` are None where they are not known.  `stored_us` gives the time of
    a baseline in an earlier run, by case and baseline, None where there was none.
    """

    device: Device
    state: Callable[[], DeviceState | None]
    peaks: Peaks | None
    free_bytes: int | None
    stored_us: Callable[[str, str], float | None]

    @property
    def slot_bytes(self) -> int:
        """The most memory for the slots of a block; with nothing known of the device, what every device can spare."""
        if self.free_bytes is not None:
            return self.free_bytes // _MEMORY_SHARE
        if self.device.memory_bytes is not None:
            return min(_UNKNOWN_MEMORY_BYTES, self.device.memory_bytes // _MEMORY_SHARE)
        return _UNKNOWN_MEMORY_BYTES // _MEMORY_SHARE
