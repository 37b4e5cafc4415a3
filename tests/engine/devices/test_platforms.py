"""Platforms are found by scanning, refused when incomplete, and honest about what is here."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from engine import devices
from engine.devices import Device
from engine.errors import EngineError, UsageError

NAMES = sorted(devices.platforms())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that stands for engine/devices."""
    monkeypatch.setattr(devices, "__path__", [str(tmp_path)])
    known = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - known:
        if name.startswith("engine.devices."):
            del sys.modules[name]


COMPLETE = (
    "NAME = '{name}'\nVISIBLE_ENV = None\nTORCH_DEVICE = 'x'\nINTERPRETED = False\ndef detect():\n    return {found}\n"
)


def test_cpu_and_cuda_are_there() -> None:
    assert {"cpu", "cuda"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_platform_finds_whole_devices_of_its_own_or_none(name: str) -> None:
    found = devices.platform_named(name).detect()
    assert [(device.platform, device.index) for device in found] == [(name, i) for i in range(len(found))]


def test_detection_costs_neither_torch_nor_triton() -> None:
    program = (
        "import sys\nfrom engine.devices import detect_all\ndetect_all()\n"
        "print([name for name in ('torch', 'triton', 'numpy') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_cpu_is_always_there_once_with_its_memory() -> None:
    [cpu] = devices.platform_named("cpu").detect()
    assert cpu.name.endswith(" (interpreter)")
    assert (cpu.target, cpu.driver) == (None, None)
    assert cpu.memory_bytes is not None
    assert cpu.memory_bytes > 1 << 28
    assert devices.platform_named("cpu").INTERPRETED is True


def test_the_cpu_stands_last_among_all_devices(folder: Path) -> None:
    for file, name in (("a", "aaa"), ("b", "cpu"), ("c", "zzz")):
        (folder / f"{file}.py").write_text(COMPLETE.format(name=name, found=f"({name!r},)"))
    assert devices.detect_all() == ("aaa", "zzz", "cpu")


@pytest.mark.parametrize("missing", ["NAME", "VISIBLE_ENV", "TORCH_DEVICE", "INTERPRETED", "detect"])
def test_a_platform_without_a_required_name_is_refused_loudly(folder: Path, missing: str) -> None:
    text = COMPLETE.format(name="half", found="()").replace(missing, "other")
    (folder / "half.py").write_text(text)
    with pytest.raises(EngineError) as refused:
        devices.platforms()
    assert str(refused.value) == f"engine/devices/half.py does not define {missing}"


def test_an_unknown_platform_lists_those_that_exist() -> None:
    with pytest.raises(UsageError) as refused:
        devices.platform_named("tpu")
    assert str(refused.value) == f"'tpu' is no device: use one of {', '.join(NAMES)}"


def test_a_platform_without_a_device_here_points_to_the_doctor(folder: Path) -> None:
    (folder / "none.py").write_text(COMPLETE.format(name="none", found="()"))
    with pytest.raises(UsageError, match=r"^there is no none device here; `kgtui doctor` lists what was found$"):
        devices.first_device("none")


class DriverError(Exception):
    """Stands for pynvml.NVMLError."""


def driver(**changes: object) -> SimpleNamespace:
    """A driver with one H100, but for `changes`."""
    calls = {
        "NVMLError": DriverError, "nvmlInit": lambda: None, "nvmlShutdown": lambda: None,
        "nvmlDeviceGetCount": lambda: 1, "nvmlDeviceGetHandleByIndex": lambda index: index,
        "nvmlDeviceGetCudaComputeCapability": lambda handle: (9, 0), "nvmlDeviceGetName": lambda handle: "NVIDIA H100",
        "nvmlDeviceGetMemoryInfo": lambda handle: SimpleNamespace(total=85 << 30),
        "nvmlSystemGetDriverVersion": lambda: "580.1",
    }  # fmt: skip
    return SimpleNamespace(**{**calls, **changes})


def fail(*_: object) -> None:
    raise DriverError


def test_a_gpu_is_described_as_its_driver_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", driver())
    assert devices.platform_named("cuda").detect() == (
        Device(
            platform="cuda", index=0, name="NVIDIA H100", target="sm_90", memory_bytes=85 << 30, driver="580.1"
        ),
    )  # fmt: skip


@pytest.mark.parametrize("call", ["nvmlInit", "nvmlDeviceGetCount", "nvmlDeviceGetName"])
def test_without_a_working_driver_there_is_no_gpu(monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", driver(**{call: fail}))
    assert devices.platform_named("cuda").detect() == ()


@pytest.mark.parametrize("call", ["nvmlDeviceGetCount", "nvmlDeviceGetName"])
def test_a_driver_that_was_opened_is_closed(monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    closed: list[bool] = []
    monkeypatch.setitem(sys.modules, "pynvml", driver(**{call: fail}, nvmlShutdown=lambda: closed.append(True)))
    devices.platform_named("cuda").detect()
    assert closed == [True]
