"""A character plot: points with their intervals, joined by braille dots in Unicode and by full stops in ASCII.
Series differ by their markers, so that nothing is lost without colours.  Independent of the plotted data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import groupby, pairwise

from kgtui.state.format.glyphs import Glyphs
from kgtui.state.format.lines import Line, Span, Tone, muted

LEAST_WIDTH = 24
LEAST_HEIGHT = 5
# Bits of a braille cell by column and row of its dots, as Unicode numbers them.
_BITS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
_BRAILLE = 0x2800
_ROUND = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True, kw_only=True)
class Point:
    """One point: `key` names it, points of one `group` are joined, `low` and `high` are the ends of its interval."""

    key: str
    group: str
    x: float
    y: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Series:
    """A series of points; one without a marker is a dashed line.
    With `is_stepped`, y keeps its value up to the next x.
    """

    name: str
    points: tuple[Point, ...]
    marker: str
    tone: Tone
    is_stepped: bool = False


@dataclass(frozen=True, kw_only=True)
class Axis:
    """Scale of an axis: the position of a value, and the values at its ticks."""

    low: float
    high: float
    logarithmic: bool = False
    ticks: tuple[tuple[float, str], ...] = ()

    def place(self, value: float, cells: int) -> int:
        """The cell of the value, from 0 to `cells` - 1."""
        scale: Callable[[float], float] = math.log if self.logarithmic else float
        share = (scale(value) - scale(self.low)) / (scale(self.high) - scale(self.low))
        return min(cells - 1, max(0, round(share * (cells - 1))))


def linear_axis(highest: float, label: Callable[[float], str], *, most: int) -> Axis:
    """From zero to a little over `highest`, with at most `most` round tick values."""
    step = _round_step(highest / max(1, most - 1))
    ticks = tuple((place * step, label(place * step)) for place in range(math.floor(highest * 1.08 / step) + 1))
    return Axis(low=0.0, high=highest * 1.08, ticks=ticks)


def log_axis(low: float, high: float, label: Callable[[float], str], *, base: int, most: int) -> Axis:
    """From `low` to `high` with a margin, with at most `most` powers of `base` as ticks, or the ends."""
    margin = (high / low) ** 0.04 if high > low else 2.0
    low, high = low / margin, high * margin
    first, last = math.ceil(math.log(low, base)), math.floor(math.log(high, base))
    powers = range(first, last + 1)
    if len(powers) < 2:
        return Axis(
            low=low,
            high=high,
            logarithmic=True,
            ticks=((low * margin, label(low * margin)), (high / margin, label(high / margin))),
        )
    step = math.ceil(len(powers) / max(1, most))
    ticks = tuple((float(base) ** power, label(float(base) ** power)) for power in powers[::step])
    return Axis(low=low, high=high, logarithmic=True, ticks=ticks)


def draw(
    series: tuple[Series, ...], x: Axis, y: Axis, *, width: int, height: int, glyphs: Glyphs, marked: str | None = None
) -> tuple[Line, ...]:
    """The plot with its axes in `height` rows of at most `width` characters; () if that is too small.
    The position of the point with the key `marked` is marked on the lower axis.
    """
    if width < LEAST_WIDTH or height < LEAST_HEIGHT:
        return ()
    margin = max((len(text) for _, text in y.ticks), default=0) + 1
    canvas = _Canvas(columns=width - margin - 1, rows=height - 2, fine=glyphs.braille)
    for one in series:
        _draw_series(canvas, one, x, y)
    height_dots, corner, rule = tuple(glyphs.axes)
    labels = {canvas.rows - 1 - y.place(value, canvas.rows): text for value, text in y.ticks}
    lines = [
        (muted(f"{labels.get(row, ''):>{margin - 1}} {height_dots}"), *_merged(canvas.row(row)))
        for row in range(canvas.rows)
    ]
    at = next((point.x for one in series for point in one.points if point.key == marked), None)
    place = None if at is None else x.place(at, canvas.columns)
    floor = "".join(
        glyphs.bars[-1] if column == place and glyphs.braille else "^" if column == place else rule
        for column in range(canvas.columns)
    )
    lines.append((muted(f"{'':>{margin}}{corner}"), *_pointed(floor, place)))
    lines.append((muted(f"{'':>{margin + 1}}{_labels(x, canvas.columns)}"),))
    return tuple(lines)


@dataclass
class _Canvas:
    """Cells with dots or a marker; later drawing covers earlier."""

    columns: int
    rows: int
    fine: bool
    _dots: dict[tuple[int, int], tuple[int, Tone]] = field(default_factory=dict)
    _signs: dict[tuple[int, int], Span] = field(default_factory=dict)

    @property
    def across(self) -> int:
        """Number of dots in the width."""
        return self.columns * (2 if self.fine else 1)

    @property
    def height_dots(self) -> int:
        """Number of dots in the height."""
        return self.rows * (4 if self.fine else 1)

    def dot(self, x: int, y: int, tone: Tone) -> None:
        """Set a dot, counted from the lower left."""
        y = self.height_dots - 1 - y
        cell = (x // 2, y // 4) if self.fine else (x, y)
        bits = _BITS[x % 2][y % 4] if self.fine else 1
        self._dots[cell] = (self._dots.get(cell, (0, tone))[0] | bits, tone)

    def sign(self, x: int, y: int, span: Span) -> None:
        """Put a marker on the cell of a dot."""
        y = self.height_dots - 1 - y
        self._signs[(x // 2, y // 4) if self.fine else (x, y)] = span

    def row(self, row: int) -> Iterator[Span]:
        """One character for every column."""
        for column in range(self.columns):
            bits, tone = self._dots.get((column, row), (0, Tone.PLAIN))
            dots = chr(_BRAILLE + bits) if self.fine else "."
            yield self._signs.get((column, row)) or Span(dots if bits else " ", tone)


def _draw_series(canvas: _Canvas, series: Series, x: Axis, y: Axis) -> None:
    ordered = sorted(series.points, key=lambda point: (point.group, point.x))
    for _, points in groupby(ordered, key=lambda point: point.group):
        places = [(x.place(point.x, canvas.across), y.place(point.y, canvas.height_dots)) for point in points]
        for (x0, y0), (x1, y1) in pairwise(_with_corners(places) if series.is_stepped else places):
            steps = max(abs(x1 - x0), abs(y1 - y0), 1)
            for step in range(steps + 1):
                if series.marker or step % 4 < 2:
                    canvas.dot(x0 + round((x1 - x0) * step / steps), y0 + round((y1 - y0) * step / steps), series.tone)
        if len(places) == 1 and not series.marker:
            for offset in range(-3, 4):
                canvas.dot(min(max(places[0][0] + offset, 0), canvas.across - 1), places[0][1], series.tone)
    for point in ordered if series.marker else ():
        across = x.place(point.x, canvas.across)
        for height_dots in range(y.place(point.low, canvas.height_dots), y.place(point.high, canvas.height_dots) + 1):
            canvas.dot(across, height_dots, series.tone)
        canvas.sign(across, y.place(point.y, canvas.height_dots), Span(series.marker, series.tone))


def _with_corners(places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    corners = [[(x, before), (x, y)] for (_, before), (x, y) in pairwise(places)]
    return [*places[:1], *(place for corner in corners for place in corner)]


def _merged(spans: Iterator[Span]) -> Iterator[Span]:
    """Adjacent parts of one tone as one span."""
    for tone, run in groupby(spans, key=lambda span: span.tone):
        yield Span("".join(span.text for span in run), tone)


def _pointed(floor: str, place: int | None) -> Line:
    if place is None:
        return (muted(floor),)
    return (muted(floor[:place]), Span(floor[place], Tone.STRONG), muted(floor[place + 1 :]))


def _labels(x: Axis, columns: int) -> str:
    """The labels under the axis, each centred at its position; one that would touch the previous one is left out."""
    written = ""
    for value, text in x.ticks:
        start = min(max(0, x.place(value, columns) - len(text) // 2), max(0, columns - len(text)))
        if not written or start > len(written):
            written = written.ljust(start) + text
    return written[:columns]


def _round_step(least: float) -> float:
    """The smallest of 1, 2, 2.5, 5, 10 times a power of ten that is not below `least`."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in _ROUND if factor * power >= least * 0.999)
