"""What is left out: the first sentences, the count of all, and no memory for the rest."""

from __future__ import annotations

import json
from pathlib import Path

from problems.suites.complaints import MOST_SENTENCES, Complaints
from problems.suites.scanning import format_of
from problems.suites.source import suite_at

CODE = "class Model: ...\ndef get_inputs(): ...\n"


def test_few_complaints_are_all_kept() -> None:
    complaints = Complaints()
    complaints.add("a")
    complaints.add("b")

    assert (complaints.sentences, complaints.count) == (("a", "b"), 2)


def test_many_complaints_are_counted(tmp_path: Path) -> None:
    rows = [{"code": CODE, "level": 1, "name": "a", "problem_id": 1}, *([{"code": 1}] * 1500)]
    (tmp_path / "all.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))

    suite = suite_at(tmp_path / "all.jsonl")

    assert (suite.names(), suite.left_out, len(suite.complaints)) == (("kernelbench::level1/1_a",), 1500, 21)
    assert suite.complaints[0].endswith("all.jsonl, row 2: expected texts in the columns code and name; left out")
    assert suite.complaints[MOST_SENTENCES] == "1,480 more files or rows are left out"


def test_second_task_of_a_name_left_out(tmp_path: Path) -> None:
    row = json.dumps({"code": CODE, "level": 1, "name": "a", "problem_id": 1})
    file = tmp_path / "all.jsonl"
    file.write_text(f"{row}\n{row}\n")

    contents = format_of(file).read(file)

    assert (len(contents.tasks), contents.left_out) == (1, 1)
    assert contents.complaints == (f"{file}: a second task called level1/1_a, the first is in {file}; left out",)
