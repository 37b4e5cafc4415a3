"""What a search finds."""

from __future__ import annotations

from kgtui.highlighting.searching import occurrences

LINES = ("Load a load", "", "store.Load")


def test_small_letters_find_both_and_capitals_only_capitals() -> None:
    assert occurrences("load", LINES) == [(0, 0), (0, 7), (2, 6)]
    assert occurrences("Load", LINES) == [(0, 0), (2, 6)]


def test_lines_are_counted_from_given_start() -> None:
    assert occurrences("store", LINES, first=10) == [(12, 0)]


def test_occurrences_do_not_overlap_and_nothing_occurs_nowhere() -> None:
    assert (occurrences("aa", ["aaaaa"]), occurrences("", LINES)) == ([(0, 0), (0, 2)], [])


def test_letter_growing_in_lower_case_moves_no_column() -> None:
    assert occurrences("x", ["İx"]) == [(0, 1)]
