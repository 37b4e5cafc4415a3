"""Strings of a file with the place of each character: literals, their sums, and f-strings whose values are known.

Python's own parser determines the value of a literal.  Its characters are counted here only to locate them, and if the
result differs from the value, the whole string has the place of its expression.
"""

from __future__ import annotations

import ast
import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine.model.native import TextPiece
from engine.static.analysis import Reading

UNSEEN = "/* unknown */"
"""Replacement for an unknown part."""

_DEPTH = 20
_LINE_END = re.compile(r"\r\n|\r|\n")
_OPENING = re.compile(r"([A-Za-z]{0,2})('''|\"\"\"|'|\")")
_ESCAPE = re.compile(r"\\(\r\n|N\{[^}]*\}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|.)", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


@dataclass(frozen=True, kw_only=True)
class PlacedText:
    """A string and its places; with `is_whole` false, UNSEEN replaces unknown parts."""

    text: str
    pieces: tuple[TextPiece, ...]
    is_whole: bool = True

    def __add__(self, other: PlacedText) -> PlacedText:
        """Both texts, one after the other."""
        moved = (replace(piece, offset=piece.offset + len(self.text)) for piece in other.pieces)
        return PlacedText(
            text=self.text + other.text,
            pieces=(*self.pieces, *moved),
            is_whole=self.is_whole and other.is_whole,
        )


def placed(node: ast.expr, reading: Reading, depth: int = _DEPTH) -> PlacedText | None:
    """The constant string value of an expression; None when it is unknown or not a string."""
    if depth == 0:
        return None
    match node:
        case ast.Constant(value=str() as text):
            return _exact(node, reading, (), text) or _coarse(node, text)
        case ast.JoinedStr():
            return _joined(node, reading, depth)
        case ast.BinOp(op=ast.Add()):
            return _sum(node, reading, depth)
        case ast.Name():
            value = reading.names.only_value(node)
            return placed(value, reading, depth - 1) if value is not None else None
    computed = reading.names.text(node)
    if computed is not None:
        return _coarse(node, computed)
    template = reading.names.template(node)
    return replace(_coarse(node, template), is_whole=False) if template is not None else None


def _sum(node: ast.BinOp, reading: Reading, depth: int) -> PlacedText | None:
    parts = [placed(part, reading, depth - 1) for part in (node.left, node.right)]
    if parts == [None, None]:
        return None
    left, right = (part or replace(_coarse(node, UNSEEN), is_whole=False) for part in parts)
    return left + right


def _joined(node: ast.JoinedStr, reading: Reading, depth: int) -> PlacedText:
    fields: list[str | None] = []
    expected = ""
    for part in node.values:
        if isinstance(part, ast.Constant):
            expected += str(part.value)
            continue
        fields.append(_field(part, reading, depth))
        expected += fields[-1] if fields[-1] is not None else UNSEEN
    values = tuple(UNSEEN if value is None else value for value in fields)
    found = _exact(node, reading, values, expected) or _coarse(node, expected)
    return replace(found, is_whole=None not in fields)


def _field(node: ast.expr, reading: Reading, depth: int) -> str | None:
    """Value of `{...}` in an f-string; None where it cannot be determined."""
    if not isinstance(node, ast.FormattedValue) or node.conversion != -1 or node.format_spec is not None:
        return None
    found = placed(node.value, reading, depth - 1)
    if found is not None:
        return found.text if found.is_whole else None
    value = reading.names.value(node.value)
    return str(value) if isinstance(value, int) else None


def _coarse(node: ast.expr, text: str) -> PlacedText:
    piece = TextPiece(offset=0, line=node.lineno, column=node.col_offset + 1, exact=False)
    return PlacedText(text=text, pieces=(piece,))


def _exact(node: ast.expr, reading: Reading, fields: tuple[str, ...], expected: str) -> PlacedText | None:
    """The text with the place of each character; None if the number of characters is not `expected`."""
    lines = _Lines(reading.text)
    first, end = lines.index(node.lineno, node.col_offset), lines.index(node.end_lineno, node.end_col_offset)
    if first is None or end is None:
        return None
    text, pieces, follows = "", list[TextPiece](), -1
    for index, width, part, exact in _parts(reading.text, first, end, fields):
        if index != follows or text.endswith("\n"):
            line, column = lines.place(index)
            pieces.append(TextPiece(offset=len(text), line=line, column=column, exact=exact))
        text += part
        follows = index + width if exact and width == len(part) else -1
    return PlacedText(text=text, pieces=tuple(pieces)) if text == expected and pieces else None


def _parts(source: str, first: int, end: int, fields: tuple[str, ...]) -> Iterator[tuple[int, int, str, bool]]:
    """Index and length in the source, value, and whether it is character by character, of adjacent literals."""
    values = iter(fields)
    index = first
    while index < end:
        opening = _OPENING.match(source, index)
        if opening is None:  # white space, brackets, comments and backslashes between literals
            comment = source[index] == "#"
            ending = _LINE_END.search(source, index, end) if comment else None
            index = (ending.end() if ending else end) if comment else index + 1
            continue
        index = opening.end()
        prefix, quotes = opening.group(1).lower(), opening.group(2)
        while index < end and not source.startswith(quotes, index):
            part = _part(source, index, prefix, values)
            yield part
            index += part[1]
        index += len(quotes)


def _part(source: str, index: int, prefix: str, values: Iterator[str]) -> tuple[int, int, str, bool]:
    sign = source[index]
    if "f" in prefix and sign in "{}":
        if source[index : index + 2] == sign * 2:
            return index, 2, sign, True
        return index, _field_width(source, index), next(values, UNSEEN), False
    escape = _ESCAPE.match(source, index) if sign == "\\" and "r" not in prefix else None
    if escape is not None:
        return index, escape.end() - index, _unescaped(escape), True
    if source.startswith("\r\n", index):
        return index, 2, "\n", True
    return index, 1, "\n" if sign == "\r" else sign, True


def _field_width(source: str, index: int) -> int:
    depth = 0
    for position in range(index, len(source)):
        depth += {"{": 1, "}": -1}.get(source[position], 0)
        if depth == 0:
            return position + 1 - index
    return len(source) - index


def _unescaped(escape: re.Match[str]) -> str:
    body = escape.group(1)
    if body in _SIMPLE:
        return _SIMPLE[body]
    if body in ("\n", "\r", "\r\n"):
        return ""
    try:
        return str(ast.literal_eval(f"'{escape.group()}'"))
    except (ValueError, SyntaxError):
        return escape.group()


class _Lines:
    """Indices of a source text as Python's lines and columns."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._starts = [0, *(found.end() for found in _LINE_END.finditer(source))]

    def index(self, line: int | None, column_bytes: int | None) -> int | None:
        """The index of a line, and of a column in bytes of UTF-8; None if the source has no such place."""
        if line is None or column_bytes is None or not 1 <= line <= len(self._starts):
            return None
        start = self._starts[line - 1]
        end = self._starts[line] if line < len(self._starts) else len(self._source)
        return start + len(self._source[start:end].encode()[:column_bytes].decode(errors="ignore"))

    def place(self, index: int) -> tuple[int, int]:
        """Line and column, both from one."""
        line = bisect.bisect_right(self._starts, index)
        return line, index - self._starts[line - 1] + 1
