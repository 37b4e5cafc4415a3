"""The corpus has a cheat of every kind of trick that a file can play, or its README says why there is none."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from engine.model import Outcome
from tests.candidates import CORPUS, candidates, mechanism, stated
from tests.operators import find

README = CORPUS / "README.md"
CHEATS, ON_A_GPU = candidates("cheats"), candidates("cheats_gpu")
BY_NAME = {False: {path.stem: path for path in CHEATS}, True: {path.stem: path for path in ON_A_GPU}}
IDS = {
    f"{family}{number + 1}" for family, count in (("A", 21), ("B", 19), ("C", 10), ("D", 11)) for number in range(count)
}
ROW = re.compile(r"^\| ([A-D]\d+) \| (.+?) \| (.*)\|$", re.MULTILINE)
MECHANISM = re.compile(r"^\| `(\w+)/` \| (.+?) \|$", re.MULTILINE)
NONE = "none: "
OUTCOMES = {*(outcome.value for outcome in Outcome), "out_of_bounds"}


def rows() -> dict[str, tuple[str, list[Path]]]:
    """What the README says of each id: the trick, or why no file has it, and the files that it names."""
    table = ROW.findall(README.read_text())
    assert [one for one, count in Counter(row[0] for row in table).items() if count > 1] == []
    return {
        identifier: (
            trick,
            [BY_NAME[star == "*"][name] for name, star in re.findall(r"`(\w+)`(\*?)", named)],
        )
        for identifier, trick, named in table
    }


def test_corpus_readme_describes_every_id() -> None:
    assert rows().keys() == IDS


def test_every_corpus_id_has_file_or_reason() -> None:
    have = {identifier for path in [*CHEATS, *ON_A_GPU] for identifier in stated(path).ids}
    excused = {identifier for identifier, (trick, _) in rows().items() if trick.startswith(NONE)}
    assert (IDS - have - excused, have & excused, have - IDS) == (set(), set(), set())


def test_files_named_in_readme_show_their_mechanism() -> None:
    named = [(identifier, path) for identifier, (_, paths) in rows().items() for path in paths]
    assert [(one, path.name) for one, path in named if one not in stated(path).ids] == []
    unnamed = {one for one, (trick, paths) in rows().items() if not paths and not trick.startswith(NONE)}
    assert unnamed == set()


def test_every_cheat_has_unique_name_and_mechanism() -> None:
    assert len({path.stem for path in CHEATS}) == len(CHEATS)
    table = MECHANISM.findall(README.read_text())
    assert {name for name, _ in table} == {mechanism(path) for path in CHEATS}


def test_corpus_has_enough_cpu_cheats() -> None:
    assert len(CHEATS) >= 60


@pytest.mark.parametrize("family", ["A", "B", "C", "D"])
def test_mechanism_family_covers_at_least_three_operators(family: str) -> None:
    operators = {stated(path).op for path in CHEATS if any(one.startswith(family) for one in stated(path).ids)}
    assert len(operators) >= 3


@pytest.mark.parametrize("path", [*CHEATS, *ON_A_GPU], ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_cheat_states_an_expected_finding(path: Path) -> None:
    facts = stated(path)
    assert facts.expect <= OUTCOMES
    assert ("pass" in facts.expect) == bool(facts.findings)
    assert find(facts.op).name == facts.op
    assert facts.case is None or find(facts.op).case(facts.case).name == facts.case


@pytest.mark.parametrize("path", ON_A_GPU, ids=lambda path: path.stem)
def test_gpu_cheat_defines_entry_and_kernel(path: Path) -> None:
    functions = {
        node.name: [ast.unparse(one) for one in node.decorator_list]
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
    }
    assert find(stated(path).op).entry in functions
    assert "triton.jit" in {decorator for decorators in functions.values() for decorator in decorators}
