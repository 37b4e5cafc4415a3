"""The generated parts of the README are true, and making them touches nothing else."""

from __future__ import annotations

import shutil
import textwrap

import pytest

import problems
from engine.errors import UsageError
from engine.judge.baselines import baseline_named, baseline_names
from engine.judge.inputs.copies import private_copies
from kgtui import docs
from kgtui.screens import screen_module
from kgtui.settings.keys import ACTIONS
from kgtui.state.format.lines import plain_text
from kgtui.widgets.text.toned import Lines
from problems.kit import torch

CONTRIBUTING = docs.README.parent / "CONTRIBUTING.md"


@pytest.fixture
def readme(tmp_path):
    """A copy of the README to write to."""
    copy = tmp_path / "README.md"
    shutil.copy(docs.README, copy)
    return copy


def test_the_readme_is_up_to_date():
    assert docs.main(["--check"]) == 0


def test_a_stale_readme_is_told_and_left_alone(readme, capsys):
    stale = readme.read_text().replace("| `aten::softmax` |", "| `aten::smax` |")
    readme.write_text(stale)
    assert docs.main(["--check"], readme=readme) == 1
    assert capsys.readouterr().err == ("README.md is stale; `python -m kgtui.docs` writes its generated parts anew\n")
    assert readme.read_text() == stale


def test_writing_makes_the_parts_anew_and_leaves_the_rest(readme):
    true = readme.read_text()
    readme.write_text(true.replace("| `aten::softmax` |", "| `aten::smax` |"))
    assert docs.main([], readme=readme) == 0
    assert readme.read_text() == true


def test_a_missing_marker_is_named():
    with pytest.raises(UsageError, match="one block from <!-- begin keys --> to <!-- end keys -->"):
        docs.updated("# A page without blocks\n")


def test_every_action_is_in_the_table_of_keys():
    table = docs.key_table()
    assert [action.help for action in ACTIONS if action.help not in table] == []


def test_every_command_shows_its_help():
    text = docs.command_help()
    commands = ("open", "check", "bench", "inspect", "problems", "new", "sessions", "doctor", "paths")
    assert [f"$ kgtui {name} --help" in text for name in commands] == [True] * len(commands)


def test_every_operator_is_a_row_of_the_table():
    rows = docs.operator_table().splitlines()[2:]
    assert [row.split("`")[1] for row in rows] == list(problems.catalogue())
    assert {row.count("|") for row in rows} == {4}


def test_every_file_that_the_readme_shows_or_names_is_there():
    text = docs.README.read_text()
    root = docs.README.parent
    for name in ("kgtui/screenshots/workbench.svg", "engine/reports/text.py", "sessions/SCHEMA.md", "constraints.txt"):
        assert name in text
        assert (root / name).is_file(), name


@pytest.fixture
def shown_baselines(tmp_path, monkeypatch):
    """A package that holds the baseline which CONTRIBUTING shows as a whole file; its name."""
    _, _, section = CONTRIBUTING.read_text().partition("\n## Adding a baseline\n")
    _, found, rest = section.partition('\n    """')
    example, closed, _ = f"{found}{rest}".partition("\n1. ")
    assert found and closed
    package = tmp_path / "shown_baselines"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "inference.py").write_text(textwrap.dedent(example))
    monkeypatch.syspath_prepend(tmp_path)
    return package.name


def test_the_baseline_that_contributing_shows_is_found_and_computes_what_eager_does(shown_baselines):
    assert baseline_names(package=shown_baselines) == ("inference",)
    problem, cpu = problems.find("aten::silu"), torch.device("cpu")
    case = problem.cases[0]
    arguments = problem.make_inputs(case, torch.Generator().manual_seed(1))
    baseline = baseline_named("inference", package=shown_baselines)
    assert baseline.available(problem, cpu) == ""
    ready = baseline.prepare(problem, case, arguments, cpu)
    assert torch.equal(ready(*private_copies(arguments)), problem.eager(*private_copies(arguments)))


@pytest.fixture
def shown_screen(tmp_path, monkeypatch):
    """The module of the screen which CONTRIBUTING shows as a whole file, with the keys of a screen that is there."""
    _, _, section = CONTRIBUTING.read_text().partition("\n## Adding a screen\n")
    _, found, rest = section.partition('\n    """')
    example, closed, _ = f"{found}{rest}".partition("\n1. ")
    assert found and closed
    package = tmp_path / "documented_screens"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "clock.py").write_text(textwrap.dedent(example).replace("Where.CLOCK", "Where.BENCH"))
    monkeypatch.syspath_prepend(tmp_path)
    return screen_module("clock", package=package.name)


async def test_the_screen_that_contributing_shows_is_found_drawn_and_closed(shown_screen, make_bench):
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        screen = shown_screen.make(bench.app)
        await bench.app.push_screen(screen)
        assert plain_text(screen.query_one("#elapsed", Lines).lines) == "judged in 0.42 s"
        await pilot.press("escape")
        assert bench.app.screen is bench.app.workbench


def test_the_readme_has_a_row_for_every_baseline():
    text = docs.README.read_text()
    assert [name for name in baseline_names() if f"| `{name}` |" not in text] == []
