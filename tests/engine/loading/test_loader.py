"""A candidate is imported as its author would: his modules are his, ours are out of his reach."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Load = Callable[..., dict[str, Any]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    return folder


def test_the_entry_is_found_and_called(load_fresh: Load) -> None:
    assert load_fresh("def entry():\n    return 7\n", folder=None) == {"siblings": [], "value": 7}


def test_modules_beside_the_kernel_are_importable_and_listed(load_fresh: Load, folder: Path) -> None:
    (folder / "helpers.py").write_text("import deeper\nVALUE = deeper.VALUE + 1\n")
    (folder / "deeper.py").write_text("VALUE = 1\n")
    (folder / "unused.py").write_text("raise SystemExit\n")
    reported = load_fresh("from helpers import VALUE\ndef entry():\n    return VALUE\n", folder=folder)
    assert reported == {"siblings": [str(folder / "deeper.py"), str(folder / "helpers.py")], "value": 2}


def test_modules_of_suite_precede_those_beside_kernel(load_fresh: Load, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "task.py").write_text("VALUE = 'suite'\n")
    (folder / "task.py").write_text("VALUE = 'beside'\n")
    source = "from task import VALUE\ndef entry():\n    return VALUE\n"
    assert load_fresh(source, folder=folder, modules=tmp_path / "suite") == {"siblings": [], "value": "suite"}


@pytest.mark.parametrize("name", ["engine", "problems", "sessions", "kgtui"])
def test_sibling_module_shadows_ours_for_candidate(load_fresh: Load, folder: Path, name: str) -> None:
    (folder / f"{name}.py").write_text("VALUE = 'his'\n")
    reported = load_fresh(f"import {name}\ndef entry():\n    return {name}.VALUE\n", folder=folder)
    assert reported["value"] == "his"


def test_sibling_package_shadows_ours_for_candidate(load_fresh: Load, folder: Path) -> None:
    (folder / "engine").mkdir()
    (folder / "engine" / "__init__.py").write_text("")
    (folder / "engine" / "model.py").write_text("VALUE = 'his'\n")
    reported = load_fresh("from engine.model import VALUE\ndef entry():\n    return VALUE\n", folder=folder)
    assert reported["value"] == "his"


@pytest.mark.parametrize(
    "name", ["engine", "engine.model", "problems", "problems.aten.softmax", "kgtui.app.application"]
)
@pytest.mark.parametrize("beside", [True, False], ids=["with a folder", "without one"])
def test_our_own_modules_cannot_be_imported(load_fresh: Load, folder: Path, name: str, beside: bool) -> None:
    reported = load_fresh(f"import {name}\ndef entry(): ...\n", folder=folder if beside else None)
    assert reported == {"error": f"ModuleNotFoundError: No module named {name.partition('.')[0]!r}"}


def test_module_beside_kernel_cannot_replace_standard_library(load_fresh: Load, folder: Path) -> None:
    for name in ("types", "colorsys", "json"):
        (folder / f"{name}.py").write_text("VALUE = 'his'\n")
    source = "import colorsys, types\ndef entry():\n    return [hasattr(m, 'VALUE') for m in (colorsys, types)]\n"
    assert load_fresh(source, folder=folder)["value"] == [False, False]


def test_module_beside_kernel_precedes_installed_one(load_fresh: Load, folder: Path) -> None:
    (folder / "pygments.py").write_text("VALUE = 'his'\n")
    reported = load_fresh("import pygments\ndef entry():\n    return pygments.VALUE\n", folder=folder)
    assert reported["value"] == "his"


def test_nothing_is_written_beside_the_kernel(load_fresh: Load, folder: Path) -> None:
    (folder / "helpers.py").write_text("VALUE = 1\n")
    load_fresh("import helpers\ndef entry(): ...\n", folder=folder)
    assert [path.name for path in folder.iterdir()] == ["helpers.py"]


@pytest.mark.parametrize("source", ["x = 1\n", "entry = 3\n", "if False:\n    def entry(): ...\n"])
def test_file_without_callable_entry_states_required_definition(load_fresh: Load, source: str) -> None:
    assert load_fresh(source, folder=None) == {
        "error": "NoEntryError: after loading, the file has no function 'entry'; define it at the top level"
    }


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("raise ValueError('no')\n", "ValueError: no"),
        ("import sys\nsys.exit(3)\n", "SystemExit: 3"),
        ("import nothing_like_this\n", "ModuleNotFoundError: No module named 'nothing_like_this'"),
    ],
)
def test_error_of_top_level_is_raised(load_fresh: Load, source: str, error: str) -> None:
    assert load_fresh(source, folder=None) == {"error": error}


def test_candidate_has_its_own_name_and_file(load_fresh: Load) -> None:
    source = "import sys\ndef entry():\n    return [__name__, sys.modules[__name__].entry is entry, __file__[-9:]]\n"
    assert load_fresh(source, folder=None, name="mine.py")["value"] == ["candidate_mine", True, "t/mine.py"]


@pytest.mark.parametrize("name", ["kernel.txt", "kernel"])
def test_a_candidate_may_have_any_name(load_fresh: Load, name: str) -> None:
    reported = load_fresh("def entry():\n    return 1\n", folder=None, name=name)
    assert reported == {"siblings": [], "value": 1}


@pytest.mark.parametrize("name", ["colorsys", "copy", "torch"])
def test_candidate_named_like_module_does_not_shadow(load_fresh: Load, name: str) -> None:
    source = f"import sys\ndef entry():\n    import {name}\n    return {name}.__file__ != __file__\n"
    assert load_fresh(source, folder=None, name=f"{name}.py") == {"siblings": [], "value": True}
