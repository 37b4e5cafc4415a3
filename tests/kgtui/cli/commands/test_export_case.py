"""`kgtui export-case`: a failed case of a kept run becomes a new file."""

from __future__ import annotations

import pytest

from engine.model import Outcome


@pytest.fixture
def failed_run(checked, engine, kernel):
    """A failed run #1."""
    engine.outcome = Outcome.WRONG_VALUE
    checked("silu.py", "--cases", "smoke")


def test_failed_case_becomes_a_script(typed, failed_run, folder):
    ended = typed("export-case", "1")
    assert (ended.exit_code, ended.out, ended.err) == (
        0,
        "wrote silu_case_1000_f32.py: 1000 f32 of run #1\nnext: python silu_case_1000_f32.py\n",
        "",
    )
    text = (folder / "silu_case_1000_f32.py").read_text()
    assert "return self * torch.sigmoid(self)" in text
    assert "import kgtui" not in text


def test_the_case_and_the_file_can_be_named(typed, failed_run, folder):
    assert typed("export-case", "1", "--case", "1000 f32", "--output", "kernels/x.py").exit_code == 0
    assert (folder / "kernels" / "x.py").exists()


def test_existing_file_is_not_overwritten(typed, failed_run, folder):
    (folder / "x.py").write_text("mine")
    ended = typed("export-case", "1", "--output", "x.py")
    assert (ended.exit_code, ended.err) == (
        2,
        "kgtui: x.py exists and is not overwritten; name another FILE\n",
    )
    assert (folder / "x.py").read_text() == "mine"


def test_a_case_that_did_not_fail_is_refused(typed, failed_run):
    ended = typed("export-case", "1", "--case", "no such case")
    assert ended.exit_code == 2
    assert ended.err.startswith("kgtui: no case 'no such case' failed in run #1; those that did: '1000 f32'")


@pytest.mark.parametrize(
    ("words", "form"),
    [
        (["1000 f32"], "`kgtui export-case 1 --case '1000 f32'`"),
        (["1000 f32", "x.py"], "`kgtui export-case 1 --case '1000 f32' --output x.py`"),
    ],
)
def test_case_without_option_is_refused_naming_option(typed, failed_run, folder, words, form):
    ended = typed("export-case", "1", *words)
    assert (ended.exit_code, ended.out, ended.err) == (2, "", f"kgtui: CASE and FILE are options: {form}\n")
    assert [path.name for path in folder.iterdir()] == ["silu.py"]


def test_a_run_without_a_failed_case_is_refused(typed, checked, kernel):
    checked("silu.py", "--cases", "smoke")
    assert typed("export-case", "1").err == "kgtui: no case of run #1 failed; there is nothing to reproduce\n"


def test_missing_run_names_only_shown_arguments(typed):
    ended = typed("export-case")
    assert ended.exit_code == 2
    assert ended.err.startswith("kgtui: the following arguments are required: RUN; ")
