"""What an engine knows of its device: peaks that were measured alone or not at all, and times worth remembering."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from engine import protocol
from engine.devices import Device
from engine.devices.hardware.device_lock import DeviceLock, lock_state
from engine.model import CacheState, Outcome
from engine.model.benchmark import OTHER, CaseBenchmark, Interval, Method, Peaks, Timing
from engine.timing.measurement_context import MeasurementContext
from engine.timing.peaks.measured_peaks import write_peaks
from tests.engine.conftest import FORK_SERVER_PID

if TYPE_CHECKING:
    from tests.engine.conftest import Employ

GPU = Device(platform="cuda", index=0, name="NVIDIA H100", target="sm_90", memory_bytes=80 << 30, driver="580.1")
LOCK = "GPU-1a20"
PEAKS = Peaks(
    device_name=GPU.name,
    driver="580.1",
    versions="",
    copy_bytes_per_s=3e12,
    flops_per_s={"float32": 5e13},
    measured_at="2026-01-02",
)
HIDDEN = "other processes: Insufficient Permissions"


class DriverError(Exception):
    """Stands for pynvml.NVMLError."""


class Driver:
    """A driver that names these processes, None when it refuses to; 1 is this engine's own."""

    NVMLError = DriverError

    def __init__(self) -> None:
        self.pids: tuple[int, ...] | None = (FORK_SERVER_PID,)
        self.busy_percent = 30
        quiet = {"ClockInfo": 1980, "Temperature": 41, "PowerUsage": 90_000, "CurrentClocksThrottleReasons": 0}
        for name, value in quiet.items():
            setattr(self, f"nvmlDeviceGet{name}", lambda *_, value=value: value)
        for name in ("Init", "Shutdown", "DeviceGetHandleByIndex"):
            setattr(self, f"nvml{name}", lambda *_: None)
        self.nvmlDeviceGetUtilizationRates = lambda _: SimpleNamespace(gpu=self.busy_percent)
        self.nvmlDeviceGetMemoryInfo = lambda _: SimpleNamespace(total=80 << 30, free=7 << 30)

    def nvmlDeviceGetComputeRunningProcesses(self, _: object) -> list[SimpleNamespace]:  # noqa: N802 - NVML's own name
        if self.pids is None:
            raise DriverError("Insufficient Permissions")
        return [SimpleNamespace(pid=pid) for pid in self.pids]


class Laboratory:
    """Measurements on a device whose judge and driver are played here; `measured` says whether the lock was held."""

    def __init__(self, employ: Employ, locks: Path, kept: Path) -> None:
        self.locks, self.kept = locks, kept
        self.driver = Driver()
        self.measured: list[bool] = []
        self.during: Callable[[], None] = lambda: None
        self.waits = asyncio.Event()
        _, process_pool = employ(self._play, target="sm_90")
        self.measurement_context = MeasurementContext(
            device=GPU,
            process_pool=process_pool,
            lock=self.lock(),
            peaks_folder=kept,
            driver=self.driver,  # type: ignore[arg-type]  # its calls are made above
        )

    def lock(self) -> DeviceLock:
        return DeviceLock(self.locks, device_id=LOCK, command="kgtui bench other.py", poll_s=0.001)

    async def learn(self) -> tuple[Peaks | None, tuple[str, ...]]:
        """The peaks that are used, and what is said of them."""
        await self.measurement_context.learn_peaks(lambda _: self.waits.set())
        said = tuple(self.measurement_context.troubles)
        self.measurement_context.troubles.clear()
        return self.measurement_context.peaks, said

    def stored(self) -> list[Path]:
        return list(self.kept.iterdir()) if self.kept.exists() else []

    def _play(self, kind: str, command: protocol.AnyCommand) -> protocol.AnyReply:
        if isinstance(command, protocol.MeasurePeaks):
            self.measured.append(lock_state(self.locks, LOCK).is_held)
            self.during()
            return protocol.PeaksMeasured(
                id=command.id, copy_bytes_per_s=PEAKS.copy_bytes_per_s, flops_per_s=dict(PEAKS.flops_per_s)
            )
        return protocol.Done(id=command.id)


@pytest.fixture
def laboratory(employ: Employ, tmp_path: Path) -> Iterator[Laboratory]:
    with TemporaryDirectory(prefix="kgtui-test-") as locks:
        yield Laboratory(employ, Path(locks) / "locks", tmp_path / "peaks")


async def test_peaks_are_measured_once_under_device_lock(laboratory: Laboratory) -> None:
    peaks, said = await laboratory.learn()
    assert (await laboratory.learn())[0] is peaks
    assert peaks is not None
    assert (peaks.copy_bytes_per_s, said) == (3e12, ())
    assert laboratory.measured == [True]
    assert len(laboratory.stored()) == 1
    assert not lock_state(laboratory.locks, LOCK).is_held


async def test_stored_peaks_are_used_without_lock(laboratory: Laboratory) -> None:
    write_peaks(laboratory.kept, PEAKS)
    async with laboratory.lock().hold(on_wait=lambda _: None):
        assert await laboratory.learn() == (PEAKS, ())
    assert laboratory.measured == []


async def test_peaks_measured_by_lock_holder_are_reused(laboratory: Laboratory) -> None:
    async with laboratory.lock().hold(on_wait=lambda _: None):
        learning = asyncio.create_task(laboratory.learn())
        await laboratory.waits.wait()
        write_peaks(laboratory.kept, PEAKS)
    assert await learning == (PEAKS, ())
    assert laboratory.measured == []


async def test_measurement_waits_for_other_processes_to_end(laboratory: Laboratory) -> None:
    laboratory.driver.pids = (FORK_SERVER_PID, 77, 4711)
    trouble = "the device's peaks could not be measured: other processes use it: 77, 4711; stop them, then run again"
    assert await laboratory.learn() == (None, (trouble,))
    assert (laboratory.measured, laboratory.stored()) == ([], [])
    laboratory.driver.pids = (FORK_SERVER_PID,)
    peaks, said = await laboratory.learn()
    assert peaks is not None
    assert (said, len(laboratory.stored())) == ((), 1)


async def test_peaks_disturbed_by_other_processes_are_discarded(laboratory: Laboratory) -> None:
    laboratory.during = lambda: setattr(laboratory.driver, "pids", (FORK_SERVER_PID, 77))
    peaks, (trouble,) = await laboratory.learn()
    assert peaks is None
    assert "other processes use it: 77" in trouble
    assert laboratory.stored() == []


async def test_peaks_with_unknown_other_processes_are_not_stored(laboratory: Laboratory) -> None:
    laboratory.driver.pids = None
    peaks, (trouble,) = await laboratory.learn()
    assert peaks is not None
    assert trouble == f"the device's peaks are not stored: other users of the device were not checked: {HIDDEN}"
    assert laboratory.stored() == []


async def test_idle_device_with_unnamed_processes_counts_as_free(laboratory: Laboratory) -> None:
    laboratory.driver.pids, laboratory.driver.busy_percent = None, 0
    peaks, said = await laboratory.learn()
    assert peaks is not None
    assert (said, len(laboratory.stored())) == ((), 1)


async def test_peaks_are_not_measured_without_device_lock(laboratory: Laboratory) -> None:
    laboratory.locks.write_text("no folder")
    peaks, (trouble,) = await laboratory.learn()
    assert peaks is None
    assert trouble.startswith(f"the device's peaks could not be measured: {laboratory.locks}")
    assert laboratory.measured == []


async def test_unwritable_folder_loses_only_the_stored_peaks(laboratory: Laboratory) -> None:
    laboratory.kept.write_text("no folder")
    peaks, said = await laboratory.learn()
    assert peaks is not None
    assert said == ("the device's peaks could not be stored: File exists",)


async def test_free_memory_is_read_from_driver(laboratory: Laboratory) -> None:
    assert laboratory.measurement_context.timed_device("toy::twice", "cold").free_bytes == 7 << 30


def timing(side: str, device_us: float | None) -> Timing:
    interval = Interval(value=device_us, low=device_us, high=device_us) if device_us is not None else None
    return Timing(side=side, method=Method.CUPTI, device_us=interval, call_us=None)


async def test_shortest_baseline_time_is_kept_per_candidate(
    laboratory: Laboratory,
) -> None:
    for eager_us in (30.0, 20.0, 25.0, None):
        benchmark = CaseBenchmark(
            case="c",
            outcome=Outcome.PASS,
            cache=CacheState.COLD,
            elapsed_s=1.0,
            baselines=(timing(OTHER, 10.0), timing("eager", eager_us)),
        )
        laboratory.measurement_context.keep("toy::twice", benchmark)
    stored = laboratory.measurement_context.timed_device("toy::twice", "cold").stored_us
    assert [stored("c", side) for side in ("eager", OTHER)] == [20.0, None]
    assert laboratory.measurement_context.timed_device("toy::twice", "warm").stored_us("c", "eager") is None
