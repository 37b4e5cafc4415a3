"""The benchmark that is held against ncu, on a scripted device: it needs a GPU only for its figures."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch

from engine.clock.scripted import ScriptedDevice

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "gpu" / "truth.py"


@pytest.fixture
def truth(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module, with the folder of its kernels beside it."""
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    spec = importlib.util.spec_from_file_location("truth_script", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "truth_script", module)
    spec.loader.exec_module(module)
    return module


def test_truth_times_a_subject_on_a_scripted_device(truth: ModuleType) -> None:
    device = ScriptedDevice()

    def call(x: torch.Tensor) -> torch.Tensor:
        device.put("first", 3000)
        device.put("copy of 4 bytes", 1000)
        return x

    subject, cpu = truth.Subject(name="s", call=call, shapes=((8,),)), torch.device("cpu")
    slots = truth.slots_of(subject, cpu, 1024)
    truth.warm_up(subject, slots, lambda: None, least_s=0.0)
    timed = truth.timed(subject, slots, device.instruments())
    assert timed == {"name": "s", "device_us": 4.0, "kernels": 1, "calls": truth.CALLS, "slots": len(slots)}


def test_truth_slowdowns_are_ratios_to_no_extra_rows(truth: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    device = ScriptedDevice()

    def softmax(x: torch.Tensor) -> torch.Tensor:
        device.put("softmax", 1000 + 100 * truth.softmax_rows.EXTRA_ROWS)
        return x

    monkeypatch.setattr(truth, "SOFTMAX", truth.Subject(name="s", call=softmax, shapes=((8,),)))
    slots = truth.slots_of(truth.SOFTMAX, torch.device("cpu"), 64)
    assert truth.slowdowns_over(slots, device.instruments(), [5, 10]) == {"5": 1.5, "10": 2.0}


def test_truth_without_recorder_ends_with_reason(truth: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(truth, "instruments_of", lambda _: ScriptedDevice().instruments(precise=False))
    with pytest.raises(SystemExit, match="CUPTI could not be used: scripted without a recorder"):
        truth.precise_instruments(torch.device("cpu"))
