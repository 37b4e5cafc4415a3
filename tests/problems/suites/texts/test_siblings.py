"""Modules beside a task that it imports travel with it; what is no task is left out of a level's folder."""

from __future__ import annotations

from pathlib import Path

from problems.suites.scanning import format_of
from problems.suites.texts.siblings import imported_siblings

SOFTMAX = Path(__file__).parents[2] / "samples" / "kernelbench" / "KernelBench" / "level1" / "23_Softmax.py"


def test_imports_of_imports_read_once(tmp_path: Path) -> None:
    (tmp_path / "helpers.py").write_text("from shapes import ROWS\nimport torch\n")
    (tmp_path / "shapes.py").write_text("import helpers\nROWS = 4\n")
    (tmp_path / "unused.py").write_text("")

    found = imported_siblings("def f():\n    import helpers\n", tmp_path / "1_a.py", root=tmp_path)

    assert sorted(found) == ["helpers.py", "shapes.py"]


def test_module_outside_of_the_suite_left_out(tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    suite.mkdir()
    (tmp_path / "secret.py").write_text("")
    (suite / "helpers.py").symlink_to(tmp_path / "secret.py")

    assert imported_siblings("import helpers, missing", suite / "1_a.py", root=suite) == {}


def test_task_of_a_folder_with_its_helpers(tmp_path: Path) -> None:
    level = tmp_path / "level1"
    level.mkdir()
    (level / "__init__.py").write_text("")
    (level / ".hidden.py").write_text("")
    (level / "helpers.py").write_text("ROWS = 4\n")
    (level / "1_a.py").write_text(f"from helpers import ROWS\n{SOFTMAX.read_text()}")

    contents = format_of(tmp_path).read(tmp_path)

    assert [(task.name, list(task.sources)) for task in contents.tasks] == [("level1/1_a", ["helpers.py"])]
    assert [complaint.partition(": ")[0] for complaint in contents.complaints] == [f"{level}/helpers.py"]
