"""Errors of a suite's code as sentences."""

from __future__ import annotations

import pytest

from engine.reference.faults import described


def raised(source: str) -> BaseException:
    """The error that a line of source raises."""
    try:
        exec(compile(source, __file__, "exec"), {})  # lines are looked up in this very file
    except Exception as error:
        return error
    raise AssertionError(source)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("import einops_of_nobody.layers", "missing package einops_of_nobody: not installed; install it in "
         "kgtui's environment"),
        ("raise ValueError('head size\\n 5')", "ValueError: head size 5"),
        ("assert 768 % 7 == 0", 'AssertionError in line 1: """Errors of a suite\'s code as sentences."""'),
    ],
)  # fmt: skip
def test_error_of_suite_is_one_sentence(source: str, sentence: str) -> None:
    assert described(raised(source)) == sentence


def test_error_that_was_not_raised_is_its_kind() -> None:
    assert described(AssertionError()) == "AssertionError"
