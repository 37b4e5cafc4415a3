"""Text with a meaning instead of a colour: what the pure functions return and the widgets draw.

A tone names what a piece of text means; the style sheets give it a colour.  Text is never read as markup, so a
shape such as `[1, 2]` stays what it is.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias


class Tone(enum.StrEnum):
    """What a piece of text means."""

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
    """A row of a table: `key` tells rows apart, one span per column; a stale row is drawn dimmed."""

    key: str
    cells: tuple[Span, ...]
    stale: bool = False


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of fixed width, the gap to the next one included."""

    label: str
    width: int


def line(*parts: Span | str) -> Line:
    """A line from spans and plain words."""
    return tuple(Span(part) if isinstance(part, str) else part for part in parts)


def muted(text: str) -> Span:
    """Text of the second rank."""
    return Span(text, Tone.MUTED)


def strong(text: str) -> Span:
    """Text that a reader looks for first."""
    return Span(text, Tone.STRONG)


def plain_text(lines: tuple[Line, ...]) -> str:
    """The lines without their meaning, for the clipboard and for tests."""
    return "\n".join("".join(span.text for span in one).rstrip() for one in lines)
