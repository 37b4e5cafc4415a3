"""Platforms are found by scanning, refused when incomplete, and honest about what is here."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import devices
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
    "NAME = '{name}'\nVISIBLE_ENV = None\nTORCH_DEVICE = 'x'\nEXECUTED_ON_CPU = False\n"
    "HAS_ACTIVITY_RECORD = False\nQUEUES_ENV = None\n"
    "def detect():\n    return {found}\n"
)


def test_platform_names_include_cpu_and_cuda() -> None:
    assert {"cpu", "cuda"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_platform_detects_its_own_whole_devices(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    platform = devices.platform_named(name)
    if platform.VISIBLE_ENV is not None:
        monkeypatch.delenv(platform.VISIBLE_ENV, raising=False)  # with it, an index may be left out
    found = platform.detect()
    assert [(device.platform, device.index) for device in found] == [(name, i) for i in range(len(found))]


def test_detection_costs_neither_torch_nor_triton() -> None:
    program = (
        "import sys\nfrom engine.devices import detect_all\ndetect_all()\n"
        "print([name for name in ('torch', 'triton', 'numpy') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_cpu_is_listed_once_with_its_memory() -> None:
    [cpu] = devices.platform_named("cpu").detect()
    assert cpu.name.endswith(" (TTIR machine)")
    assert (cpu.target, cpu.driver) == (None, None)
    assert cpu.memory_bytes is not None
    assert cpu.memory_bytes > 1 << 28
    assert devices.platform_named("cpu").EXECUTED_ON_CPU is True


def test_cpu_is_last_among_all_devices(folder: Path) -> None:
    for file, name in (("a", "aaa"), ("b", "cpu"), ("c", "zzz")):
        (folder / f"{file}.py").write_text(COMPLETE.format(name=name, found=f"({name!r},)"))
    assert devices.detect_all() == ("aaa", "zzz", "cpu")


@pytest.mark.parametrize(
    "missing", ["NAME", "VISIBLE_ENV", "TORCH_DEVICE", "EXECUTED_ON_CPU", "HAS_ACTIVITY_RECORD", "QUEUES_ENV", "detect"]
)
def test_platform_without_required_name_is_refused(folder: Path, missing: str) -> None:
    text = COMPLETE.format(name="half", found="()").replace(missing, "other")
    (folder / "half.py").write_text(text)
    with pytest.raises(EngineError) as refused:
        devices.platforms()
    assert str(refused.value) == f"engine/devices/half.py does not define {missing}"


def test_an_unknown_platform_lists_those_that_exist() -> None:
    with pytest.raises(UsageError) as refused:
        devices.platform_named("tpu")
    assert str(refused.value) == f"unknown device 'tpu': use one of {', '.join(NAMES)}"


def test_platform_without_device_points_to_doctor(folder: Path) -> None:
    (folder / "none.py").write_text(COMPLETE.format(name="none", found="()"))
    with pytest.raises(UsageError, match=r"^there is no none device here; `kgtui doctor` lists what was found$"):
        devices.first_device("none")
