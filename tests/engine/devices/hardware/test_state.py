"""What the driver tells becomes the state; what it refuses stays None and is named."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from engine.devices import detect_all
from engine.devices.hardware.state import device_id, device_state, free_bytes, throttle_words
from engine.model.benchmark import DeviceState


class DriverError(Exception):
    """Stands for pynvml.NVMLError."""


class StandIn:
    """A driver with one busy H100 as device 0; the calls in `refuse` fail."""

    NVMLError = DriverError

    def __init__(self, *refuse: str, reasons: int = 0x1, pids: tuple[int, ...] = ()) -> None:
        self.opened = 0
        reported: dict[str, Callable[..., Any]] = {
            "Init": lambda: None,
            "DeviceGetHandleByIndex": lambda index: ["a handle"][index],
            "DeviceGetMemoryInfo": lambda handle: SimpleNamespace(total=80 << 30, free=60 << 30, used=20 << 30),
            "DeviceGetUUID": lambda handle: "GPU-1a20-77",
            "DeviceGetTemperature": lambda handle, sensor: 41 + sensor,
            "DeviceGetClockInfo": lambda handle, kind: {1: 1980, 2: 2619}[kind],
            "DeviceGetPowerUsage": lambda handle: 119_500,
            "DeviceGetUtilizationRates": lambda handle: SimpleNamespace(gpu=97, memory=3),
            "DeviceGetCurrentClocksThrottleReasons": lambda handle: reasons,
            "DeviceGetComputeRunningProcesses": lambda handle: [SimpleNamespace(pid=pid) for pid in pids],
        }
        self.asked: list[str] = []
        for name, call in reported.items():
            setattr(self, f"nvml{name}", self._counted(name, self._refuse if name in refuse else call))

    def _counted(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def ask(*arguments: object) -> Any:
            self.asked.append(name)
            answer = call(*arguments)
            self.opened += name == "Init"
            return answer

        return ask

    def _refuse(self, *_: object) -> None:
        raise DriverError("Not Supported")

    def nvmlShutdown(self) -> None:  # noqa: N802 - NVML's own name
        self.opened -= 1


def read(driver: StandIn, *, own: tuple[int, ...] = (), is_contained: bool = False) -> DeviceState:
    return device_state("cuda", 0, own_pids=own, driver=driver, is_contained=is_contained)


WHOLE = DeviceState(
    sm_clock_mhz=1980,
    memory_clock_mhz=2619,
    temperature_c=41,
    power_w=119.5,
    utilisation_percent=97,
    throttled_by=(),
    other_processes=(),
)


def test_state_is_read_from_the_driver() -> None:
    assert read(StandIn()) == WHOLE


@pytest.mark.parametrize(
    ("call", "field", "what"),
    [
        ("DeviceGetTemperature", "temperature_c", "temperature"),
        ("DeviceGetPowerUsage", "power_w", "power"),
        ("DeviceGetUtilizationRates", "utilisation_percent", "utilisation"),
        ("DeviceGetCurrentClocksThrottleReasons", "throttled_by", "throttling"),
        ("DeviceGetComputeRunningProcesses", "other_processes", "other processes"),
    ],
)
def test_refused_value_is_none_and_named(call: str, field: str, what: str) -> None:
    assert read(StandIn(call)) == replace(WHOLE, **{field: None}, refused=(f"{what}: Not Supported",))


def test_both_clocks_are_named_where_neither_is_reported() -> None:
    refused = read(StandIn("DeviceGetClockInfo")).refused
    assert refused == ("SM clock: Not Supported", "memory clock: Not Supported")


@pytest.mark.parametrize("call", ["Init", "DeviceGetHandleByIndex"])
def test_without_a_driver_nothing_is_known(call: str) -> None:
    driver = StandIn(call)
    state = read(driver)
    assert state == DeviceState(refused=("its state: Not Supported",))
    assert state.why_unknown("other processes") == "its state: Not Supported"
    assert driver.opened == 0


def test_a_driver_that_was_opened_is_closed() -> None:
    driver = StandIn()
    read(driver)
    device_id("cuda", 0, driver=driver)
    assert driver.opened == 0


@pytest.mark.parametrize(
    ("reasons", "words"),
    [
        (0x0, ()),
        (0x1, ()),
        (0x2, ()),
        (0x3, ()),
        (0x4, ("power cap",)),
        (0x5, ("power cap",)),
        (0x8, ("hardware slowdown",)),
        (0x10, ("sync boost",)),
        (0x60, ("software thermal limit", "hardware thermal limit")),
        (0x788, ("hardware slowdown", "power brake", "display clocks", "board limit", "reliability limit")),
        (1 << 40 | 0x4, ("power cap", "reason 0x10000000000")),
    ],
    ids=str,
)
def test_reasons_for_low_clocks_are_words(reasons: int, words: tuple[str, ...]) -> None:
    assert throttle_words(reasons) == words
    assert read(StandIn(reasons=reasons)).throttled_by == words


def test_reason_words_match_bits_of_the_library() -> None:
    pynvml = pytest.importorskip("pynvml")
    named = {
        "SwPowerCap": "power cap",
        "HwSlowdown": "hardware slowdown",
        "SyncBoost": "sync boost",
        "SwThermalSlowdown": "software thermal limit",
        "HwThermalSlowdown": "hardware thermal limit",
        "HwPowerBrakeSlowdown": "power brake",
        "DisplayClockSetting": "display clocks",
    }
    for name, word in named.items():
        assert throttle_words(getattr(pynvml, f"nvmlClocksThrottleReason{name}")) == (word,)
    for name in ("None", "GpuIdle", "ApplicationsClocksSetting"):
        assert throttle_words(getattr(pynvml, f"nvmlClocksThrottleReason{name}")) == ()
    assert (pynvml.NVML_CLOCK_SM, pynvml.NVML_CLOCK_MEM, pynvml.NVML_TEMPERATURE_GPU) == (1, 2, 0)


def test_other_processes_are_counted_without_own() -> None:
    state = read(StandIn(pids=(30, 10, 20, 10)), own=(20, 99))
    assert (state.other_processes, state.refused) == ((10, 30), ())


@pytest.mark.parametrize(
    ("pids", "own", "others", "refused"),
    [
        ((4711,), (2,), None, ("other processes: in this container process ids differ from the driver's",)),
        ((), (2,), None, ("other processes: in this container process ids differ from the driver's",)),
        ((2, 5), (2,), (5,), ()),
    ],
    ids=["the host's ids", "hidden", "ours are among them"],
)
def test_container_process_ids_require_own_id(
    pids: tuple[int, ...], own: tuple[int, ...], others: tuple[int, ...] | None, refused: tuple[str, ...]
) -> None:
    state = read(StandIn(pids=pids), own=own, is_contained=True)
    assert (state.other_processes, state.refused) == (others, refused)


def test_other_platform_has_no_state_and_no_query() -> None:
    driver = StandIn()
    assert device_state("cpu", 0, own_pids=(), driver=driver) == DeviceState(
        refused=("its state: read on NVIDIA devices only",)
    )
    assert device_id("cpu", 0, driver=driver) == "cpu-0"
    assert free_bytes("cpu", 0, driver=driver) is None
    assert driver.asked == []


def test_a_device_is_named_by_its_driver() -> None:
    assert device_id("cuda", 0, driver=StandIn()) == "GPU-1a20-77"


@pytest.mark.parametrize("call", ["Init", "DeviceGetHandleByIndex", "DeviceGetUUID"])
def test_device_unnamed_by_driver_uses_its_number(call: str) -> None:
    driver = StandIn(call)
    assert device_id("cuda", 3 if call == "Init" else 0, driver=driver) == ("cuda-3" if call == "Init" else "cuda-0")
    assert driver.opened == 0


def test_free_memory_is_read_from_the_driver() -> None:
    driver = StandIn()
    assert free_bytes("cuda", 0, driver=driver) == 60 << 30
    assert driver.opened == 0


@pytest.mark.parametrize("call", ["Init", "DeviceGetHandleByIndex", "DeviceGetMemoryInfo"])
def test_unknown_free_memory_is_not_guessed(call: str) -> None:
    driver = StandIn(call)
    assert free_bytes("cuda", 0, driver=driver) is None
    assert driver.opened == 0


@pytest.mark.gpu
def test_real_device_reports_clocks_and_name() -> None:
    if detect_all()[0].platform != "cuda":
        pytest.skip("needs a CUDA device")
    state = device_state("cuda", 0, own_pids=(os.getpid(),))
    assert state.sm_clock_mhz is not None
    assert state.temperature_c is not None
    assert 0 < (free_bytes("cuda", 0) or 0) <= (detect_all()[0].memory_bytes or 0)
    assert device_id("cuda", 0).startswith("GPU-")
