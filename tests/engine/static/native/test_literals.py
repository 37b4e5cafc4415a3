"""Every character of a string has the place in the file that it was written at."""

from __future__ import annotations

import pytest

from engine.model.native import NativeLanguage, NativeText
from engine.static.analysis import Reading
from engine.static.native.literals import PlacedText, placed


def value_of(source: str) -> PlacedText | None:
    """The placed text of the last assignment of a file."""
    reading = Reading.of(source)
    return placed(reading.tree.body[-1].value, reading)  # type: ignore[attr-defined]  # an assignment by construction


def at(source: str, sought: str) -> tuple[int, int | None]:
    """Line and column of the first character of `sought` in the text that the file assigns."""
    text = value_of(source)
    assert text is not None
    native = NativeText(label="t", language=NativeLanguage.CUDA, text=text.text, pieces=text.pieces)
    place = native.at(text.text.index(sought))
    return place.line, place.column


@pytest.mark.parametrize(
    ("source", "sought", "place"),
    [
        ("T = '''one\ntwo x'''\n", "x", (2, 5)),
        ("T = 'a' 'x'\n", "x", (1, 10)),
        ("T = ('a\\n'  # 'x'\n     'x')\n", "x", (2, 7)),
        ("T = 'é' + 'x'\n", "x", (1, 12)),
        ("T = '\\x41\\t\\\\x'\n", "x", (1, 14)),
        ("T = r'\\n x'\n", "x", (1, 10)),
        ("T = '''a\\\n  x'''\n", "x", (2, 3)),
        ("T = '''a\r\nx'''\r\n", "x", (2, 1)),
        ("N = 12\nT = f'{N} {{x'\n", "x", (2, 13)),
        ("N = 12\nT = f'n = {N};'\n", "12", (2, 11)),
        ("A = 'a x'\nT = A\n", "x", (1, 8)),
        ("T = 'a x'.replace('a', 'b')\n", "x", (1, 5)),
    ],
)
def test_literal_character_has_its_source_position(source: str, sought: str, place: tuple[int, int]) -> None:
    assert at(source, sought) == place


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("T = 'a' + make()\n", "a/* unknown */"),
        ("T = f'a {make()} b'\n", "a /* unknown */ b"),
        ("T = f'{1!r} b'\n", "/* unknown */ b"),
    ],
)
def test_unknown_part_of_literal_is_replaced(source: str, text: str) -> None:
    found = value_of(source)
    assert found is not None
    assert (found.text, found.is_whole) == (text, False)


@pytest.mark.parametrize("source", ["T = make()\n", "T = 1\n", "T = make() + make()\n"])
def test_expression_without_known_string_gives_none(source: str) -> None:
    assert value_of(source) is None
