"""Inks of a text that is only read: of a line when it is drawn."""

from __future__ import annotations

import pytest

from kgtui.highlighting.incremental import IncrementalLexer
from kgtui.highlighting.kinds import TextKind
from kgtui.highlighting.lexers import spans_of_line
from kgtui.highlighting.reading import colours_of

PYTHON = [f"value_{number} = {number}  # a comment" for number in range(400)]


@pytest.mark.parametrize("order", [range(400), range(399, -1, -1)], ids=["down", "up"])
def test_every_line_of_python_has_its_inks(order: range) -> None:
    lexer, colours = IncrementalLexer(), colours_of(PYTHON, TextKind.PYTHON)
    lexer.replace(PYTHON)
    while not lexer.is_finished:
        lexer.advance(10_000)
    for index in order:
        assert colours(index) == lexer.spans(index) != ()


def test_lines_of_code_are_coloured_each_by_itself() -> None:
    lines = ["%0 = arith.constant 1 : i32", "tt.return"]
    colours = colours_of(lines, TextKind.TTIR)
    assert [colours(index) for index in range(2)] == [spans_of_line(line, TextKind.TTIR) for line in lines]


@pytest.mark.parametrize(("lines", "kind"), [(["x = 1"], TextKind.PLAIN), ([], TextKind.PYTHON)])
def test_plain_and_empty_texts_have_no_inks(lines: list[str], kind: TextKind) -> None:
    assert colours_of(lines, kind)(0) == ()
