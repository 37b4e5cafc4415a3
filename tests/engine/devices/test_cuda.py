"""GPUs are what the driver names and the environment leaves of them."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from engine.devices import Device, cuda


@pytest.fixture(autouse=True)
def everything_visible(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the environment of the tests hides."""
    monkeypatch.delenv(cuda.VISIBLE_ENV, raising=False)


class DriverError(Exception):
    """Stands for pynvml.NVMLError."""


def driver(**changes: object) -> SimpleNamespace:
    """A driver with one H100, but for `changes`."""
    calls = {
        "NVMLError": DriverError,
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlDeviceGetCount": lambda: 1,
        "nvmlDeviceGetHandleByIndex": lambda index: index,
        "nvmlDeviceGetCudaComputeCapability": lambda handle: (9, 0),
        "nvmlDeviceGetName": lambda handle: "NVIDIA H100",
        "nvmlDeviceGetMemoryInfo": lambda handle: SimpleNamespace(total=85 << 30),
        "nvmlSystemGetDriverVersion": lambda: "580.1",
    }
    return SimpleNamespace(**{**calls, **changes})


def fail(*_: object) -> None:
    raise DriverError


def test_a_gpu_is_described_as_its_driver_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", driver())
    assert cuda.detect() == (
        Device(platform="cuda", index=0, name="NVIDIA H100", target="sm_90", memory_bytes=85 << 30, driver="580.1"),
    )


@pytest.mark.parametrize("call", ["nvmlInit", "nvmlDeviceGetCount", "nvmlDeviceGetName"])
def test_without_a_working_driver_there_is_no_gpu(monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", driver(**{call: fail}))
    assert cuda.detect() == ()


@pytest.mark.parametrize("call", ["nvmlDeviceGetCount", "nvmlDeviceGetName"])
def test_a_driver_that_was_opened_is_closed(monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    closed: list[bool] = []
    monkeypatch.setitem(sys.modules, "pynvml", driver(**{call: fail}, nvmlShutdown=lambda: closed.append(True)))
    cuda.detect()
    assert closed == [True]


UUIDS = ("GPU-1a20-77", "GPU-1a31-08", "GPU-c4d5-19")


@pytest.mark.parametrize(
    ("chosen", "indices"),
    [
        (None, [0, 1, 2]), ("0,1,2", [0, 1, 2]), ("1", [1]), ("2,0", [2, 0]), (" 1 , 0 ", [1, 0]),
        ("", []), ("-1", []), ("7", []), ("none", []),
        ("0,-1,2", [0]), ("1,7,0", [1]), ("2,,1", [2]), ("1,", [1]),
        ("GPU-c4d5-19", [2]), ("GPU-c", [2]), ("GPU-c4d5-19,GPU-1a20", [2, 0]), ("1,GPU-c", [1, 2]),
        ("GPU-ffff", []), ("0,GPU-ffff,1", [0]), ("4d5", []),
    ],
    ids=repr,
)  # fmt: skip
def test_environment_selects_gpus_up_to_first_invalid(
    monkeypatch: pytest.MonkeyPatch, chosen: str | None, indices: list[int]
) -> None:
    three = driver(nvmlDeviceGetCount=lambda: 3, nvmlDeviceGetUUID=lambda handle: UUIDS[handle])
    monkeypatch.setitem(sys.modules, "pynvml", three)
    if chosen is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", chosen)
    assert [device.index for device in cuda.detect()] == indices


def test_gpu_without_readable_uuid_is_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", driver(nvmlDeviceGetUUID=fail))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-1a20")
    assert cuda.detect() == ()
