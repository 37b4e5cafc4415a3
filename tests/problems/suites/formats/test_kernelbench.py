"""The KernelBench reader: on the sample checkout, on exports, and on files that are no tasks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from problems.suites.formats import kernelbench
from problems.suites.scanning import format_of
from problems.suites.task import CandidateForm, SuiteContents

SAMPLE = Path(__file__).parents[2] / "samples" / "kernelbench"
SOFTMAX = SAMPLE / "KernelBench" / "level1" / "23_Softmax.py"


def contents_of(path: Path) -> SuiteContents:
    return format_of(path).read(path)


def names_of(path: Path) -> list[str]:
    return [task.name for task in contents_of(path).tasks]


@pytest.mark.parametrize("path", [SAMPLE, SAMPLE / "KernelBench"])
def test_checkout_every_level_in_order(path: Path) -> None:
    assert names_of(path) == [
        "level1/1_Scaled_add",
        "level1/23_Softmax",
        "level1/93_Masked_cumsum",
        "level1/95_CrossEntropyLoss",
        "level2/1_Linear_BatchNorm_Dropout",
        "level2/2_Two_weights",
        "level3/1_Recurrent",
        "level3/48_Rearranged",
        "level4/1_pretrained_model",
    ]
    assert contents_of(path).complaints == ()


def test_single_file_one_task() -> None:
    (task,) = contents_of(SOFTMAX).tasks

    assert (task.name, task.title, task.level) == ("level1/23_Softmax", "Softmax", "level1")
    assert (task.form, task.entry, task.arguments) == (CandidateForm.MODULE, "ModelNew", ("x",))
    assert dict(task.constants) == {"batch_size": 4096, "dim": 393216}


def test_level_folder_only_its_tasks() -> None:
    assert names_of(SAMPLE / "KernelBench" / "level2") == ["level2/1_Linear_BatchNorm_Dropout", "level2/2_Two_weights"]


def test_pretrained_model_refused_with_reason() -> None:
    refused = {task.name: task.refusal for task in contents_of(SAMPLE).tasks if task.refusal}

    assert list(refused) == ["level4/1_pretrained_model"]
    assert "no network" in refused["level4/1_pretrained_model"]


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_export_same_tasks_as_checkout(suffix: str, tmp_path: Path) -> None:
    row = {"code": SOFTMAX.read_text(), "level": 1, "name": "23_Softmax", "problem_id": 23}
    file = tmp_path / f"export.{suffix}"
    file.write_text(json.dumps([row]) if suffix == "json" else json.dumps(row) + "\n")

    (task,) = contents_of(file).tasks

    assert (task.name, task.text) == ("level1/23_Softmax", SOFTMAX.read_text())


def test_bad_export_rows_are_reported_and_rest_read(tmp_path: Path) -> None:
    row = {"code": SOFTMAX.read_text(), "level": 1, "name": "23_Softmax", "problem_id": 23}
    file = tmp_path / "export.jsonl"
    file.write_text("\n".join([json.dumps(row), "{", "[]", json.dumps({**row, "code": 3}), json.dumps(row)]))

    contents = contents_of(file)

    assert [task.name for task in contents.tasks] == ["level1/23_Softmax"]
    assert [complaint.split(": ")[0] for complaint in contents.complaints] == [
        f"{file}:2",
        f"{file}:3",
        f"{file}, row 4",
        str(file),
    ]
    assert "second task called level1/23_Softmax" in contents.complaints[-1]


def test_utf16_file_read_by_its_mark(tmp_path: Path) -> None:
    level = tmp_path / "level1"
    level.mkdir()
    (level / "1_a.py").write_bytes(SOFTMAX.read_text().encode("utf-16"))

    assert names_of(tmp_path) == ["level1/1_a"]


def test_bad_files_are_reported_and_rest_read(tmp_path: Path) -> None:
    level = tmp_path / "checkout" / "KernelBench" / "level1"
    level.mkdir(parents=True)
    (level.parent / "level2").mkdir()
    (level / "1_good.py").write_text(SOFTMAX.read_text())
    (level / "2_broken.py").write_text("class Model(:\n")
    (level / "3_empty.py").write_text("")
    (level / "4_latin.py").write_bytes(b"# \xe9\n")
    (tmp_path / "outside.py").write_text(SOFTMAX.read_text())
    (level / "5_link.py").symlink_to(tmp_path / "outside.py")
    (level / "6_loop.py").symlink_to(level / "6_loop.py")
    (level / "7_large.py").write_text("#" * (5 << 20))

    contents = contents_of(tmp_path / "checkout")

    assert [task.name for task in contents.tasks] == ["level1/1_good"]
    reported = [complaint.removeprefix(f"{level}/") for complaint in contents.complaints]
    assert reported[0] == "2_broken.py:1: syntax error: invalid syntax; left out"
    assert reported[1] == "3_empty.py: defines no Model and no get_inputs, so it is not a task; left out"
    assert reported[2].startswith("4_latin.py: neither UTF-8 nor UTF-16")
    assert reported[3].startswith("5_link.py: a link to") and reported[3].endswith("outside of the suite; left out")
    assert reported[4].startswith("6_loop.py: cannot be read")
    assert reported[5].startswith("7_large.py: 5,242,880 bytes")
    assert reported[6] == f"{level.parent}/level2: no task files; is the checkout complete?"


def test_model_bound_to_another_class_is_a_task(tmp_path: Path) -> None:
    file = tmp_path / "1_Alias.py"
    file.write_text(SOFTMAX.read_text().replace("class Model(", "class Softmax(") + "\nModel = Softmax\n")

    (task,) = contents_of(file).tasks

    assert (task.name, task.refusal) == ("1_Alias", "")


def test_reading_never_runs_the_files(tmp_path: Path) -> None:
    level, mark = tmp_path / "level1", tmp_path / "mark"
    level.mkdir()
    (level / "1_marks.py").write_text(f"open({str(mark)!r}, 'w')\n{SOFTMAX.read_text()}")

    assert names_of(tmp_path) == ["level1/1_marks"]
    assert not mark.exists()


def test_inputs_of_unknown_number_no_argument_names() -> None:
    text = SOFTMAX.read_text().replace("return [x]", "return [x] * 2")

    assert kernelbench._task(text, stem="1_a", level="", file=SOFTMAX, shown="").arguments is None


def test_checkout_of_one_later_level_complains(tmp_path: Path) -> None:
    level = tmp_path / "KernelBench" / "level2"
    level.mkdir(parents=True)
    (level / "1_one.py").write_text(SOFTMAX.read_text())

    missing = f"{level.parent}: no folder level1; is the checkout complete?"
    assert contents_of(tmp_path).complaints == (missing,)
    assert contents_of(level).complaints == ()
