"""The lines of the code view, and the places in them that match a search."""

from __future__ import annotations

from kgtui.widgets.text.code_lines import CodeLines, Hits


def lines_of(*texts: str) -> CodeLines:
    return CodeLines(texts, longest=10)


def test_lines_are_counted_from_one_and_cut() -> None:
    lines = lines_of("a", "b" * 30)
    assert (lines.first, lines.last, lines.text(1), lines.columns) == (1, 2, "a", 10)


def test_lines_keep_numbers_when_oldest_are_dropped() -> None:
    lines = lines_of("one", "two", "three")
    assert lines.drop_oldest(most=2) == 1
    assert (lines.first, lines.last, lines.text(2)) == (2, 3, "two")


def test_search_wraps_in_both_directions() -> None:
    lines, hits = lines_of("x", "", "x x"), Hits()
    hits.seek(lines, "x")
    assert (len(hits), hits.on(3)) == (3, [(3, 0), (3, 2)])
    assert hits.from_line(2) == (3, 0)
    assert (hits.next(1, -1), hits.next(2, 1)) == ((3, 2), (3, 0))
    hits.here = (3, 2)
    assert hits.next(3, 1) == (1, 0)


def test_search_without_match_has_no_hit() -> None:
    hits = Hits()
    hits.seek(lines_of("x"), "y")
    assert (hits.from_line(1), hits.next(1, 1)) == (None, None)


def test_lines_that_are_added_are_searched_too() -> None:
    lines, hits = lines_of(), Hits()
    hits.seek(lines, "x")
    lines.extend(["x", "x"], longest=10)
    hits.extend(lines, first=1)
    lines.drop_oldest(most=1)
    hits.drop_before(lines.first)
    assert (len(hits), hits.from_line(1)) == (1, (2, 0))
