"""Text with tones instead of colours: returned by pure functions, drawn by widgets.
A tone is the meaning of a piece of text; the style sheets give it a colour.  Text is never interpreted as markup, so a
shape such as `[1, 2]` is unchanged.
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
    """A piece of text and its tone."""

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
    """A column of a table, `width` cells wide including the gap to the next one.
    If there is no room for all, columns with the lowest `rank` come first, and one with a `least` may shrink to that.
    Remaining room, except for a cell, goes to the columns with a `most`, in order.
    """

    label: str
    width: int
    least: int | None = None
    most: int | None = None
    rank: int = 0


@dataclass(frozen=True, kw_only=True)
class Placed:
    """A drawn column: its index in the table, and its current width."""

    place: int
    width: int


def laid_out(columns: Sequence[Column], *, room: int) -> tuple[Placed, ...]:
    """The columns in drawing order, so that none is cut by the edge at `room`.
    Columns that do not fit are beyond the edge, and reached by scrolling sideways.
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
        widths[max(widths)] += left  # the next column begins beyond the edge
    shown = [Placed(place=place, width=widths[place]) for place in sorted(widths)]
    return (*shown, *(Placed(place=place, width=columns[place].width) for place in beyond))


def hung(one: Line, *, width: int, indent: int) -> tuple[Line, ...]:
    """The line wrapped to fit, with a hanging indent."""
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
    """A line from spans and plain strings."""
    return tuple(Span(part) if isinstance(part, str) else part for part in parts)


def muted(text: str) -> Span:
    """Span of secondary text."""
    return Span(text, Tone.MUTED)


def strong(text: str) -> Span:
    """Span of emphasised text."""
    return Span(text, Tone.STRONG)


def _between(one: Line, start: int, end: int) -> Iterator[Span]:
    """The spans of these characters of the line."""
    at = 0
    for span in one:
        if part := span.text[max(0, start - at) : max(0, end - at)]:
            yield Span(part, span.tone)
        at += len(span.text)


def plain_text(lines: tuple[Line, ...]) -> str:
    """The lines as plain text, for the clipboard and for tests."""
    return "\n".join("".join(span.text for span in one).rstrip() for one in lines)
