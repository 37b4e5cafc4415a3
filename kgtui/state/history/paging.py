"""The loaded window of a long list: pages are added at one end, and removed at the other.
Entries are only known by their number, which decreases from the top down.
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
    """Entries next to each other in the list; `at_top` and `at_bottom` say whether there is nothing beyond.

    `number` returns the number of an entry.
    """

    number: Callable[[T], int]
    entries: tuple[T, ...] = ()
    at_top: bool = True
    at_bottom: bool = True

    def filled(self, page: tuple[T, ...], *, at_top: bool, at_bottom: bool) -> Window[T]:
        """A window of only this page."""
        return replace(self, entries=page, at_top=at_top, at_bottom=at_bottom)

    def with_below(self, page: tuple[T, ...], *, keep: int) -> Window[T]:
        """The window with older entries at the bottom, shortened at the top to `keep` of the former ones."""
        entries = self.entries + page
        dropped = max(0, len(entries) - max(MOST, keep + len(page)))
        at_top = self.at_top and not dropped
        return replace(self, entries=entries[dropped:], at_top=at_top, at_bottom=len(page) < PAGE)

    def with_above(self, page: tuple[T, ...], *, keep: int) -> Window[T]:
        """The window with newer entries at the top, shortened at the bottom to `keep` of the former ones."""
        entries = page + self.entries
        kept = max(MOST, keep + len(page))
        at_bottom = self.at_bottom and len(entries) <= kept
        return replace(self, entries=entries[:kept], at_top=len(page) < PAGE, at_bottom=at_bottom)

    def without(self, number: int) -> Window[T]:
        """The window without the entry of this number."""
        return replace(self, entries=tuple(one for one in self.entries if self.number(one) != number))

    def with_entry(self, entry: T) -> Window[T]:
        """The window with this entry in place of the one with its number."""
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
