"""Colours of a read-only text, found when a line is drawn.

In most kinds of text a line can be coloured by itself.  In Python it cannot: a docstring spans lines, so the lines
above are lexed first, once, and only as far as needed.  The lexers are imported with the first text that has colours,
so that an empty view does not delay the first paint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from kgtui.highlighting.inks import Span
from kgtui.highlighting.kinds import TextKind

_CHARACTERS_AT_ONCE = 4_000

Colours: TypeAlias = Callable[[int], tuple[Span, ...]]


def colours_of(lines: Sequence[str], kind: TextKind) -> Colours:
    """The inks of a line by its place, from zero; for Python the lines must not change."""
    if kind is TextKind.PLAIN or not lines:
        return lambda index: ()
    if kind is not TextKind.PYTHON:
        from kgtui.highlighting.lexers import spans_of_line

        return lambda index: spans_of_line(lines[index], kind)
    from kgtui.highlighting.incremental import IncrementalLexer

    lexer, reached = IncrementalLexer(), 0
    lexer.replace(lines)

    def of_python(index: int) -> tuple[Span, ...]:
        nonlocal reached
        while reached <= index and not lexer.is_finished:
            reached = lexer.advance(_CHARACTERS_AT_ONCE).stop
        return lexer.spans(index)

    return of_python
