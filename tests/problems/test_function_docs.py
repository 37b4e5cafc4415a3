"""Docstrings of a problem's functions, wherever in the package they are defined."""

from __future__ import annotations

from pathlib import Path

import pytest

import problems.kit
from engine.model import DType
from problems.catalogue import Catalogue
from problems.function_docs import docstring_of
from tests.operators import NAMES, catalogue, described

KIT = Path(problems.kit.__file__).parent


def test_docstring_of_own_function_is_found(tmp_path: Path) -> None:
    file = tmp_path / "silu.py"
    file.write_text('def cost(case):\n    """Five operations."""\n')
    assert docstring_of(file, "cost") == "Five operations."


def test_docstring_of_imported_function_is_found(tmp_path: Path) -> None:
    file = tmp_path / "silu.py"
    file.write_text("from problems.kit.movement import count as elements\n")
    assert docstring_of(file, "elements") == docstring_of(KIT / "movement.py", "count") != ""


def test_docstring_of_partial_is_that_of_its_function(tmp_path: Path) -> None:
    file = tmp_path / "silu.py"
    file.write_text('def cost(case, n):\n    """n operations."""\n\n\nfive = partial(cost, n=5)\n')
    assert docstring_of(file, "five") == "n operations."


@pytest.mark.parametrize("source", ["from os import getcwd as cost", "cost = other\nother = cost", "cost = 3", ""])
def test_name_without_function_of_problems_has_no_docstring(source: str, tmp_path: Path) -> None:
    file = tmp_path / "silu.py"
    file.write_text(source)
    assert docstring_of(file, "cost") == ""


def test_every_operator_documents_reference_eager_and_tolerance() -> None:
    catalogue = Catalogue()
    bare = []
    for name in NAMES:
        described = catalogue.describe(name)
        judged = "compare" if "compare" in described.functions else "tolerance"
        names = [(role, described.functions.get(role, "")) for role in ("reference", "eager", judged)]
        bare += [(name, role) for role, function in names if not docstring_of(described.file, function)]
    assert bare == []


def test_operators_without_float64_cases_say_so() -> None:
    silent = []
    for name, problem in catalogue().items():
        dtypes = {case.dtype for case in problem.cases}
        if name.startswith("aten::") and DType.FLOAT32 in dtypes and not {DType.FLOAT64, DType.COMPLEX128} & dtypes:
            results = {str(value) for case in problem.cases for value in case.params.values()}
            says = "float64" in described(name).contract or DType.FLOAT64.value in results
            silent += [] if says else [name]
    assert silent == []
