"""Opening tasks of the samples in this process, with what the harnesses patch put back after each test."""

from __future__ import annotations

import importlib
import os
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from engine.reference.harness import OpenedTask
from problems.suites.scanning import format_of
from problems.suites.settings import PACKED, PRECISION
from problems.suites.task import Task

SAMPLES = Path(__file__).parents[2] / "samples"
PATCHED = (
    (torch, "manual_seed"),
    (torch.cuda, "manual_seed"),
    (torch.cuda, "manual_seed_all"),
    (torch.cuda, "synchronize"),
    (torch.Tensor, "cuda"),
    (torch.nn.Module, "cuda"),
)


@pytest.fixture(autouse=True)
def put_back(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A harness owns its process; here the streams, folder, modules and patches are those of the test again."""
    for owner, name in PATCHED:
        monkeypatch.setattr(owner, name, getattr(owner, name))
    monkeypatch.setenv("KERNELBENCHX_SEED", "0")
    monkeypatch.setattr(sys, "path", [*sys.path])
    folder, modules, state, torch_state = Path.cwd(), set(sys.modules), random.getstate(), torch.get_rng_state()
    yield
    os.chdir(folder)
    random.setstate(state)
    torch.set_rng_state(torch_state)
    for name in set(sys.modules) - modules:
        if not name.startswith(("torch", "numpy", "triton", "problems", "engine")):
            del sys.modules[name]


@pytest.fixture(scope="session")
def tasks() -> dict[str, Task]:
    """Every task of the samples by the name of its suite's folder and its own."""
    found = {}
    for folder in sorted(SAMPLES.iterdir()):
        contents = format_of(folder).read(folder)
        found |= {f"{folder.name}::{task.name}": task for task in contents.tasks}
    return found


@pytest.fixture
def opened(tasks: dict[str, Task], tmp_path: Path) -> Callable[[str], OpenedTask]:
    """A task of the samples as its harness opens it on the CPU."""

    def open_named(name: str) -> OpenedTask:
        task = tasks[name]
        for file, text in {**task.sources, "reference.py": task.text}.items():
            (tmp_path / file).parent.mkdir(exist_ok=True)
            (tmp_path / file).write_text(text)
        harness = importlib.import_module(f"problems.suites.harness.{task.harness}")
        details = {**task.details, PRECISION: "fp32", PACKED: "" if task.arguments is not None else PACKED}
        opened_task: OpenedTask = harness.open_task(tmp_path / "reference.py", details, torch.device("cpu"))
        return opened_task

    return open_named
