"""Names of engine.model that are imported on first use: complete, and the same objects as in their modules."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import engine.model

IN_A_NEW_PROCESS = """
import sys, engine.model as model
before = [name for names in model.LATE.values() for name in names if name in vars(model)]
{call}
missing = [name for names in model.LATE.values() for name in names if name not in vars(model)]
print(before, missing)
"""


def type_checked() -> dict[str, tuple[str, ...]]:
    """The imports under TYPE_CHECKING, by module."""
    tree = ast.parse(Path(str(engine.model.__file__)).read_text())
    branches = (node for node in tree.body if isinstance(node, ast.If))
    branch = next(node for node in branches if isinstance(node.body[0], ast.ImportFrom))
    return {
        str(node.module).removeprefix("engine.model."): tuple(alias.name for alias in node.names)
        for node in branch.body
        if isinstance(node, ast.ImportFrom)
    }


def test_late_table_has_what_type_checkers_see() -> None:
    seen = type_checked()
    assert seen.pop("problems.values") == ("Arguments", "Outputs", "Returned", "Value")  # types only
    assert {module: set(names) for module, names in engine.model.LATE.items()} == {
        module: set(names) for module, names in seen.items()
    }


@pytest.mark.parametrize(
    ("module", "name"), [(one, name) for one, names in engine.model.LATE.items() for name in names]
)
def test_late_name_is_that_of_its_module(module: str, name: str) -> None:
    assert getattr(engine.model, name) is getattr(importlib.import_module(f"engine.model.{module}"), name)
    assert name in engine.model.__all__


def test_unknown_name_of_the_package_raises() -> None:
    with pytest.raises(AttributeError, match=r"module 'engine\.model' has no attribute 'Verdikt'"):
        engine.model.Verdikt  # type: ignore[attr-defined]  # noqa: B018


def test_first_use_imports_one_module_only() -> None:
    assert printed("model.Candidate") == "[] " + str(
        [name for one, names in engine.model.LATE.items() if one != "candidate" for name in names]
    )


def test_import_late_leaves_nothing_to_import() -> None:
    assert printed("model.import_late()") == "[] []"


def printed(call: str) -> str:
    command = [sys.executable, "-c", IN_A_NEW_PROCESS.format(call=call)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
