"""The TritonBench reader: both sets, a .jsonl that is one array, self-importing tests, half a checkout."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from problems.suites.formats import tritonbench
from problems.suites.scanning import format_of
from problems.suites.task import RuleKind, SuiteContents, Task

Read = Callable[[Path], SuiteContents]


@pytest.fixture
def checkout(samples: Path) -> Path:
    return samples / "tritonbench"


@pytest.fixture
def tasks(checkout: Path, contents_of: Read) -> dict[str, Task]:
    return {task.name: task for task in contents_of(checkout).tasks}


def test_checkout_has_tasks_of_both_sets(tasks: dict[str, Task]) -> None:
    assert list(tasks) == ["G/double_add", "G/quiet_copy", "T/add", "T/tanh_sum"]


def test_jsonl_that_is_one_array_read(tasks: dict[str, Task]) -> None:
    assert (tasks["T/add"].level, tasks["T/add"].title) == ("difficulty 1", "Adds other, scaled by alpha, to input")
    assert tasks["G/double_add"].level == "difficulty 2"


def test_entry_is_wrapper_that_tests_call(tasks: dict[str, Task]) -> None:
    assert [task.entry for task in tasks.values()] == ["double_add", "copy", "add", "tanh_sum"]
    assert tasks["T/add"].cases == ("line 14", "line 15", "line 16", "benchmark first", "benchmark last")


def test_own_rule_printed_output(tasks: dict[str, Task]) -> None:
    assert {task.own_rule.kind for task in tasks.values()} == {RuleKind.PRINTED}


def test_faults_of_tests_are_health(tasks: dict[str, Task]) -> None:
    assert tasks["T/add"].health == ()
    assert tasks["T/tanh_sum"].health == (
        "its tests draw random inputs without a seed",
        "its tests import the file itself",
    )
    assert "the tests bind no result at their top level" in tasks["G/quiet_copy"].health


def test_removed_function_in_gold_kernel_is_health(checkout: Path, tmp_path: Path, contents_of: Read) -> None:
    file = tmp_path / "quiet_copy.py"
    text = (checkout / "data" / "TritonBench_G_v1" / "quiet_copy.py").read_text()
    file.write_text(text.replace("offsets = tl.arange(0, BLOCK)", "offsets = tl.make_block_ptr(x_ptr)"))

    (task,) = contents_of(file).tasks

    assert "its reference calls tl.make_block_ptr, which Triton 3.9 removed" in task.health


def test_metadata_without_file_complains(checkout: Path, contents_of: Read) -> None:
    assert contents_of(checkout).complaints == (
        f"{checkout}/data/TritonBench_G_v1/gone.py: in the metadata, but not on disk; left out",
    )


def test_folder_of_one_set_is_a_suite(checkout: Path, contents_of: Read) -> None:
    contents = contents_of(checkout / "data/TritonBench_T_v1")

    assert ([task.name for task in contents.tasks], contents.complaints) == (["T/add", "T/tanh_sum"], ())


def test_checkout_without_other_set_complains(tmp_path: Path, checkout: Path, contents_of: Read) -> None:
    (tmp_path / "data/TritonBench_T_v1").mkdir(parents=True)
    text = (checkout / "data/TritonBench_T_v1/add.py").read_text()
    (tmp_path / "data/TritonBench_T_v1/add.py").write_text(text)

    contents = contents_of(tmp_path)

    assert [task.name for task in contents.tasks] == ["T/add"]
    assert contents.complaints == (
        f"{tmp_path}: no folder TritonBench_G_v1, so set G is missing; is the checkout complete?",
        f"TritonBench_T_v1.json: missing beside {tmp_path}/data/TritonBench_T_v1; difficulties are unknown",
    )


def test_single_file_recognised_by_triton_import(tmp_path: Path, checkout: Path, contents_of: Read) -> None:
    copied = tmp_path / "double_add.py"
    copied.write_text((checkout / "data/TritonBench_G_v1/double_add.py").read_text())

    assert format_of(copied) is tritonbench.FORMAT
    assert [task.name for task in contents_of(copied).tasks] == ["G/double_add"]
