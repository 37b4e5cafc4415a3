"""The part of a long list that is in memory: pages come at either end, and go at the other.

Knows nothing of what is listed but its number, which falls from the top down.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

PAGE = 100
MOST = 3 * PAGE

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Window(Generic[T]):
    """Entries next to each other in the list; `at_top` and `at_bottom` are whether there is nothing beyond.

    `number` returns the number of an entry.
    """

    number: Callable[[T], int]
    entries: tuple[T, ...] = ()
    at_top: bool = True
    at_bottom: bool = True

    def filled(self, page: tuple[T, ...], *, at_top: bool, at_bottom: bool) -> Window[T]:
        """This page and nothing else."""
        return replace(self, entries=page, at_top=at_top, at_bottom=at_bottom)

    def with_below(self, page: tuple[T, ...], *, keep: int) -> Window[T]:
        """Older entries at the bottom; of the newest, the first `keep` entries from the end on remain."""
        entries = self.entries + page
        dropped = max(0, len(entries) - max(MOST, keep + len(page)))
        at_top = self.at_top and not dropped
        return replace(self, entries=entries[dropped:], at_top=at_top, at_bottom=len(page) < PAGE)

    def with_above(self, page: tuple[T, ...], *, keep: int) -> Window[T]:
        """Newer entries at the top; of the oldest, those go that are beyond the first `keep` of what there was."""
        entries = page + self.entries
        kept = max(MOST, keep + len(page))
        at_bottom = self.at_bottom and len(entries) <= kept
        return replace(self, entries=entries[:kept], at_top=len(page) < PAGE, at_bottom=at_bottom)

    def without(self, number: int) -> Window[T]:
        """Without the entry of this number."""
        return replace(self, entries=tuple(one for one in self.entries if self.number(one) != number))

    def with_entry(self, entry: T) -> Window[T]:
        """This entry in place of what its number had."""
        number = self.number(entry)
        return replace(self, entries=tuple(entry if self.number(one) == number else one for one in self.entries))

    def find(self, number: int) -> T | None:
        """The entry of this number."""
        return next((one for one in self.entries if self.number(one) == number), None)

    @property
    def newest(self) -> int | None:
        """The number at the top."""
        return self.number(self.entries[0]) if self.entries else None

    @property
    def oldest(self) -> int | None:
        """The number at the bottom."""
        return self.number(self.entries[-1]) if self.entries else None
