"""Colours a source file while it is edited; the cost is proportional to the changed lines.

A line's inks depend on its text and on the stack of lexer states at its start.  Both are kept; after an edit the lexer
runs from the first changed line until a line below the edit starts in the same state as before.  The lexer gets one
line at a time, so there is no other dependency.  Work is counted in characters, not in seconds, so it is deterministic.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, count
from operator import ne
from typing import TypeAlias

from pygments.lexer import LexerContext

from kgtui.highlighting.inks import Span, spans_of
from kgtui.highlighting.kinds import TextKind
from kgtui.highlighting.lexers import LONGEST_COLOURED_LINE, lexer_for

Stack: TypeAlias = tuple[str, ...]

ROOT: Stack = ("root",)


@dataclass(frozen=True, kw_only=True)
class Splice:
    """From row `first` on, `removed` rows were replaced by `added` ones."""

    first: int
    removed: int
    added: int


class IncrementalLexer:
    """The inks of a text that changes; rows count from zero.

    Rows before `_next` are up to date, and `_carry` is the stack at the start of `_next`.  From row `_settled` on, the
    stored stacks are consistent: lexing that reaches one of those rows with its stored stack can stop.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._stacks: list[Stack] = [ROOT]
        self._spans: list[tuple[Span, ...]] = []
        self._next = 0
        self._carry = ROOT
        self._settled = 0

    @property
    def is_finished(self) -> bool:
        """True when every row has its inks."""
        return self._next >= len(self._lines)

    def spans(self, row: int) -> tuple[Span, ...]:
        """The inks of a row; the previous ones until it is lexed again, none for a new row."""
        return self._spans[row] if row < len(self._spans) else ()

    def replace(self, lines: Sequence[str]) -> Splice:
        """Replace the text by `lines` and return the changed rows; `advance` then finds their inks."""
        splice = _difference(self._lines, lines)
        first, end, below = splice.first, splice.first + splice.removed, splice.first + splice.added
        if first < self._next:
            self._next, self._carry = first, self._stacks[first]
        self._settled = below if self._settled <= end else self._settled + splice.added - splice.removed
        self._lines[first:end] = lines[first:below]
        self._spans[first:end] = [()] * splice.added
        self._stacks[first:end] = [ROOT] * splice.added
        return splice

    def advance(self, characters: int) -> range:
        """Lex about this many more characters, and return their rows."""
        start = row = self._next
        stack = self._carry
        while row < len(self._lines) and characters > 0:
            if row >= self._settled and stack == self._stacks[row]:
                self._finish(self._stacks[-1])
                return range(start, row)
            self._stacks[row] = stack
            self._spans[row], stack = self._lex(self._lines[row], stack)
            characters -= len(self._lines[row]) + 1
            row += 1
        if row == len(self._lines):
            self._finish(stack)
        else:
            self._next, self._carry, self._settled = row, stack, max(self._settled, row)
        return range(start, row)

    def _finish(self, stack: Stack) -> None:
        self._stacks[-1] = stack
        self._next, self._carry, self._settled = len(self._lines), stack, 0

    def _lex(self, line: str, stack: Stack) -> tuple[tuple[Span, ...], Stack]:
        if len(line) > LONGEST_COLOURED_LINE:
            return (), stack
        context = LexerContext(line + "\n", 0, stack=list(stack))
        lexer = lexer_for(TextKind.PYTHON)
        assert lexer is not None
        spans = spans_of(lexer.get_tokens_unprocessed(context=context))
        return spans, tuple(context.stack)


def _difference(old: Sequence[str], new: Sequence[str]) -> Splice:
    shorter = min(len(old), len(new))
    first = _first_difference(iter(old), iter(new), at_most=shorter)
    below = _first_difference(reversed(old), reversed(new), at_most=shorter - first)
    return Splice(first=first, removed=len(old) - first - below, added=len(new) - first - below)


def _first_difference(one: Iterator[str], other: Iterator[str], *, at_most: int) -> int:
    """Number of equal pairs before the first difference; the loop is in C, since it runs at every key."""
    return min(at_most, next(compress(count(), map(ne, one, other)), at_most))
