"""Context of measurements on an engine's device, for the life of the engine: lock, peaks, earlier times.

Peaks are measured once, while the device is locked and no candidate has a process, and kept in a file for every later
engine on the same device, driver and versions.  Peaks measured beside other processes are discarded: candidates are
compared with these numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from pathlib import Path

from engine.devices import Device
from engine.devices.hardware.device_lock import DeviceLock
from engine.devices.hardware.state import Driver, device_state, free_bytes
from engine.errors import EngineError, UnsupportedError
from engine.model.benchmark import OTHER, OTHER_PROCESSES, CaseBenchmark, DeviceState, Holder, Peaks
from engine.processes.process_pool import ProcessPool
from engine.timing.peaks.measured_peaks import read_peaks, write_peaks
from engine.timing.peaks.peak_measurement import measure_peaks, versions_text
from engine.timing.timed_device import TimedDevice


class MeasurementContext:
    """One device, with the conditions for fair measurements.

    `peaks_folder` of None keeps the peaks in memory only; `driver` of None is the installed one.  `peaks` are None
    until `learn_peaks` has succeeded; `troubles` are messages about that.
    """

    def __init__(
        self,
        *,
        device: Device,
        process_pool: ProcessPool,
        lock: DeviceLock,
        peaks_folder: Path | None,
        driver: Driver | None = None,
    ) -> None:
        self._device = device
        self.process_pool = process_pool
        self._lock = lock
        self._folder = peaks_folder
        self._driver = driver
        self._stored_us: dict[tuple[str, str, str, str], float] = {}
        self.peaks: Peaks | None = None
        self.troubles: dict[str, None] = {}

    def alone(self, on_wait: Callable[[Holder | None], None]) -> AbstractAsyncContextManager[None]:
        """Hold the device lock against every other kgtui of this machine; UnsupportedError if it cannot be locked."""
        return self._lock.hold(on_wait=on_wait)

    async def learn_peaks(self, on_wait: Callable[[Holder | None], None]) -> None:
        """Load the stored peaks, or measure them with the device locked; a message in `troubles` if both fail.

        To be called while no candidate has a process, whose work on the device would affect the peaks.
        """
        if self.peaks is not None:
            return
        try:
            await self.process_pool.worker.wait()  # provides the versions that peaks depend on
            self.peaks = self._kept_peaks()
            if self.peaks is None:
                async with self.alone(on_wait):
                    self.peaks = self._kept_peaks()  # the previous holder may have measured them
                    if self.peaks is None:
                        await self._measure()
        except (UnsupportedError, EngineError) as error:
            self._say(f"the device's peaks could not be measured: {error}")

    def state(self) -> DeviceState:
        """Current state of the device; our own processes are not counted among the others."""
        pids = self.process_pool.pids
        return device_state(self._device.platform, self._device.index, own_pids=pids, driver=self._driver)

    def timed_device(self, problem: str, cache: str) -> TimedDevice:
        """The device for a benchmark of this problem: peaks, currently free memory, earlier times of baselines."""
        return TimedDevice(
            device=self._device,
            state=self.state,
            peaks=self.peaks,
            free_bytes=free_bytes(self._device.platform, self._device.index, driver=self._driver),
            stored_us=lambda case, baseline: self._stored_us.get((problem, cache, case, baseline)),
        )

    def keep(self, problem: str, benchmark: CaseBenchmark) -> None:
        """Remember the times of the baselines; the shortest counts, since nothing makes a device faster."""
        for timing in benchmark.baselines:
            if timing.device_us is None or timing.side == OTHER:  # another candidate, so its times are not comparable
                continue
            key = (problem, benchmark.cache.value, benchmark.case, timing.side)
            self._stored_us[key] = min(timing.device_us.value, self._stored_us.get(key, timing.device_us.value))

    def _kept_peaks(self) -> Peaks | None:
        if self._folder is None or self._device.driver is None:
            return None
        return read_peaks(
            self._folder,
            self._device.name,
            self._device.driver,
            versions_text(self._versions()),
            warn=self._say,
        )

    async def _measure(self) -> None:
        await self.process_pool.worker.settle()  # no process of ours starts during the measurement
        await self.process_pool.compiler.settle()
        before = self.state()
        _require_exclusive_device(before)
        peaks = await measure_peaks(
            self.process_pool.ask_judge,
            device=self._device,
            versions=self._versions(),
            measured_at=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        after = self.state()
        _require_exclusive_device(after)
        self.peaks = peaks
        if self._folder is None:
            return
        if why := _why_not_sure(before, after):
            self._say(f"the device's peaks are not stored: other users of the device were not checked: {why}")
            return
        try:
            write_peaks(self._folder, peaks)
        except OSError as error:
            self._say(f"the device's peaks could not be stored: {error.strerror or error}")

    def _say(self, trouble: str) -> None:
        self.troubles[trouble] = None

    def _versions(self) -> Mapping[str, str]:
        return {name: version for name, version in self.process_pool.versions.items() if name in ("torch", "triton")}


def _require_exclusive_device(state: DeviceState) -> None:
    """Raise UnsupportedError if other processes are known to use the device."""
    if state.other_processes:
        others = ", ".join(map(str, state.other_processes))
        raise UnsupportedError(f"other processes use it: {others}; stop them, then run again")


def _why_not_sure(before: DeviceState, after: DeviceState) -> str:
    """Why exclusive use is unknown; "" if the driver lists processes, or the device was idle before."""
    unknown = [state for state in (before, after) if state.other_processes is None]
    if not unknown or before.utilisation_percent == 0:
        return ""
    return unknown[0].why_unknown(OTHER_PROCESSES)
