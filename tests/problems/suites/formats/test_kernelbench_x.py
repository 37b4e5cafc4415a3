"""The KernelBench-X reader: both kinds of metadata, the separator, unregistered and broken files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from problems.suites.formats import kernelbench_x
from problems.suites.scanning import format_of
from problems.suites.task import CandidateForm, RuleKind, SuiteContents, Task
from problems.suites.texts.separated import SEPARATOR

Read = Callable[[Path], SuiteContents]


@pytest.fixture
def checkout(samples: Path) -> Path:
    return samples / "kernelbench_x"


@pytest.fixture
def tasks(checkout: Path, contents_of: Read) -> dict[str, Task]:
    return {task.name: task for task in contents_of(checkout).tasks}


def test_checkout_registered_tasks_first(tasks: dict[str, Task]) -> None:
    assert list(tasks) == [
        "Activation/relu",
        "Fusion/fused_scale_softmax_sum",
        "Fusion/fused_linear_dropout",
        "Math/div",
        "Math/polar_sum",
        "Optimizer/SGD",
        "Loss/nll_loss",
        "Quantization/matmul_w8a8",
        "Activation/relu_fp16",
    ]
    assert "not in the metadata" in tasks["Activation/relu_fp16"].health[-1]


def test_difficulty_text_or_number_one_level(tasks: dict[str, Task]) -> None:
    levels = {task.level for task in tasks.values() if task.category in ("Math", "Quantization")}

    assert levels == {"difficulty 2", "difficulty 3"}


def test_candidate_function_after_file_not_metadata_name(tasks: dict[str, Task]) -> None:
    task = tasks["Optimizer/SGD"]

    assert (task.form, task.entry) == (CandidateForm.CALL, "SGD")


def test_module_as_argument_refused(tasks: dict[str, Task]) -> None:
    assert tasks["Optimizer/SGD"].refusal == (
        "its function takes model, loss_fn, which cannot be moved to a candidate's process"
    )


def test_cases_are_calls_of_tests(tasks: dict[str, Task]) -> None:
    turns = (f"line 26 #{number}" for number in range(1, 5))
    assert tasks["Activation/relu"].cases == ("line 20", "line 21", *turns, "benchmark first", "benchmark last")
    assert tasks["Activation/relu"].health == ()
    assert [name for name, task in tasks.items() if task.writes] == ["Activation/relu", "Math/div"]


def test_file_is_split_at_separator_lines(tasks: dict[str, Task], checkout: Path) -> None:
    task = tasks["Activation/relu"]
    lines = (checkout / "data/kernelbenchx/Activation/relu.py").read_text().splitlines()

    assert SEPARATOR not in task.text and "test_relu" not in task.text
    assert task.details["tests"].splitlines().index("test_results = test_relu()") == lines.index(
        "test_results = test_relu()"
    )


def test_performance_inputs_and_utilities_read(tasks: dict[str, Task]) -> None:
    assert "get_input_tensors" in tasks["Activation/relu"].details["performance"]
    assert "performance" not in tasks["Math/div"].details
    assert list(tasks["Math/div"].sources) == ["data_utils.py", "utils/data_utils.py"]


def test_quantised_task_three_distances(tasks: dict[str, Task]) -> None:
    task = tasks["Quantization/matmul_w8a8"]

    assert task.own_rule.kind is RuleKind.DISTANCES
    assert dict(task.own_rule.thresholds) == {"cosine": 0.95, "l1": 0.05, "rmse": 0.1}
    assert json.loads(task.details["quantisation"])["weight"] == "int8"


def test_own_rule_zero_tolerance_outside_table(tasks: dict[str, Task]) -> None:
    closeness = tasks["Math/polar_sum"].own_rule.closeness

    assert (closeness["float16"].relative, closeness["float32"].absolute, closeness[""].absolute) == (5e-3, 1e-5, 0.0)


def test_faults_of_tasks_are_health(tasks: dict[str, Task]) -> None:
    assert tasks["Fusion/fused_linear_dropout"].cases == ("line 22",)
    assert tasks["Fusion/fused_linear_dropout"].health == (
        "calls that draw random numbers are left out: line 21; their answer depends on PyTorch's random stream",
    )
    assert tasks["Math/div"].health == (
        "the tests compare the messages of exceptions",
        "calls that may raise are left out: line 26",
    )


def test_bad_entries_one_sentence_each(checkout: Path, contents_of: Read) -> None:
    complaints = [text.replace(f"{checkout}/", "") for text in contents_of(checkout).complaints]

    assert complaints == [
        "data/kernelbenchx/Math/missing.py: cannot be read: No such file or directory; left out",
        "data/kernelbenchx/Math/broken.py:1: syntax error: '(' was never closed; left out",
        "data/kernelbenchx_v1.json, entry 11: expected file '<Category>/<stem>.py', got None; left out",
        "data/kernelbenchx_v1.json, entry 12: expected file '<Category>/<stem>.py', got '../utils/data_utils.py'; "
        "left out",
        "data/kernelbenchx/Math/no_tests.py: no line of 146 '#' between reference and tests, so it is not a task; "
        "left out",
    ]


@pytest.mark.parametrize("place", ["data", "data/kernelbenchx", "data/kernelbenchx_v1.json"])
def test_parts_of_checkout_same_tasks(checkout: Path, contents_of: Read, tasks: dict[str, Task], place: str) -> None:
    assert format_of(checkout / place) is kernelbench_x.FORMAT
    assert [task.name for task in contents_of(checkout / place).tasks] == list(tasks)


def test_single_file_without_metadata(checkout: Path, contents_of: Read) -> None:
    (task,) = contents_of(checkout / "data/kernelbenchx/Math/div.py").tasks

    assert (task.name, task.level, list(task.sources)) == ("Math/div", "", ["data_utils.py", "utils/data_utils.py"])


def test_checkout_without_metadata_complains(tmp_path: Path, checkout: Path, contents_of: Read) -> None:
    (tmp_path / "data/kernelbenchx/Math").mkdir(parents=True)
    text = (checkout / "data/kernelbenchx/Math/div.py").read_text()
    (tmp_path / "data/kernelbenchx/Math/div.py").write_text(text)

    contents = contents_of(tmp_path)

    assert [task.name for task in contents.tasks] == ["Math/div"]
    assert contents.complaints == (
        f"{tmp_path}: no data/kernelbenchx_v1.json: difficulties, descriptions and thresholds unknown",
    )


def test_metadata_without_task_folder_complains(tmp_path: Path, checkout: Path, contents_of: Read) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/kernelbenchx_v1.json").write_text((checkout / "data/kernelbenchx_v1.json").read_text())

    contents = contents_of(tmp_path)

    assert contents.tasks == ()
    assert contents.complaints == (
        f"{tmp_path}/data/kernelbenchx: missing, so there are no task files; is the checkout complete?",
    )


def test_link_out_of_checkout_left_out(tmp_path: Path, checkout: Path, contents_of: Read) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text((checkout / "data/kernelbenchx/Math/div.py").read_text())
    folder = tmp_path / "suite/data/kernelbenchx/Math"
    folder.mkdir(parents=True)
    (folder / "div.py").symlink_to(outside)

    contents = contents_of(tmp_path / "suite")

    assert contents.tasks == ()
    assert f"a link to {outside}, outside of the suite" in contents.complaints[-1]
