"""The window of a long list: it grows at one end, shrinks at the other, and never loses the cursor's surroundings."""

from __future__ import annotations

from kgtui.state.history.paging import MOST, PAGE, Window


def page(newest: int, length: int = PAGE) -> tuple[int, ...]:
    return tuple(range(newest, newest - length, -1))


def window(newest: int, length: int = PAGE) -> Window[int]:
    return Window(number=lambda one: one).filled(page(newest, length), at_top=True, at_bottom=False)


def test_older_page_is_appended() -> None:
    grown = window(1000).with_below(page(900), keep=50)
    assert (grown.newest, grown.oldest, len(grown.entries)) == (1000, 801, 200)
    assert (grown.at_top, grown.at_bottom) == (True, False)


def test_newest_runs_are_dropped_beyond_limit() -> None:
    grown = window(1000, MOST).with_below(page(700), keep=50)
    assert (grown.newest, grown.oldest, len(grown.entries)) == (900, 601, MOST)
    assert not grown.at_top


def test_rows_needed_by_cursor_exceed_the_limit() -> None:
    grown = window(1000, MOST).with_below(page(700), keep=MOST)
    assert (grown.newest, len(grown.entries)) == (1000, MOST + PAGE)


def test_a_short_page_is_the_last() -> None:
    assert window(130).with_below(page(30, 30), keep=50).at_bottom
    assert window(100).with_below((), keep=50).at_bottom


def test_page_above_is_joined_and_oldest_dropped() -> None:
    whole = Window(number=lambda one: one).filled(page(MOST, MOST), at_top=False, at_bottom=True)
    grown = whole.with_above(page(MOST + PAGE), keep=50)
    assert (grown.newest, grown.oldest, len(grown.entries)) == (MOST + PAGE, PAGE + 1, MOST)
    assert (grown.at_top, grown.at_bottom) == (False, False)
    assert grown.with_above((MOST + PAGE + 1,), keep=50).at_top


def test_entry_is_found_replaced_and_removed_by_number() -> None:
    pairs = Window(number=lambda one: one[0]).filled(((2, "b"), (1, "a")), at_top=True, at_bottom=True)
    assert pairs.find(1) == (1, "a")
    assert pairs.with_entry((1, "z")).entries == ((2, "b"), (1, "z"))
    assert pairs.without(2).entries == ((1, "a"),)
    assert pairs.find(7) is None


def test_an_empty_window_has_no_ends() -> None:
    empty = Window[int](number=lambda one: one)
    assert (empty.newest, empty.oldest) == (None, None)
