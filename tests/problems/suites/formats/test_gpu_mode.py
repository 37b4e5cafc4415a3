"""The GPU MODE reader: task.yml with its files and cases, tolerances, tasks that cannot run here."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from problems.suites.task import CandidateForm, RuleKind, SuiteContents, Task

Read = Callable[[Path], SuiteContents]


@pytest.fixture
def checkout(samples: Path) -> Path:
    return samples / "gpu_mode"


@pytest.fixture
def tasks(checkout: Path, contents_of: Read) -> dict[str, Task]:
    return {task.name: task for task in contents_of(checkout).tasks}


def test_checkout_tasks_by_group(tasks: dict[str, Task]) -> None:
    assert list(tasks) == ["amd/exotic_py", "pmpp/histogram_py", "pmpp_v2/scale_py"]
    assert {(task.form, task.entry) for task in tasks.values()} == {(CandidateForm.SUBMISSION, "custom_kernel")}


def test_files_beside_and_in_the_group_read(tasks: dict[str, Task]) -> None:
    task = tasks["pmpp/histogram_py"]

    assert sorted(task.sources) == ["task.py", "utils.py"]
    assert "def ref_kernel" in task.text


def test_submission_may_import_files_of_task(tasks: dict[str, Task]) -> None:
    assert sorted(tasks["pmpp/histogram_py"].modules) == ["reference.py", "task.py", "utils.py"]


def test_cases_of_task_file_keep_their_values(tasks: dict[str, Task]) -> None:
    details = tasks["pmpp/histogram_py"].details

    assert json.loads(details["tests"])[1] == {"size": 256, "seed": 105432, "contention": 90.5}
    assert len(json.loads(details["benchmarks"])) == 1


def test_literal_tolerances_else_own_code(tasks: dict[str, Task]) -> None:
    own, literal = tasks["pmpp/histogram_py"].own_rule, tasks["pmpp_v2/scale_py"].own_rule

    assert own.kind is RuleKind.OWN_CODE
    assert (literal.kind, literal.closeness[""].relative, literal.closeness[""].absolute) == (
        RuleKind.ALLCLOSE,
        1e-2,
        1e-3,
    )


def test_unavailable_package_and_missing_value(tasks: dict[str, Task]) -> None:
    task = tasks["amd/exotic_py"]

    assert task.refusal == "its reference imports aiter, which is not part of a task"
    assert json.loads(task.details["tests"]) == [{"size": 8, "seed": 1}]
    assert "outside.txt: cannot be read" in task.health[0]


def test_broken_yaml_one_sentence(checkout: Path, contents_of: Read) -> None:
    (complaint,) = contents_of(checkout).complaints

    assert complaint.startswith(f"{checkout}/problems/pmpp_v2/broken_py/task.yml: not valid YAML: ")


@pytest.mark.parametrize(
    "place", ["problems/pmpp", "problems/pmpp/histogram_py", "problems/pmpp/histogram_py/task.yml"]
)
def test_part_of_checkout_same_task(checkout: Path, contents_of: Read, place: str) -> None:
    (task,) = contents_of(checkout / place).tasks

    assert (task.name, sorted(task.sources), task.refusal) == ("pmpp/histogram_py", ["task.py", "utils.py"], "")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("lang: cu", "its language is cu, and only Python tasks are run"),
        ("multi_gpu: true", "it needs several GPUs in one task"),
        ("tests: []", "its task.yml has no test with values for all arguments"),
    ],
)
def test_task_that_cannot_run_refused(tmp_path: Path, contents_of: Read, line: str, reason: str) -> None:
    reference = "def generate_input(seed):\n    return seed\n\n\nref_kernel = abs\n"
    given = {"files": [{"name": "reference.py", "source": "reference.py"}], "tests": [{"seed": 1}]}
    folder = tmp_path / "group" / "task"
    folder.mkdir(parents=True)
    (folder / "reference.py").write_text(reference)
    kept = [f"{key}: {json.dumps(value)}" for key, value in given.items() if not line.startswith(key)]
    (folder / "task.yml").write_text("\n".join([*kept, line]) + "\n")

    assert [task.refusal for task in contents_of(folder).tasks] == [reason]


def test_list_that_contains_itself_dropped(tmp_path: Path, contents_of: Read) -> None:
    folder = tmp_path / "group" / "task"
    folder.mkdir(parents=True)
    (folder / "task.yml").write_text("tests:\n  - {size: 3, shape: &a [*a]}\n")

    (task,) = contents_of(folder).tasks

    assert json.loads(task.details["tests"]) == [{"size": 3}]


def test_file_outside_of_suite_not_read(tmp_path: Path, contents_of: Read) -> None:
    folder = tmp_path / "suite" / "group" / "task"
    folder.mkdir(parents=True)
    (tmp_path / "secret.py").write_text("TOKEN = 1\n")
    (folder / "task.yml").write_text('files:\n  - {"name": "reference.py", "source": "../../../secret.py"}\n')

    (task,) = contents_of(tmp_path / "suite").tasks

    assert (task.text, "outside of the suite" in task.refusal) == ("", True)


def test_imported_file_that_is_missing_is_the_reason(tmp_path: Path, contents_of: Read) -> None:
    (tmp_path / "task.yml").write_text(
        "files:\n  - {name: reference.py, source: reference.py}\n  - {name: utils.py, source: ../gone/utils.py}\n"
    )
    (tmp_path / "reference.py").write_text("import utils\n\ngenerate_input = ref_kernel = print\n")

    (task,) = contents_of(tmp_path).tasks

    assert "gone/utils.py: cannot be read" in task.refusal
