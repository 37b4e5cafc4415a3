"""What an engine knows about measuring on its device, for as long as it lives: lock, peaks, times of before.

Nothing here is measured on the side: peaks are taken once, while the device is ours alone, and kept in a
file for every later engine on the same device, driver and versions.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from engine.benching import measure_peaks, versions_text
from engine.benchmark import CaseBenchmark, DeviceState, Holder, Peaks
from engine.device_lock import DeviceLock, shared_folder
from engine.devices import Device
from engine.devices.state import device_id, device_state
from engine.errors import EngineError, UnsupportedError
from engine.peaks import read_peaks, write_peaks
from engine.staff import Staff

_COMMAND = "kgtui"


class Metrology:
    """One device, measured fairly.  `peaks_folder` of None keeps the peaks in memory only."""

    def __init__(self, *, device: Device, staff: Staff, peaks_folder: Path | None) -> None:
        self._device = device
        self._staff = staff
        self._folder = peaks_folder
        self._peaks: Peaks | None = None
        self._peaks_turn = asyncio.Lock()
        self._stored_us: dict[tuple[str, str, str, str], float] = {}
        self.troubles: list[str] = []

    @asynccontextmanager
    async def alone(self, on_wait: Callable[[Holder | None], None]) -> AsyncIterator[None]:
        """Hold the device against every other kgtui of this machine.

        Raises:
            UnsupportedError: it cannot be locked; says what to do.
        """
        identity = device_id(self._device.platform, self._device.index)
        async with DeviceLock(shared_folder(), device_id=identity, command=_COMMAND).hold(on_wait=on_wait):
            yield

    async def peaks(self) -> Peaks | None:
        """What the device can do: kept, or measured now; None, and a word in `troubles`, when neither works."""
        async with self._peaks_turn:
            if self._peaks is None:
                self._peaks = self._kept_peaks()
            if self._peaks is None:
                await self._measure()
            return self._peaks

    def state(self) -> DeviceState:
        """The device now; our own processes are not counted among the others."""
        return device_state(self._device.platform, self._device.index, own_pids=self._staff.pids)

    def free_bytes(self) -> int | None:
        """Memory that is free now, None when the driver does not tell."""
        return self._device.memory_bytes // 2 if self._device.memory_bytes is not None else None

    def stored(self, problem: str, cache: str) -> Callable[[str, str], float | None]:
        """Times of baselines that this engine measured before, in microseconds, by case and baseline."""
        return lambda case, baseline: self._stored_us.get((problem, cache, case, baseline))

    def keep(self, problem: str, benchmark: CaseBenchmark) -> None:
        """Remember how long the baselines took; the shortest time counts, since nothing makes a device faster."""
        for timing in benchmark.baselines:
            if timing.device_us is None:
                continue
            key = (problem, benchmark.cache.value, benchmark.case, timing.side)
            self._stored_us[key] = min(timing.device_us.value, self._stored_us.get(key, timing.device_us.value))

    def _kept_peaks(self) -> Peaks | None:
        if self._folder is None or self._device.driver is None:
            return None
        return read_peaks(
            self._folder, self._device.name, self._device.driver, versions_text(self._versions()),
            warn=self.troubles.append,
        )  # fmt: skip

    async def _measure(self) -> None:
        measured_at = datetime.now(UTC).isoformat(timespec="seconds")
        try:
            self._peaks = await measure_peaks(
                self._staff.ask_judge, device=self._device, versions=self._versions(), measured_at=measured_at
            )
            if self._folder is not None:
                write_peaks(self._folder, self._peaks)
        except (UnsupportedError, EngineError) as error:
            self.troubles.append(f"the device's peaks could not be measured: {error}")
        except OSError as error:
            self.troubles.append(f"the device's peaks could not be kept: {error.strerror or error}")

    def _versions(self) -> Mapping[str, str]:
        return {name: version for name, version in self._staff.versions.items() if name in ("torch", "triton")}
