"""The log of a run as rows: long lines are wrapped, and repeated lines are shown once with a count.

Rows are only added, so that the cost is proportional to the new part.  Nothing is lost by folding or wrapping: each row
refers to its whole line.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.cells import cell_len, get_character_cell_size

from engine.model import Stream
from engine.model.events import LogWritten
from kgtui.highlighting.cleaning import harmless

LONGEST = 4_000
_FEWEST_CELLS = 20
_PREFIXES = {Stream.STDOUT: "out ", Stream.STDERR: "err ", Stream.ENGINE: "kgtui "}


class LogRows:
    """The rows of one run's log at one width; `cells` is the width of a row."""

    def __init__(self, *, cells: int) -> None:
        self._cells = max(_FEWEST_CELLS, cells)
        self._last: tuple[Stream, str] | None = None
        self._repeats = 0
        self._lines: list[str] = []

    def add(self, pieces: Iterable[LogWritten]) -> list[str]:
        """The rows of these pieces; repeats of the last line are held back until another line, or the end."""
        rows: list[str] = []
        for piece in pieces:
            for text in map(harmless, piece.text.splitlines()):
                if (piece.stream, text) == self._last:
                    self._repeats += 1
                    continue
                rows += self.end()
                self._last = (piece.stream, text)
                rows += self._of(f"{_PREFIXES[piece.stream]}{text}", indent=len(_PREFIXES[piece.stream]))
        return rows

    def end(self) -> list[str]:
        """The held-back row with the number of repeats of the last line."""
        if self._last is None or not self._repeats:
            return []
        prefix, times = _PREFIXES[self._last[0]], f"{self._repeats:,} times" if self._repeats > 1 else "once"
        self._repeats = 0
        return self._of(f"{' ' * len(prefix)}(repeated {times} more)", indent=len(prefix))

    def line_of(self, row: int) -> str:
        """The whole line of a row; rows count from one, from the first one created."""
        return self._lines[row - 1] if 0 < row <= len(self._lines) else ""

    def _of(self, line: str, *, indent: int) -> list[str]:
        beyond = len(line) - LONGEST
        shown = line if beyond <= 0 else f"{line[:LONGEST]} ... {beyond:,} more characters; y copies the whole line"
        rows = wrapped(shown, cells=self._cells, indent=indent)
        self._lines += [line] * len(rows)
        return rows


def wrapped(text: str, *, cells: int, indent: int) -> list[str]:
    """The text in rows of at most `cells` cells, broken at a nearby space if any; all but the first indented."""
    rows, begin = [], ""
    while len(begin) + len(text) > cells or cell_len(begin + text) > cells:
        end = _fitting(text, cells=cells - len(begin))
        space = text.rfind(" ", end // 2, end + 1)
        if space > 0 and text[:space].strip():
            rows.append(begin + text[:space].rstrip())
            text = text[space + 1 :]
        else:
            rows.append(begin + text[:end])
            text = text[end:]
        begin = " " * indent
    return [*rows, begin + text]


def _fitting(text: str, *, cells: int) -> int:
    """Number of leading characters that fit; at least one."""
    if text[:cells].isascii():
        return cells
    used = 0
    for place, character in enumerate(text):
        used += get_character_cell_size(character)
        if used > cells:
            return max(1, place)
    return len(text)
