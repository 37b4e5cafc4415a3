"""A folder of the user's own problem files."""

from __future__ import annotations

import hashlib
import inspect
import re
from pathlib import Path

import pytest

from engine.errors import EngineError, UsageError
from engine.problem_source import open_source
from problems.aten import silu
from problems.folder import Folder
from problems.index import open_index
from problems.rules.__main__ import report

ROPE = inspect.getsource(silu).replace("aten::silu", "user::rope").replace("silu(self", "rope(self")
ROPE = ROPE.replace('entry="silu"', 'entry="rope"')


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rope.py").write_text(ROPE)
    (tmp_path / "_shared.py").write_text("")
    return tmp_path


def test_problem_is_named_after_its_file(folder: Path) -> None:
    source = Folder(folder)
    assert source.names() == ("user::rope",)
    described = source.describe("user::rope")
    assert (described.library, described.file) == ("user", folder / "rope.py")
    assert source.load("user::rope").name == "user::rope"


def test_judge_opens_folder_by_problem_id(folder: Path) -> None:
    problem = open_index(folders=[folder]).find("rope")
    loaded = open_source(problem.id.source).load(problem.id.name, version=problem.id.version)
    assert loaded.problem(problem.source, version=problem.version) == problem


def test_changed_file_is_not_opened_by_old_id(folder: Path) -> None:
    source, file = Folder(folder), folder / "rope.py"
    before = source.problem("user::rope")
    assert before.version == hashlib.sha256(file.read_bytes()).hexdigest()
    file.write_text(ROPE.replace("x*sigmoid(x)", "x * sigmoid(x)"))
    after = source.problem("user::rope")
    assert (before.version != after.version, after.summary) == (True, "x * sigmoid(x)")
    with pytest.raises(EngineError, match=re.escape(f"{file} has changed since the run began; run again")):
        source.load("user::rope", version=before.version)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x = (\n", ":1: syntax error: '(' was never closed"),
        ("x = 1\n", ":1: no PROBLEM = ProblemDefinition(...) at the top level; a problem file defines one"),
        (ROPE.replace("user::rope", "user::other"), "PROBLEM.name should be 'user::rope' after the file"),
        ("import torch\n" + ROPE, ":1: imports torch when loaded; write `from problems.kit import torch`"),
        ("import os\nfrom triton import language\n" + ROPE, ":2: imports triton when loaded"),
    ],
)
def test_broken_file_is_named_and_list_continues(folder: Path, text: str, why: str) -> None:
    (folder / "rope.py").write_text(text)
    (folder / "whole.py").write_text(ROPE.replace("rope", "whole"))
    described, broken = open_index(folders=[folder]).descriptions()
    assert "user::whole" in [one.name for one in described]
    assert len(broken) == 1
    assert str(folder / "rope.py") in broken[0]
    assert why in broken[0]


def test_error_in_file_is_reported_with_line(folder: Path) -> None:
    text = ROPE + "\n1 / 0\n"
    (folder / "rope.py").write_text(text)
    line = len(text.splitlines())
    with pytest.raises(EngineError, match=rf"rope\.py:{line}: ZeroDivisionError: division by zero"):
        Folder(folder).load("user::rope")


def test_removed_file_removes_its_problem(folder: Path) -> None:
    source = Folder(folder)
    (folder / "rope.py").unlink()
    with pytest.raises(EngineError, match=r"has no user::rope; it was removed or renamed"):
        source.load("user::rope")
    with pytest.raises(UsageError, match="there is no operator called 'user::rope'"):
        open_index(folders=[folder]).find("user::rope")


def test_rules_apply_to_files_of_folder(folder: Path) -> None:
    (folder / "rope.py").write_text(ROPE.replace('summary="x*sigmoid(x)"', 'summary=""'))
    found = report(Folder(folder).id, "user::rope")
    assert [(one.rule, one.text) for one in found.complaints] == [
        ("signature", "summary is empty; describe the operator in a few words")
    ]
    (folder / "rope.py").write_text("x = (")
    assert "SyntaxError" in report(Folder(folder).id, "user::rope").error
