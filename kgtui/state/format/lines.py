"""Text with a meaning instead of a colour: what the pure functions return and the widgets draw.

A tone names what a piece of text means; the style sheets give it a colour.  Text is never read as markup, so a
shape such as `[1, 2]` stays what it is.
"""

from __future__ import annotations

import enum
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias


class Tone(enum.StrEnum):
    """Meaning of a piece of text."""

    PLAIN = "plain"
    STRONG = "strong"
    MUTED = "muted"
    GOOD = "good"
    BAD = "bad"
    WARN = "warn"
    BUSY = "busy"
    LINK = "link"
    STALE = "stale"


class Span(NamedTuple):
    """A piece of text and what it means."""

    text: str
    tone: Tone = Tone.PLAIN


Line: TypeAlias = tuple[Span, ...]


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of a table: `key` identifies it, one span per column; a stale row is drawn dimmed."""

    key: str
    cells: tuple[Span, ...]
    stale: bool = False


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of a table, `width` cells wide with the gap to the next one.

    Where the table has no room for all, those of the lowest `rank` come first, and one with a `least` makes do with
    as little as that.  Room that is left, but for a cell, goes to the columns with a `most`, in their order.
    """

    label: str
    width: int
    least: int | None = None
    most: int | None = None
    rank: int = 0


@dataclass(frozen=True, kw_only=True)
class Placed:
    """A column where it is drawn: its place among the columns of the table, and how wide it is now."""

    place: int
    width: int


def laid_out(columns: Sequence[Column], *, room: int) -> tuple[Placed, ...]:
    """The columns in the order in which they are drawn, so that none is cut by the edge at `room`.

    Text that does not fit is beyond the edge and reached by scrolling sideways.
    """
    left, widths = room, {}
    for place in sorted(range(len(columns)), key=lambda place: columns[place].rank):
        column = columns[place]
        if left >= (column.width if column.least is None else column.least):
            widths[place] = min(column.width, left)
            left -= widths[place]
    for place in sorted(widths):
        more = min((columns[place].most or 0) - widths[place], left - 1)
        if more > 0:
            widths[place] += more
            left -= more
    beyond = [place for place in range(len(columns)) if place not in widths]
    if beyond and widths:
        widths[max(widths)] += left  # the next column begins behind the edge
    shown = [Placed(place=place, width=widths[place]) for place in sorted(widths)]
    return (*shown, *(Placed(place=place, width=columns[place].width) for place in beyond))


def hung(one: Line, *, width: int, indent: int) -> tuple[Line, ...]:
    """The line in as many lines as it takes to fit, those after the first behind an indent."""
    text = "".join(span.text for span in one)
    pieces = textwrap.wrap(
        text,
        max(width, 2 * indent),
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
        replace_whitespace=False,
        expand_tabs=False,
    )
    if len(pieces) < 2:
        return (one,)
    lines: list[Line] = []
    done = 0
    for piece in pieces:
        words = piece[indent:] if lines else piece
        start = text.index(words, done)
        done = start + len(words)
        lines.append((*((Span(" " * indent),) if lines else ()), *_between(one, start, done)))
    return tuple(lines)


def line(*parts: Span | str) -> Line:
    """A line from spans and plain words."""
    return tuple(Span(part) if isinstance(part, str) else part for part in parts)


def muted(text: str) -> Span:
    """Text of the second rank."""
    return Span(text, Tone.MUTED)


def strong(text: str) -> Span:
    """Text that a reader looks for first."""
    return Span(text, Tone.STRONG)


def _between(one: Line, start: int, end: int) -> Iterator[Span]:
    """The spans of these characters of the line."""
    at = 0
    for span in one:
        if part := span.text[max(0, start - at) : max(0, end - at)]:
            yield Span(part, span.tone)
        at += len(span.text)


def plain_text(lines: tuple[Line, ...]) -> str:
    """The lines without their meaning, for the clipboard and for tests."""
    return "\n".join("".join(span.text for span in one).rstrip() for one in lines)
