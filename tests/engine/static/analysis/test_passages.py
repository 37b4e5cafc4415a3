"""Which parts of a long text are read by slow patterns."""

from __future__ import annotations

import pytest

from engine.static.analysis.passages import (
    MOST_CHARACTERS,
    REACH_CHARACTERS,
    TooMuchTextError,
    passages,
)


def test_short_text_is_one_passage() -> None:
    assert list(passages("Judge this, please", ("judge",))) == ["Judge this, please"]


def test_passages_without_a_word_are_none() -> None:
    assert list(passages("x" * 10_000, ("judge", "grader"))) == []


def test_passages_of_long_text_are_around_words() -> None:
    text = "x" * 10_000 + "JUDGE" + "y" * 10_000

    (found,) = passages(text, ("judge",))

    assert found == "x" * REACH_CHARACTERS + "JUDGE" + "y" * (2 * REACH_CHARACTERS - 5)


def test_passages_that_overlap_are_one() -> None:
    text = "x" * 5_000 + "judge and grader" + "y" * 5_000

    assert len(list(passages(text, ("judge", "grader")))) == 1


def test_passages_keep_their_place_in_turkish() -> None:
    text = "\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}" * 5_000 + "JUDGE"

    assert next(passages(text, ("judge",))).endswith("JUDGE")


def test_passages_of_too_much_text_raise() -> None:
    with pytest.raises(TooMuchTextError, match="1,048,576 characters"):
        list(passages("judge " * MOST_CHARACTERS, ("judge",)))
