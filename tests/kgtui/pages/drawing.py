"""A page as text: the characters of every row, and below them what each of them looks like.

What a row looks like is told in runs, a name of two letters and how many cells have it; the last run goes to the end of
the row.  A name is made from the look itself, so that a new look renames no other.  Looks without colour are
told by the letters of their attributes.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from rich.color import Color
from rich.style import Style
from textual._context import visible_screen_stack
from textual.app import App

_ATTRIBUTES = {"bold": "b", "dim": "d", "italic": "i", "underline": "u", "reverse": "r", "strike": "s"}
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_PLAIN = "-"
_OWN_COLOURS = "default on default"

Run = tuple[str, int]


@dataclass(frozen=True, kw_only=True)
class Shot:
    """What is drawn on the whole terminal: rows of characters, and of runs of a look and its number of cells."""

    size: tuple[int, int]
    rows: tuple[str, ...]
    looks: tuple[tuple[Run, ...], ...]
    colours: frozenset[str]

    @property
    def is_in_the_terminals_colours(self) -> bool:
        """Whether some of it was given neither a colour nor a ground."""
        return any(look.startswith(_OWN_COLOURS) for row in self.looks for look, _ in row)

    @property
    def text(self) -> str:
        """The characters, row by row."""
        return "\n".join(self.rows)


def shot_of(app: App[None], *, coloured: bool) -> Shot:
    """What is drawn now, with the screens that are seen through the one in front."""
    visible_screen_stack.set(app._background_screens)
    rows, looks, colours = [], [], set()
    for strip in app.screen._compositor.render_strips():
        parts = [(segment.text, segment.style or Style.null(), segment.cell_length) for segment in strip]
        rows.append("".join(text for text, _, _ in parts).rstrip())
        named = [(_coloured(style) if coloured else _attributes(style), cells) for _, style, cells in parts if cells]
        runs = groupby(named, key=lambda part: part[0])
        looks.append(tuple((look, sum(cells for _, cells in same)) for look, same in runs))
        colours |= {_named(colour) for _, style, _ in parts for colour in (style.color, style.bgcolor)}
    size = (app.size.width, app.size.height)
    return Shot(size=size, rows=tuple(rows), looks=tuple(looks), colours=frozenset(colours - {""}))


def page_text(pairs: Iterable[tuple[Shot, Shot]]) -> str:
    """A page at every size, from its shots in colour and without: the text that is kept and compared."""
    pairs = tuple(pairs)
    names = _names({look for dark, _ in pairs for row in dark.looks for look, _ in row})
    parts = []
    for dark, plain in pairs:
        width, height = dark.size
        parts.append(f"{f' {width}x{height} ':=^{width}}\n{dark.text}\n")
        parts.append(f"{f' {width}x{height}, dark ':-^60}\n{_runs(dark, names)}\n")
        parts.append(f"{f' {width}x{height}, without colour ':-^60}\n{_runs(plain, {})}\n")
        if plain.rows != dark.rows:
            parts.append(f"{f' {width}x{height}, without colour ':=^{width}}\n{plain.text}\n")
    legend = "\n".join(sorted(f"{name} {look}" for look, name in names.items()))
    return "\n".join([*parts, f"{' the looks ':=^60}\n{legend}\n"])


def _runs(shot: Shot, names: Mapping[str, str]) -> str:
    """The looks of every row; equal rows that follow each other are told once."""
    reported = []
    numbered = enumerate((_look_text(row, names) for row in shot.looks), start=1)
    for words, same in groupby(numbered, key=lambda pair: pair[1]):
        numbers = [number for number, _ in same]
        place = f"{numbers[0]}-{numbers[-1]}" if len(numbers) > 1 else f"{numbers[0]}"
        reported.append(f"{place:>5} {words}")
    return "\n".join(reported)


def _look_text(row: tuple[Run, ...], names: Mapping[str, str]) -> str:
    *before, (last, _) = row
    return " ".join([*(f"{names.get(look, look)}{cells}" for look, cells in before), names.get(last, last)])


def _names(looks: set[str]) -> dict[str, str]:
    """Two letters for each look, drawn from its words; of two that draw the same, the second takes the next."""
    names: dict[str, str] = {}
    for look in sorted(looks):
        drawn = zlib.crc32(look.encode())
        while (name := _LETTERS[drawn // 26 % 26] + _LETTERS[drawn % 26]) in names.values():
            drawn += 1
        names[look] = name
    return names


def _coloured(style: Style) -> str:
    attributes = [name for name in _ATTRIBUTES if getattr(style, name)]
    return " ".join([_named(style.color) or "default", "on", _named(style.bgcolor) or "default", *attributes])


def _attributes(style: Style) -> str:
    return "".join(letter for name, letter in _ATTRIBUTES.items() if getattr(style, name)) or _PLAIN


def _named(colour: Color | None) -> str:
    """The colour; nothing for the terminal's own."""
    return "" if colour is None or colour.is_default else colour.name
