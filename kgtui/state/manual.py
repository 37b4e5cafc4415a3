"""A page of the manual as the lines of a screen, wrapped to its width.
Supports the Markdown that the pages use: headings, paragraphs, lists, tables, code, links, and words in bold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest

from kgtui.state.format.lines import Line, Span, Tone, hung, line, strong
from kgtui.state.workbench.inspect import PageRow

_GAP = 2  # gap between the columns of a table
_LEAST_COLUMN = 8
_FENCE = "```"
_INDENT = "    "
_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")
_MARKED = re.compile(r"`([^`]+)`|\*\*(.+?)\*\*")
_ITEM = re.compile(r"(?:-|\d+\.) +")
_BORDER = re.compile(r"\s\|(?=\s)")  # between two cells of a table, one of which may be empty


def page_rows(text: str, *, width: int) -> tuple[PageRow, ...]:
    """The page in lines of at most `width` cells, except for code."""
    return tuple(PageRow(line=one) for one in _lines(text.splitlines(), width))


def _lines(lines: Sequence[str], width: int) -> Iterator[Line]:
    for is_code, part in groupby(_marked_as_code(lines), key=lambda pair: pair[1]):
        shown = [one for one, _ in part]
        if is_code:
            yield from (line(Span(one, Tone.LINK)) for one in shown)
            continue
        for block in _blocks(shown):
            yield from _block(block, width)


def _marked_as_code(lines: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it is code; fences are removed, and fenced lines indented like other code."""
    is_fenced = False
    for one in lines:
        if one.startswith(_FENCE):
            is_fenced = not is_fenced
        elif is_fenced:
            yield f"{_INDENT}{one}".rstrip(), True
        else:
            yield one, one.startswith(_INDENT)


def _blocks(lines: Sequence[str]) -> Iterator[list[str]]:
    """Blocks of lines: a heading, a table, a paragraph, an item of a list, or an empty line."""
    block: list[str] = []
    for one in lines:
        is_table = one.startswith("|")
        begins = not one or one.startswith("#") or _ITEM.match(one) or (is_table and block and block[0][:1] != "|")
        if block and (begins or not block[0] or block[0].startswith("#")):
            yield block
            block = []
        block.append(one.strip())
    if block:
        yield block


def _block(block: Sequence[str], width: int) -> Iterator[Line]:
    first = block[0]
    if first.startswith("#"):
        yield from hung(line(strong(first.lstrip("# "))), width=width, indent=0)
    elif first.startswith("|"):
        yield from _table(block, width)
    else:
        item = _ITEM.match(first)
        yield from hung(_spans(" ".join(block)), width=width, indent=item.end() if item else 0)


def _table(block: Sequence[str], width: int) -> Iterator[Line]:
    """The header and rows of a table, each with as many lines as its tallest cell."""
    head, _, *rows = [[_spans(cell.strip()) for cell in _BORDER.split(one.strip("|"))] for one in block]
    table = [[line(strong(_plain(cell))) for cell in head], *rows]
    widths = _widths([[len(_plain(cell)) for cell in row] for row in table], width)
    for row in table:
        cells = [hung(cell, width=wide, indent=0) for cell, wide in zip(row, widths, strict=True)]
        for pieces in zip_longest(*cells, fillvalue=()):
            yield tuple(span for piece, wide in zip(pieces, widths, strict=True) for span in _padded(piece, wide))


def _widths(lengths: Sequence[Sequence[int]], width: int) -> list[int]:
    """Column widths: those of the longest cells; the widest column is narrowed until all fit."""
    widths = [max(column, default=0) for column in zip(*lengths, strict=True)]
    while sum(widths) + _GAP * len(widths) > width and max(widths) > _LEAST_COLUMN:
        widths[widths.index(max(widths))] -= 1
    return widths


def _padded(piece: Line, width: int) -> Line:
    return (*piece, Span(" " * (width + _GAP - len(_plain(piece)))))


def _spans(text: str) -> Line:
    """The words of a paragraph: code and bold with separate tones, links by their text."""
    text = _LINK.sub(r"\1", text)
    spans, done = [], 0
    for found in _MARKED.finditer(text):
        spans.append(Span(text[done : found.start()]))
        spans.append(Span(found[1], Tone.LINK) if found[1] else strong(found[2]))
        done = found.end()
    return tuple(span for span in (*spans, Span(text[done:])) if span.text) or line("")


def _plain(one: Line) -> str:
    return "".join(span.text for span in one)
