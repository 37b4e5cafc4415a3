"""The state of a device at one moment, by its driver: clocks, temperature, power, other processes.

A time taken beside another process, or with reduced clocks, is reported with these conditions.  Values that the driver
does not report are None, and the state names them with the reason.  Needs no CUDA context; must never change a setting
of the device.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar

from engine.model.benchmark import OTHER_PROCESSES, THROTTLING, WHOLE_STATE, DeviceState

NVIDIA = "cuda"

# Bits of NVML's clocks event reasons.  An idle device, and clocks set by an administrator, throttle nothing.
_NOT_THROTTLED = 0x1 | 0x2
_REASONS = {
    0x4: "power cap",
    0x8: "hardware slowdown",
    0x10: "sync boost",
    0x20: "software thermal limit",
    0x40: "hardware thermal limit",
    0x80: "power brake",
    0x100: "display clocks",
    0x200: "board limit",
    0x400: "reliability limit",
}
_SM_CLOCK, _MEMORY_CLOCK, _GPU_TEMPERATURE = 1, 2, 0
_OWN_PID_NAMESPACE = Path("/proc/self/ns/pid")
_INITIAL_PID_NAMESPACE = 0xEFFFFFFC  # the kernel's fixed inode of the namespace that drivers count in

Value = TypeVar("Value")
Handle: TypeAlias = object


class ProcessOnDevice(Protocol):
    """A process that has a compute context on the device."""

    pid: int


class Utilisation(Protocol):
    """Shares of the last sampling period, in percent."""

    gpu: int


class Memory(Protocol):
    """Bytes of the whole device."""

    free: int


class Driver(Protocol):
    """The part of the pynvml module in use."""

    NVMLError: type[Exception]

    def nvmlInit(self) -> None: ...  # noqa: N802 - NVML's own name, as are the following
    def nvmlShutdown(self) -> None: ...  # noqa: N802
    def nvmlDeviceGetHandleByIndex(self, index: int, /) -> Handle: ...  # noqa: N802
    def nvmlDeviceGetMemoryInfo(self, handle: Handle, /) -> Memory: ...  # noqa: N802
    def nvmlDeviceGetUUID(self, handle: Handle, /) -> str: ...  # noqa: N802
    def nvmlDeviceGetClockInfo(self, handle: Handle, kind: int, /) -> int: ...  # noqa: N802
    def nvmlDeviceGetTemperature(self, handle: Handle, sensor: int, /) -> int: ...  # noqa: N802
    def nvmlDeviceGetPowerUsage(self, handle: Handle, /) -> int: ...  # noqa: N802
    def nvmlDeviceGetUtilizationRates(self, handle: Handle, /) -> Utilisation: ...  # noqa: N802
    def nvmlDeviceGetCurrentClocksThrottleReasons(self, handle: Handle, /) -> int: ...  # noqa: N802
    def nvmlDeviceGetComputeRunningProcesses(self, handle: Handle, /) -> Sequence[ProcessOnDevice]: ...  # noqa: N802


def device_state(
    platform: str,
    index: int,
    *,
    own_pids: Collection[int],
    driver: Driver | None = None,
    is_contained: bool | None = None,
) -> DeviceState:
    """The state of device `index`, counted as NVML counts; `own_pids` are processes that may use the device.

    `is_contained` is whether process ids differ from the driver's; None determines it.
    """
    if platform != NVIDIA:
        return DeviceState(refused=(f"{WHOLE_STATE}: read on NVIDIA devices only",))
    contained = _is_contained() if is_contained is None else is_contained
    driver = driver or _installed_driver()
    try:
        with _opened(driver, index) as handle:
            return _StateReader(driver, handle).state(own_pids, is_contained=contained)
    except driver.NVMLError as error:
        return DeviceState(refused=(f"{WHOLE_STATE}: {error}",))


def device_id(platform: str, index: int, *, driver: Driver | None = None) -> str:
    """A name of the device that is the same for every process: the driver's, or else platform and index."""
    fallback = f"{platform}-{index}"
    if platform != NVIDIA:
        return fallback
    driver = driver or _installed_driver()
    try:
        with _opened(driver, index) as handle:
            return str(driver.nvmlDeviceGetUUID(handle))
    except driver.NVMLError:
        return fallback


def free_bytes(platform: str, index: int, *, driver: Driver | None = None) -> int | None:
    """Free memory of the device in bytes; None where its driver does not report it."""
    if platform != NVIDIA:
        return None
    driver = driver or _installed_driver()
    try:
        with _opened(driver, index) as handle:
            return int(driver.nvmlDeviceGetMemoryInfo(handle).free)
    except driver.NVMLError:
        return None


@contextmanager
def _opened(driver: Driver, index: int) -> Iterator[Handle]:
    """The device's handle, as long as the driver is open."""
    driver.nvmlInit()
    try:
        yield driver.nvmlDeviceGetHandleByIndex(index)
    finally:
        driver.nvmlShutdown()


class _StateReader:
    """Queries the driver for one value after the other and records those that it refuses."""

    def __init__(self, driver: Driver, handle: Handle) -> None:
        self._driver = driver
        self._handle = handle
        self._refused: list[str] = []

    def state(self, own_pids: Collection[int], *, is_contained: bool) -> DeviceState:
        ask, handle = self._driver, self._handle
        milliwatts = self._queried("power", lambda: ask.nvmlDeviceGetPowerUsage(handle))
        utilisation = self._queried("utilisation", lambda: ask.nvmlDeviceGetUtilizationRates(handle))
        reasons = self._queried(THROTTLING, lambda: ask.nvmlDeviceGetCurrentClocksThrottleReasons(handle))
        state = DeviceState(
            sm_clock_mhz=self._queried("SM clock", lambda: ask.nvmlDeviceGetClockInfo(handle, _SM_CLOCK)),
            memory_clock_mhz=self._queried("memory clock", lambda: ask.nvmlDeviceGetClockInfo(handle, _MEMORY_CLOCK)),
            temperature_c=self._queried("temperature", lambda: ask.nvmlDeviceGetTemperature(handle, _GPU_TEMPERATURE)),
            power_w=None if milliwatts is None else milliwatts / 1000,
            utilisation_percent=None if utilisation is None else utilisation.gpu,
            throttled_by=None if reasons is None else throttle_words(reasons),
            other_processes=self._others(own_pids, is_contained=is_contained),
        )
        return replace(state, refused=tuple(self._refused))

    def _others(self, own_pids: Collection[int], *, is_contained: bool) -> tuple[int, ...] | None:
        asked = self._queried(OTHER_PROCESSES, lambda: self._driver.nvmlDeviceGetComputeRunningProcesses(self._handle))
        if asked is None:
            return None
        present = {process.pid for process in asked}
        if is_contained and present.isdisjoint(own_pids):
            # The driver may report host process ids, or hide processes of other containers.
            self._refused.append(f"{OTHER_PROCESSES}: in this container process ids differ from the driver's")
            return None
        return tuple(sorted(present - set(own_pids)))

    def _queried(self, what: str, ask: Callable[[], Value]) -> Value | None:
        try:
            return ask()
        except self._driver.NVMLError as error:
            self._refused.append(f"{what}: {error}")
            return None


def throttle_words(reasons: int) -> tuple[str, ...]:
    """NVML's clocks event reasons as words, in the order of their bits; an unknown one by its bit."""
    left = reasons & ~_NOT_THROTTLED
    bits = (1 << shift for shift in range(left.bit_length()))
    return tuple(_REASONS.get(bit, f"reason {bit:#x}") for bit in bits if left & bit)


def _installed_driver() -> Driver:
    import pynvml

    driver: Driver = pynvml
    return driver


def _is_contained() -> bool:
    """Whether this process is in a separate PID namespace, as in a container; True when unknown."""
    try:
        return _OWN_PID_NAMESPACE.stat().st_ino != _INITIAL_PID_NAMESPACE
    except OSError:
        return True
