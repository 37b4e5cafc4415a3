"""The lines of a read-only text, and the matches of a search in them.
Lines are counted from one; if the oldest were dropped, the remaining ones keep their numbers.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from rich.cells import cell_len

from kgtui.highlighting.cleaning import cleaned
from kgtui.highlighting.kinds import TextKind
from kgtui.highlighting.reading import colours_of
from kgtui.highlighting.searching import occurrences

Hit = tuple[int, int]
"""A line and the column in it, from zero."""


class CodeLines:
    """The cleaned text, with its colours and its width in cells."""

    def __init__(self, lines: Iterable[str] = (), *, kind: TextKind = TextKind.PLAIN, longest: int = 0) -> None:
        self.texts: list[str] = []
        self.first = 1
        self.columns = 0
        self._kind = kind
        self.extend(lines, longest=longest)

    @property
    def last(self) -> int:
        """The number of the last line; that of the first if there is none."""
        return self.first + max(0, len(self.texts) - 1)

    def text(self, line: int) -> str:
        """The text of a line."""
        return self.texts[line - self.first]

    def extend(self, lines: Iterable[str], *, longest: int) -> None:
        """Add lines below, each cut to `longest` characters."""
        known = len(self.texts)
        self.texts.extend(cleaned(line, longest=longest) for line in lines)
        self.columns = max(self.columns, max(map(cell_len, self.texts[known:]), default=0))
        self.colours = colours_of(self.texts, self._kind)

    def drop_oldest(self, *, most: int) -> int:
        """Keep at most this many lines; returns the number of dropped ones."""
        dropped = max(0, len(self.texts) - most)
        del self.texts[:dropped]
        self.first += dropped
        if dropped:
            self.colours = colours_of(self.texts, self._kind)
        return dropped


class Hits:
    """Occurrences of a text in lines, and the current one."""

    def __init__(self) -> None:
        self.sought = ""
        self.here: Hit | None = None
        self._places: list[Hit] = []

    def __len__(self) -> int:
        return len(self._places)

    def seek(self, lines: CodeLines, sought: str | None = None) -> None:
        """Find `sought`, or the previous search text, in all lines."""
        self.sought = self.sought if sought is None else sought
        self.here = None
        self._places = []
        self.extend(lines, first=lines.first)

    def extend(self, lines: CodeLines, *, first: int) -> None:
        """Also search the lines from `first` on."""
        self._places += occurrences(self.sought, lines.texts[first - lines.first :], first=first)

    def drop_before(self, line: int) -> None:
        """Remove the matches in lines above this one, which were dropped."""
        self._places = self._places[bisect_left(self._places, (line, 0)) :]

    def on(self, line: int) -> list[Hit]:
        """The matches on a line."""
        return self._places[bisect_left(self._places, (line, 0)) : bisect_left(self._places, (line + 1, 0))]

    def from_line(self, line: int) -> Hit | None:
        """The first match on the line or below, cyclically; None if there is none."""
        return self._at(bisect_left(self._places, (line, 0)))

    def next(self, line: int, step: int) -> Hit | None:
        """The next match from the cursor, or for -1 the previous one, cyclically."""
        here = self.here if self.here and self.here[0] == line else None
        if here in self._places:
            return self._at(self._places.index(here) + step)
        return self._at(bisect_left(self._places, (line, 0)) + min(step, 0))

    def _at(self, place: int) -> Hit | None:
        return self._places[place % len(self._places)] if self._places else None
