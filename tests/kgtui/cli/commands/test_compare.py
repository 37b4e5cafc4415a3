"""`kgtui compare`: what it prints in each form, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessions import open_store
from tests.kgtui import fakes
from tests.kgtui.fakes import stored_runs, timed_runs

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def kept(home: Path, tmp_path: Path) -> Path:
    """A store with three runs: timed, timed and faster by a model, and wrong."""
    with open_store(home / "sessions.db", clock=lambda: fakes.NOW) as store:
        runs = stored_runs.Runs(tmp_path, device="cuda", store=store)
        runs.add(timed_runs.all_timed)
        runs.answered(stored_runs.SECOND)
        runs.add(stored_runs.faster(1.2), stored_runs.SECOND)
        runs.add(fakes.some_fail, stored_runs.THIRD)
        store.set_note(3, "no mask [x]")
        store.set_tag(2, "keep")
    return home


@pytest.mark.parametrize(
    ("option", "name"), [((), "compare.txt"), (("--markdown",), "compare.md"), (("--json",), "compare.json")]
)
def test_the_output_is_that_of_the_golden_file(
    typed: Callable[..., Any], kept: Path, option: tuple[str, ...], name: str
) -> None:
    ended = typed("compare", "1", "2", "3", *option)
    assert (ended.exit_code, ended.err) == (0, "")
    assert ended.out == (GOLDEN / name).read_text()


def test_the_json_document_is_one(typed: Callable[..., Any], kept: Path) -> None:
    assert json.loads(typed("compare", "2", "1", "--json").out)["reference"] == 2


@pytest.mark.parametrize(
    ("numbers", "complaint"),
    [
        (("1",), "expected 2 to 4 different runs, got 1; `kgtui sessions list --runs` lists them"),
        (("1", "1"), "expected 2 to 4 different runs, got 1; `kgtui sessions list --runs` lists them"),
        (
            ("1", "x"),
            "expected a number from 1 on, got 'x'; to compare models on an operator, add --models A,B",
        ),
    ],
)
def test_runs_not_comparable_are_refused(
    typed: Callable[..., Any], kept: Path, numbers: tuple[str, ...], complaint: str
) -> None:
    ended = typed("compare", *numbers)
    assert (ended.exit_code, ended.out, ended.err) == (2, "", f"kgtui: {complaint}\n")


def test_missing_run_is_named(typed: Callable[..., Any], kept: Path) -> None:
    ended = typed("compare", "1", "7")
    assert ended.exit_code == 2
    assert ended.err.startswith("kgtui: there is no run #7 in ")
