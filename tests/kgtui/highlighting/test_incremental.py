"""However a text came about, its colours are those of the text."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from pygments.lexers.python import PythonLexer

from kgtui.highlighting.incremental import IncrementalLexer, Splice
from kgtui.highlighting.inks import Ink, Span, ink_of
from kgtui.highlighting.lexers import LONGEST_COLOURED_LINE

pytestmark = pytest.mark.sampled

EVERYTHING = 10**9
SOURCES = sorted(Path(__file__).parents[3].glob("engine/*.py"))
FRAGMENTS = (
    '"""', "'''", '"', "'", "#", "\\", "{", "}", "[", ")", "f'''", 'f"""{', "r'", "import ", "from x import (", "as ",
    "def name(", "class Name:", "@triton.jit", "match x:", "case _:", "return 1.5e-3", "tl.load(ptr + cols)", "é→",
    "", " ",
)  # fmt: skip


def inks(lexer: IncrementalLexer, rows: int) -> list[tuple[Span, ...]]:
    return [lexer.spans(row) for row in range(rows)]


def from_scratch(lines: Sequence[str]) -> list[tuple[Span, ...]]:
    lexer = IncrementalLexer()
    lexer.replace(lines)
    lexer.advance(EVERYTHING)
    return inks(lexer, len(lines))


def edited(lines: list[str], chance: random.Random) -> list[str]:
    """The lines after one edit as people make them: a word, a line, a block moved, something deleted."""
    lines = list(lines) or [""]
    row = chance.randrange(len(lines))
    match chance.randrange(5):
        case 0:
            column = chance.randrange(len(lines[row]) + 1)
            lines[row] = lines[row][:column] + chance.choice(FRAGMENTS) + lines[row][column:]
        case 1:
            lines[row:row] = [chance.choice(FRAGMENTS) for _ in range(chance.randrange(1, 4))]
        case 2:
            del lines[row : row + chance.randrange(1, 6)]
        case 3:
            block = lines[row : row + 5]
            del lines[row : row + 5]
            place = chance.randrange(len(lines) + 1)
            lines[place:place] = block
        case _:
            lines[row] = lines[row][: chance.randrange(len(lines[row]) + 1)]
    return lines


@pytest.mark.parametrize("seed", range(60))
def test_colours_after_edits_equal_a_fresh_start(seed: int) -> None:
    """Some edits come while the lexer is still busy with those before."""
    chance = random.Random(seed)
    lines = chance.choice(SOURCES).read_text().splitlines()[:120]
    lexer = IncrementalLexer()
    for _ in range(60):
        lines = edited(lines, chance)
        lexer.replace(lines)
        for _ in range(chance.randrange(3)):
            lexer.advance(chance.choice([1, 200, EVERYTHING]))
        if lexer.is_finished:
            assert inks(lexer, len(lines)) == from_scratch(lines)
    lexer.advance(EVERYTHING)
    assert inks(lexer, len(lines)) == from_scratch(lines)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_real_source_is_coloured_as_pygments_does(path: Path) -> None:
    text = path.read_text()
    whole: list[Ink | None] = []
    for _, token, word in PythonLexer().get_tokens_unprocessed(text):
        whole += [ink_of(token)] * len(word)
    by_lines: list[Ink | None] = []
    for line, spans in zip(text.split("\n"), from_scratch(text.split("\n")), strict=True):
        row: list[Ink | None] = [None] * (len(line) + 1)
        for span in spans:
            row[span.start : span.end] = [span.ink] * (span.end - span.start)
        by_lines += row
    differing = [
        place
        for place, (one, other) in enumerate(zip(whole, by_lines, strict=False))
        if one is not other and not text[place].isspace()
    ]
    assert differing == []


def test_letter_typed_relexes_its_line_only() -> None:
    lines = [f"x{number} = tl.load(ptr + {number})" for number in range(2_000)]
    lexer = IncrementalLexer()
    lexer.replace(lines)
    lexer.advance(EVERYTHING)
    lines[1_000] += "+"
    assert lexer.replace(list(lines)) == Splice(first=1_000, removed=1, added=1)
    assert lexer.advance(EVERYTHING) == range(1_000, 1_001)


def test_opened_string_recolours_below_until_closed() -> None:
    lines = ["x = 1", "y = 2", "z = 3"]
    lexer = IncrementalLexer()
    lexer.replace(lines)
    lexer.advance(EVERYTHING)
    plain = inks(lexer, 3)
    lexer.replace(['x = """1', "y = 2", "z = 3"])
    assert lexer.advance(EVERYTHING) == range(3)
    assert lexer.spans(2) == (Span(0, 5, Ink.STRING),)
    lexer.replace(lines)
    lexer.advance(EVERYTHING)
    assert inks(lexer, 3) == plain


def test_line_below_open_string_is_highlighted_as_string() -> None:
    lexer = IncrementalLexer()
    for lines in (["x = 1", '"""open'], ["x = 2", '"""open'], ["x = 2", '"""open', "return"]):
        lexer.replace(lines)
        lexer.advance(EVERYTHING)
    assert lexer.spans(2) == (Span(0, 6, Ink.DOCUMENTATION),)


def test_docstring_keeps_colour_over_all_lines() -> None:
    rows = from_scratch(["def f():", '    """First.', "", "    Second.", '    """', "    return 1"])
    doc = {Ink.DOCUMENTATION}
    assert [{span.ink for span in row} for row in rows[1:5]] == [doc, set(), doc, doc]
    assert {span.ink for span in rows[5]} == {Ink.KEYWORD, Ink.NUMBER}


def test_large_file_is_lexed_in_slices_from_top() -> None:
    lines = ["x = 1"] * 1_000
    lexer = IncrementalLexer()
    lexer.replace(lines)
    first = lexer.advance(600)
    assert (first, lexer.is_finished, lexer.spans(99) != (), lexer.spans(100)) == (range(100), False, True, ())
    rows = [*first]
    while not lexer.is_finished:
        rows += lexer.advance(600)
    assert rows == list(range(1_000))


def test_enormous_line_stays_plain_and_affects_no_other() -> None:
    rows = from_scratch(["x = 1", '"""' + "y" * LONGEST_COLOURED_LINE, "x = 1"])
    assert (rows[1], rows[2]) == ((), rows[0])


def test_an_empty_text_is_finished() -> None:
    lexer = IncrementalLexer()
    lexer.replace(["x = 1"])
    lexer.replace([])
    assert (lexer.is_finished, lexer.spans(0)) == (True, ())
