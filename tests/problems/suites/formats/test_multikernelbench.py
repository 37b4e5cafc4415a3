"""The MultiKernelBench reader: both styles of inputs, data files beside, tasks of Ascend machines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from problems.suites.task import CandidateForm, SuiteContents, Task

Read = Callable[[Path], SuiteContents]


@pytest.fixture
def checkout(samples: Path) -> Path:
    return samples / "multikernelbench"


@pytest.fixture
def tasks(checkout: Path, contents_of: Read) -> dict[str, Task]:
    return {task.name: task for task in contents_of(checkout).tasks}


def test_checkout_tasks_by_category(tasks: dict[str, Task]) -> None:
    names = ["activation/swish"]
    names += [f"npukernelbench_level1/{stem}" for stem in ("3_add", "7_swiglu", "9_no_data")]
    names += ["npukernelbench_level4/2_extra_input"]

    assert list(tasks) == names
    assert {(task.form, task.entry) for task in tasks.values()} == {(CandidateForm.MODULE, "ModelNew")}


def test_input_function_of_each_file_is_found(tasks: dict[str, Task]) -> None:
    assert tasks["activation/swish"].details["inputs"] == "get_inputs"
    assert tasks["npukernelbench_level1/3_add"].details["inputs"] == "get_input_groups"
    assert dict(tasks["activation/swish"].constants) == {"batch_size": 16, "dim": 64}


def test_json_beside_reference_is_a_source(tasks: dict[str, Task]) -> None:
    (name,) = tasks["npukernelbench_level1/3_add"].sources

    assert name == "3_add.json"


def test_tasks_that_cannot_run_refused(tasks: dict[str, Task]) -> None:
    assert tasks["npukernelbench_level1/7_swiglu"].refusal == (
        "its reference imports torch_npu, which only Ascend machines have"
    )
    assert "9_no_data.json: cannot be read" in tasks["npukernelbench_level1/9_no_data"].refusal


def test_file_without_model_complains(checkout: Path, contents_of: Read) -> None:
    assert contents_of(checkout).complaints == (
        f"{checkout}/reference/activation/notes.py: defines no Model, so it is not a task; left out",
    )


@pytest.mark.parametrize(
    ("place", "count"), [("reference", 5), ("reference/npukernelbench_level1", 3), ("reference/activation", 1)]
)
def test_part_of_checkout(checkout: Path, contents_of: Read, place: str, count: int) -> None:
    assert len(contents_of(checkout / place).tasks) == count


def test_single_file_with_groups(checkout: Path, contents_of: Read) -> None:
    (task,) = contents_of(checkout / "reference/npukernelbench_level1/3_add.py").tasks

    assert (task.name, list(task.sources)) == ("npukernelbench_level1/3_add", ["3_add.json"])
