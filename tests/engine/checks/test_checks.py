"""Every check flags its own examples, spares its own look-alikes and all honest kernels, and never fails silently."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import checks
from engine.checks import Check, hint, read_statically
from engine.checks import checks as all_checks
from engine.errors import EngineError
from engine.model import Finding, Location, Severity

CHECKS = {check.__name__.rpartition(".")[2]: check for check in all_checks()}
HONEST = sorted((Path(__file__).parents[2] / "corpus" / "honest").glob("*.py"))


def examples(kind: str) -> list[object]:
    return [
        pytest.param(check, source, id=f"{name}-{number}")
        for name, check in CHECKS.items()
        for number, source in enumerate(getattr(check, kind))
    ]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that stands for engine/checks."""
    monkeypatch.setattr(checks, "__path__", [str(tmp_path)])
    known = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - known:
        if name.startswith("engine.checks."):
            del sys.modules[name]


def test_there_are_checks_and_honest_kernels() -> None:
    assert len(CHECKS) >= 2
    assert len(HONEST) >= 20


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_a_check_says_why_and_has_examples_of_both_kinds(check: Check) -> None:
    assert check.__doc__
    assert check.CATCHES
    assert len(check.SPARES) >= len(check.CATCHES)


@pytest.mark.parametrize(("check", "source"), examples("CATCHES"))
def test_a_check_flags_what_it_catches_with_its_own_name(check: Check, source: str) -> None:
    found = list(check.check(ast.parse(source)))
    assert {finding.check for finding in found} == {check.__name__.rpartition(".")[2]}
    assert {finding.severity for finding in found} <= {Severity.NOTE, Severity.HINT}


@pytest.mark.parametrize(("check", "source"), examples("SPARES"))
def test_a_check_spares_what_only_looks_alike(check: Check, source: str) -> None:
    assert list(check.check(ast.parse(source))) == []


@pytest.mark.parametrize("path", HONEST, ids=lambda path: path.stem)
def test_honest_kernels_are_spared_by_every_check(path: Path) -> None:
    assert list(read_statically(ast.parse(path.read_text()))) == []


def test_an_empty_file_has_a_finding_without_a_place() -> None:
    [finding] = read_statically(ast.parse(""))
    assert (finding.check, finding.location) == ("no_kernel", None)


GOOD = (
    "from engine.checks import hint\nCATCHES = ('x',)\nSPARES = ('y',)\n"
    "def check(tree):\n    yield hint('good', tree.body[0], 'seen')\n"
)
RAISING = "CATCHES = SPARES = ('x',)\ndef check(tree):\n    raise KeyError('lost')\n    yield\n"


def test_a_check_that_fails_is_a_visible_finding_and_the_others_go_on(folder: Path) -> None:
    (folder / "aaa.py").write_text(RAISING)
    (folder / "good.py").write_text(GOOD)
    assert list(read_statically(ast.parse("pass"))) == [
        Finding(check="aaa", severity=Severity.NOTE, message="could not check: KeyError: 'lost'"),
        Finding(check="good", severity=Severity.HINT, message="seen", location=Location(line=1, column=1)),
    ]


def test_what_a_check_found_before_it_failed_is_kept(folder: Path) -> None:
    (folder / "half.py").write_text(GOOD + "    raise ValueError('half')\n")
    messages = [finding.message for finding in read_statically(ast.parse("pass"))]
    assert messages == ["seen", "could not check: ValueError: half"]


@pytest.mark.parametrize("missing", ["CATCHES", "SPARES", "check"])
def test_a_module_without_a_required_name_is_refused_loudly(folder: Path, missing: str) -> None:
    names = {"CATCHES": "CATCHES = ()\n", "SPARES": "SPARES = ()\n", "check": "def check(tree):\n    yield\n"}
    (folder / "half.py").write_text("".join(text for name, text in names.items() if name != missing))
    with pytest.raises(EngineError) as refused:
        all_checks()
    assert str(refused.value) == f"engine/checks/half.py does not define {missing}"


def test_a_hint_counts_columns_from_one() -> None:
    call = ast.parse("\n  \n(f(x))\n").body[0]
    assert isinstance(call, ast.Expr)
    assert hint("c", call.value, "m").location == Location(line=3, column=2)
