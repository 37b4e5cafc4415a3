"""`kgtui suites`, and `--suite` where operators are listed and shown."""

from __future__ import annotations

from pathlib import Path

import pytest

SAMPLE = Path(__file__).parents[3] / "problems" / "samples" / "kernelbench"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """One task that leaves a mark when it is run, and one file that is no task."""
    level = tmp_path / "checkout" / "level1"
    level.mkdir(parents=True)
    text = (SAMPLE / "KernelBench" / "level1" / "23_Softmax.py").read_text()
    (level / "23_Softmax.py").write_text(f"open({str(tmp_path / 'mark')!r}, 'w')\n{text}")
    (level / "24_Broken.py").write_text("class Model(\n")
    return level.parent


def test_added_suite_known_until_removed(typed, suite):
    assert typed("suites").out.startswith("no suites are known")
    added = typed("suites", "add", str(suite))
    assert added.out == f"{suite}: KernelBench, 1 problem\n"
    assert "24_Broken.py:1: syntax error" in added.err
    assert typed("suites", "list").out.splitlines()[0] == f"{suite}  KernelBench, 1 problem, 1 left out"
    assert "kernelbench::level1/23_Softmax" in typed("problems").out
    assert typed("suites", "remove", str(suite)).exit_code == 0
    assert "kernelbench::" not in typed("problems").out


@pytest.mark.parametrize("place", ["link", "level1", "level1/23_Softmax.py"], ids=["link", "subfolder", "one file"])
def test_suite_under_second_path_is_refused(typed, suite, tmp_path, place):
    (tmp_path / "link").symlink_to(suite)
    typed("suites", "add", str(suite))
    other = tmp_path / "link" if place == "link" else suite / place
    ended = typed("suites", "add", str(other))
    assert ended.exit_code == 2
    assert f"{other}: 1 of its 1 problems are those of {suite}, which is already added" in ended.err
    assert f"kgtui suites remove {suite}" in ended.err
    assert typed("suites", "list").out.count("KernelBench, 1 problem") == 1


def test_suite_added_twice_stays_once(typed, suite):
    typed("suites", "add", str(suite))
    assert typed("suites", "add", str(suite)).exit_code == 0
    assert typed("suites", "list").out.count("KernelBench, 1 problem") == 1


def test_typed_link_to_known_suite_lists_it_once(typed, suite, tmp_path):
    (tmp_path / "link").symlink_to(suite)
    typed("suites", "add", str(suite))
    out = typed("problems", "--suite", str(tmp_path / "link")).out
    assert out.count("level1/23_Softmax") == 1


def test_missing_suite_is_reported_and_rest_listed(typed, suite):
    typed("suites", "add", str(suite))
    suite.rename(suite.with_name("elsewhere"))
    ended = typed("problems", "show", "aten::silu")
    assert ended.exit_code == 0
    assert f"`kgtui suites remove {suite}` removes it" in ended.err


def test_listed_suite_is_not_executed(typed, suite, tmp_path):
    ended = typed("problems", "list", "--suite", str(suite))
    assert ended.out == "kernelbench::level1/23_Softmax  single operators  Softmax  batch_size=4096 dim=393216\n"
    assert "24_Broken.py:1: syntax error" in ended.err
    assert not (tmp_path / "mark").exists()


def test_refused_task_listed_with_its_reason(typed):
    lines = typed("problems", "list", "--suite", str(SAMPLE)).out.splitlines()
    assert "cannot be run: its reference" in lines[-1]


def test_misspelt_task_near_names(typed):
    ended = typed("problems", "show", "level1/23_Softmx", "--suite", str(SAMPLE))
    assert "did you mean kernelbench::level1/23_Softmax" in ended.err


def test_shown_problem_lists_unknown_facts(typed):
    out = typed("problems", "show", "level1/23_Softmax", "--suite", str(SAMPLE), "--cap", "64").out
    assert "calibrated when the reference runs" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("suites", "add", "nowhere"), "there is no"),
        (("suites", "remove", "nowhere"), "unknown suite "),
        (("problems", "show", "level1/23_Softmax", "--suite", str(SAMPLE), "--size", "dim=x"), "expected NAME=N"),
        (
            ("problems", "show", "level1/23_Softmax", "--suite", str(SAMPLE), "--size", "dim=" + "9" * 5000),
            "of 18 digits",
        ),
        (
            ("problems", "show", "a", "--suite", str(SAMPLE), "--size", "dim=3", "--size", "dim=4"),
            "--size dim is given twice",
        ),
        (
            ("problems", "show", "level1/23_Softmax", "--suite", str(SAMPLE), "--size", "din=3"),
            "no size constant 'din'",
        ),
    ],
)
def test_bad_words_a_usage_error(typed, arguments, said):
    ended = typed(*arguments)
    assert (ended.exit_code, ended.out) == (2, "")
    assert said in ended.err
