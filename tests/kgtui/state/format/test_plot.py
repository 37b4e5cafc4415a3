"""Plots in signs: places, intervals, axes, and what is left out for want of room."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kgtui.state.format.glyphs import ASCII, UNICODE
from kgtui.state.format.lines import Tone, plain_text
from kgtui.state.format.plot import Axis, Point, Series, draw, linear_axis, log_axis

SQUARE = Axis(low=0.0, high=10.0, ticks=((0.0, "0"), (10.0, "10")))


def point(x: float, y: float, *, reach: float = 0.0, group: str = "") -> Point:
    return Point(key=f"{x:g}", group=group, x=x, y=y, low=y - reach, high=y + reach)


def series(*points: Point, marker: str = "*") -> Series:
    return Series(name="candidate", points=points, marker=marker, tone=Tone.GOOD)


def drawn(*all_series: Series, marked: str | None = None, glyphs: Any = ASCII) -> list[str]:
    return plain_text(draw(all_series, SQUARE, SQUARE, width=24, height=7, glyphs=glyphs, marked=marked)).splitlines()


def test_point_is_at_its_place_between_axes() -> None:
    lines = drawn(series(point(0, 0), point(10, 10)), marked="10")
    assert lines[0] == "10 |" + " " * 17 + "..*"
    assert lines[4].startswith(" 0 |*..")
    assert lines[5] == "   +" + "-" * 19 + "^"
    assert lines[6] == "    0" + " " * 17 + "10"


def test_points_of_two_groups_are_not_joined() -> None:
    lines = drawn(series(point(0, 0, group="f32"), point(10, 10, group="bf16")))
    assert "".join(lines[:5]).count(".") == 0
    assert "".join(lines[:5]).count("*") == 2


def test_an_interval_reaches_over_and_under_its_point() -> None:
    lines = drawn(series(point(5, 5, reach=5)))
    assert [line[4:].strip() for line in lines[:5]] == [".", ".", "*", ".", "."]


def test_series_without_marker_is_dashed_line() -> None:
    top = drawn(series(point(0, 10), point(10, 10), marker=""))[0]
    assert top == "10 |..  ..  ..  ..  .."


def test_fine_dots_are_braille_with_later_series_above() -> None:
    lower, upper = series(point(0, 5), point(10, 5), marker="○"), series(point(0, 5), point(10, 5), marker="●")
    text = "\n".join(drawn(lower, upper, glyphs=UNICODE))
    assert (text.count("○"), text.count("●")) == (0, 2)
    assert "⠤" in text or "⠒" in text


def test_stepped_series_keeps_value_until_next_point() -> None:
    lines = drawn(replace(series(point(0, 0), point(10, 10)), is_stepped=True))
    assert lines[0] == "10 |" + " " * 19 + "*"
    assert [line[23:] for line in lines[1:4]] == ["."] * 3
    assert lines[4] == " 0 |*" + "." * 19


def test_too_little_room_gives_no_plot() -> None:
    one = (series(point(1, 1)),)
    assert draw(one, SQUARE, SQUARE, width=23, height=7, glyphs=ASCII) == ()
    assert draw(one, SQUARE, SQUARE, width=24, height=4, glyphs=ASCII) == ()


def test_axes_are_written_at_round_values() -> None:
    assert [text for _, text in linear_axis(2900.0, lambda value: f"{value:g}", most=5).ticks] == [
        "0",
        "1000",
        "2000",
        "3000",
    ]
    powers = log_axis(1000.0, 70000.0, lambda value: f"{value:g}", base=2, most=4)
    assert [text for _, text in powers.ticks] == ["1024", "4096", "16384", "65536"]
    alone = log_axis(100.0, 100.0, lambda value: f"{value:g}", base=10, most=4)
    assert alone.low < 100.0 < alone.high
