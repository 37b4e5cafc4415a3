"""Aligns two to four texts line by line, and finds their differences.

The first text is the reference: every other one is aligned with it.  A changed line is beside its original, with the
changed words; a missing line leaves a gap.  Comparing long texts is slow, so it runs in a thread; nothing here draws.
"""

from __future__ import annotations

import enum
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property
from itertools import takewhile

from rich.cells import cell_len

from kgtui.highlighting.cleaning import cleaned

LONGEST_LINE = 4_000
_ALIKE = 0.5  # lines that share less than half of their words are not paired
_MOST_PAIRS = 4_000  # above this, lines are paired in order, since trying every pair would take too long
_WORDS = re.compile(r"\w+|\s+|.")


class Change(enum.StrEnum):
    """Kind of change of a line; the value is its sign."""

    SAME = " "
    CHANGED = "~"
    ADDED = "+"
    REMOVED = "-"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A line of one text, ready to be drawn; `number` counts from one and is None for a gap.
    `spans` are the ranges of characters that differ from the reference, or in the reference from the other text.
    """

    number: int | None
    text: str = ""
    change: Change = Change.SAME
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, kw_only=True)
class AlignedRow:
    """One line of every text, side by side."""

    cells: tuple[Cell, ...]

    @property
    def differs(self) -> bool:
        """Whether the texts differ in this row."""
        return any(cell.change is not Change.SAME for cell in self.cells)


@dataclass(frozen=True, kw_only=True)
class Alignment:
    """The texts in rows; `starts` are the rows, from zero, where a difference begins."""

    rows: tuple[AlignedRow, ...] = ()
    starts: tuple[int, ...] = ()

    @cached_property
    def longest(self) -> int:
        """Width of the longest line in terminal cells."""
        return max((cell_len(cell.text) for row in self.rows for cell in row.cells), default=0)

    @cached_property
    def lines(self) -> int:
        """The highest line number."""
        return max((cell.number or 0 for row in self.rows for cell in row.cells), default=0)


def aligned(texts: Sequence[Sequence[str]]) -> Alignment:
    """The lines of these texts side by side, the first being the reference.

    Lines that two others added at one place are in the same rows, whether or not they are equal.
    """
    reference, *others = texts
    plans = [_plan(reference, other) for other in others]
    rows: list[AlignedRow] = []
    for place in range(len(reference) + 1):
        added = [plan.added.get(place, ()) for plan in plans]
        for offset in range(max(map(len, added), default=0)):
            cells = [_added(other, lines, offset) for other, lines in zip(others, added, strict=True)]
            rows.append(AlignedRow(cells=(Cell(number=None), *cells)))
        if place < len(reference):
            partners = [plan.partners.get(place) for plan in plans]
            rows.append(_row(reference, others, place=place, partners=partners))
    return Alignment(rows=tuple(rows), starts=_starts(rows))


def unified(alignment: Alignment, *, other: int = 1) -> Alignment:
    """The reference and text number `other` in one column: in each difference removed lines first."""
    rows: list[AlignedRow] = []
    removed: list[Cell] = []
    added: list[Cell] = []
    for row in alignment.rows:
        before, after = row.cells[0], row.cells[other]
        if before.number is None and after.number is None:
            continue  # a gap caused by a third text
        if after.change is Change.SAME:
            rows += [AlignedRow(cells=(cell,)) for cell in (*removed, *added)]
            removed, added = [], []
            rows.append(AlignedRow(cells=(replace(after, spans=()),)))
            continue
        if before.number is not None:
            removed.append(replace(before, change=Change.REMOVED, spans=_between(after, before)))
        if after.number is not None:
            added.append(replace(after, change=Change.ADDED))
    rows += [AlignedRow(cells=(cell,)) for cell in (*removed, *added)]
    return Alignment(rows=tuple(rows), starts=_starts(rows))


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """Positions of a text's lines beside the reference.

    `partners` maps a line of the reference to its line there; `added` maps a line of the reference to those before it.
    """

    partners: dict[int, int]
    added: dict[int, tuple[int, ...]]


def _plan(reference: Sequence[str], other: Sequence[str]) -> _Plan:
    partners: dict[int, int] = {}
    added: dict[int, tuple[int, ...]] = {}
    for tag, a, b, c, d in _changes(reference, other):
        if tag == "equal":
            partners.update(zip(range(a, b), range(c, d), strict=True))
            continue
        reached = c
        for old, new in _pairs(reference[a:b], other[c:d]):
            partners[a + old] = c + new
            if reached < c + new:
                added[a + old] = tuple(range(reached, c + new))
            reached = c + new + 1
        if reached < d:
            added[b] = tuple(range(reached, d))
    return _Plan(partners=partners, added=added)


def _changes(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """The changed stretches of lines; the common beginning and end are removed first, which is cheap."""
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    yield "equal", 0, head, 0, head
    middle = SequenceMatcher(None, before[head : len(before) - tail], after[head : len(after) - tail])
    for tag, a, b, c, d in middle.get_opcodes():
        yield tag, a + head, b + head, c + head, d + head
    yield "equal", len(before) - tail, len(before), len(after) - tail, len(after)


def _common(before: Sequence[str], after: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))


def _pairs(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of changed lines, in order: the choice with most common words."""
    old, new = [Counter(_WORDS.findall(line)) for line in before], [Counter(_WORDS.findall(line)) for line in after]
    if len(old) * len(new) > _MOST_PAIRS:
        in_order = range(min(len(old), len(new)))
        return [(place, place) for place in in_order if _similarity(old[place], new[place]) >= _ALIKE]
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    alike = [[_similarity(one, other) for other in new] for one in old]
    for i in reversed(range(len(old))):
        for j in reversed(range(len(new))):
            paired = alike[i][j] + best[i + 1][j + 1] if alike[i][j] >= _ALIKE else 0.0
            best[i][j] = max(paired, best[i + 1][j], best[i][j + 1])
    pairs, i, j = [], 0, 0
    while i < len(old) and j < len(new):
        if alike[i][j] >= _ALIKE and best[i][j] == alike[i][j] + best[i + 1][j + 1]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _similarity(one: Counter[str], other: Counter[str]) -> float:
    """Share of common words of two lines, ignoring white space."""
    words = sum(count for word, count in (*one.items(), *other.items()) if not word.isspace())
    shared = sum(min(count, other[word]) for word, count in one.items() if not word.isspace())
    return 2 * shared / words if words else 0.0


def _row(
    reference: Sequence[str], others: Sequence[Sequence[str]], *, place: int, partners: Sequence[int | None]
) -> AlignedRow:
    text = cleaned(reference[place], longest=LONGEST_LINE)
    cells = []
    for other, partner in zip(others, partners, strict=True):
        if partner is None:
            cells.append(Cell(number=None, change=Change.REMOVED))
        elif other[partner] == reference[place]:
            cells.append(Cell(number=partner + 1, text=text))
        else:
            changed = cleaned(other[partner], longest=LONGEST_LINE)
            cells.append(
                Cell(number=partner + 1, text=changed, change=Change.CHANGED, spans=_changed_words(text, changed))
            )
    changes = {cell.change for cell in cells}
    first = next((change for change in (Change.CHANGED, Change.REMOVED) if change in changes), Change.SAME)
    spans = _merged([span for cell in cells if cell.number is not None for span in _changed_words(cell.text, text)])
    return AlignedRow(cells=(Cell(number=place + 1, text=text, change=first, spans=spans), *cells))


def _added(other: Sequence[str], lines: Sequence[int], offset: int) -> Cell:
    if offset >= len(lines):
        return Cell(number=None)
    text = cleaned(other[lines[offset]], longest=LONGEST_LINE)
    return Cell(number=lines[offset] + 1, text=text, change=Change.ADDED)


def _between(after: Cell, before: Cell) -> tuple[tuple[int, int], ...]:
    return _changed_words(after.text, before.text) if after.number is not None else ()


def _changed_words(before: str, after: str) -> tuple[tuple[int, int], ...]:
    """Ranges of `after` whose words are not in `before`; adjacent ones are merged."""
    if before == after:
        return ()
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    starts = [0]
    for word in new:
        starts.append(starts[-1] + len(word))
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    spans = [(starts[c], starts[d]) for tag, _, _, c, d in matcher.get_opcodes() if tag != "equal" and c < d]
    return _merged(spans)


def _merged(spans: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def _starts(rows: Sequence[AlignedRow]) -> tuple[int, ...]:
    return tuple(place for place, row in enumerate(rows) if row.differs and (place == 0 or not rows[place - 1].differs))
