"""The condition of a device: from the driver and the lock, and as lines of text."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from engine.devices import Device
from engine.devices.hardware.device_lock import DeviceLock
from engine.model.benchmark import DeviceState, Holder
from kgtui.cli.doctor.device_condition import Condition, condition_lines, condition_of

GPU = Device(platform="cuda", index=0, name="NVIDIA H100", target="sm_90")


class DriverError(Exception):
    """Stands for pynvml.NVMLError."""


@pytest.fixture
def driver():
    """A driver of one GPU that does not tell its power, in NVML's own words."""

    def refuse(handle):
        raise DriverError("Not Supported")

    return SimpleNamespace(
        NVMLError=DriverError,
        nvmlInit=lambda: None,
        nvmlShutdown=lambda: None,
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetUUID=lambda handle: "GPU-1a20",
        nvmlDeviceGetClockInfo=lambda handle, kind: {1: 1980, 2: 2619}[kind],
        nvmlDeviceGetTemperature=lambda handle, sensor: 41,
        nvmlDeviceGetPowerUsage=refuse,
        nvmlDeviceGetUtilizationRates=lambda handle: SimpleNamespace(gpu=97),
        nvmlDeviceGetCurrentClocksThrottleReasons=lambda handle: 0x4,
        nvmlDeviceGetComputeRunningProcesses=refuse,
    )


def test_device_condition_reports_driver_and_lock(driver, tmp_path):
    condition = condition_of(GPU, locks=tmp_path / "locks", driver=driver)
    assert list(condition_lines(condition)) == [
        "SM 1980 MHz, memory 2619 MHz, 41 C, 97% busy",
        "clocks are limited by: power cap",
        "unknown: power: Not Supported",
        "unknown: other processes: Not Supported",
        "lock: free",
    ]
    assert list(tmp_path.iterdir()) == []


async def test_device_holder_is_named(driver, tmp_path):
    locks = tmp_path / "locks"
    lock = DeviceLock(locks, device_id="GPU-1a20", command="kgtui bench softmax.py")
    async with lock.hold(on_wait=lambda holder: None):
        condition = condition_of(GPU, locks=locks, driver=driver)
    assert condition.holder is not None
    assert (condition.is_held, condition.holder.pid) == (True, os.getpid())


@pytest.mark.parametrize(
    ("held", "line"),
    [
        (
            {"is_held": True, "holder": Holder(pid=7, command="kgtui bench a.py", since="2026-01-02T12:00:00Z")},
            "lock: held by kgtui bench a.py (process 7) since 2026-01-02T12:00:00Z; benchmarks wait",
        ),
        ({"is_held": True}, "lock: held by an unknown process; benchmarks wait"),
        ({"is_held": None, "trouble": "/x.lock: cannot be locked"}, "lock: /x.lock: cannot be locked"),
    ],
    ids=["named", "somebody", "unknown"],
)
def test_unknown_lock_is_never_called_free(held, line):
    known = {"is_held": False, "holder": None, "trouble": None, **held}
    state = DeviceState(other_processes=(10, 30))
    condition = Condition(platform="cuda", index=0, id="GPU-1a20", state=state, **known)
    assert list(condition_lines(condition)) == ["other processes use it: 10, 30", line]
