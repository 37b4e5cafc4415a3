"""The generated parts of the manual are up to date, the paths in README and manual exist, and examples run."""

from __future__ import annotations

import re
import shutil
import textwrap
from pathlib import Path

import pytest

from engine.errors import UsageError
from engine.judge.baselines import baseline_named, baseline_names
from engine.judge.inputs.copies import private_copies
from kgtui import docs, manual
from kgtui.screens import screen_module
from kgtui.settings.keys import ACTIONS
from kgtui.settings.schema import OPTIONS
from kgtui.state.format.lines import plain_text
from kgtui.widgets.text.toned import Lines
from problems.kit import torch
from tests.operators import NAMES, definition

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
PAGES = tuple(sorted(manual.FOLDER.glob("*.md")))
OURS = ("engine/", "kgtui/", "problems/", "sessions/", "tests/")  # folders of this repository


@pytest.fixture
def pages(tmp_path):
    """A copy of the manual to write to."""
    return Path(shutil.copytree(manual.FOLDER, tmp_path / "manual"))


def test_the_manual_is_up_to_date():
    assert docs.main(["--check"]) == 0


def test_a_stale_page_is_named_and_not_changed(pages, capsys):
    page = pages / "operators.md"
    stale = page.read_text().replace("| `aten::softmax` |", "| `aten::smax` |")
    page.write_text(stale)
    assert docs.main(["--check"], folder=pages) == 1
    assert capsys.readouterr().err == (
        "out of date: operators.md; `python -m kgtui.docs` updates the generated parts\n"
    )
    assert page.read_text() == stale


def test_writing_updates_the_generated_parts_only(pages):
    page = pages / "operators.md"
    correct = page.read_text()
    page.write_text(correct.replace("| `aten::softmax` |", "| `aten::smax` |"))
    assert docs.main([], folder=pages) == 0
    assert page.read_text() == correct


def test_a_missing_marker_is_named():
    with pytest.raises(UsageError, match=r"keys.md: expected one block from <!-- begin keys --> to <!-- end keys -->"):
        docs.updated("# A page without blocks\n", topic="keys")


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.key)
def test_every_setting_is_a_row_of_the_table(option):
    assert f"| `{option.key}` | " in docs.settings_table()


def test_every_action_is_in_the_table_of_keys():
    table = docs.key_table()
    assert [action.help for action in ACTIONS if action.help not in table] == []


def test_every_command_shows_its_help():
    text = docs.command_help()
    commands = ("open", "check", "bench", "inspect", "problems", "new", "sessions", "doctor", "paths")
    assert [f"$ kgtui {name} --help" in text for name in commands] == [True] * len(commands)


def test_every_operator_is_a_row_of_the_table():
    rows = docs.operator_table().splitlines()[2:]
    assert [row.split("`")[1] for row in rows] == list(NAMES)
    assert {row.replace(r"\|", "").count("|") for row in rows} == {4}


@pytest.mark.parametrize("page", (README, *PAGES), ids=lambda page: page.name)
def test_every_path_that_a_page_names_exists(page):
    named = re.findall(rf"(?<![\w./~-])(?:{'|'.join(OURS)})[\w./-]*\w", page.read_text())
    assert [name for name in named if not (ROOT / name).exists()] == []


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


def test_contributing_baseline_is_found_and_matches_eager(shown_baselines):
    assert baseline_names(package=shown_baselines) == ("inference",)
    problem, cpu = definition("aten::silu"), torch.device("cpu")
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


async def test_contributing_screen_is_found_drawn_and_closed(shown_screen, make_bench):
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        screen = shown_screen.make(bench.app)
        await bench.app.push_screen(screen)
        assert plain_text(screen.query_one("#elapsed", Lines).lines) == "verified in 0.42 s"
        await pilot.press("escape")
        assert bench.app.screen is bench.app.workbench


def test_the_manual_has_a_row_for_every_baseline():
    text = manual.page("timing")
    assert [name for name in baseline_names() if f"| `{name}` |" not in text] == []


def test_the_readme_is_short_and_links_every_page():
    text = README.read_text()
    assert len(text.splitlines()) <= 200
    assert [page.name for page in PAGES if f"(kgtui/manual/{page.name})" not in text] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_page_has_a_title_and_ascii_text(page):
    text = page.read_text()
    assert re.match(r"# [A-Z][\w -]+: [^\n]+[^.\n]\n\n", text)
    assert text.isascii()
