"""A cache of drawn lines that leaves no reference cycles when it is cleared.
Textual's LRUCache links its entries in a ring, which reference counting does not free.  An editor clears its cache at
each change of its text: the drawn lines would wait for the garbage collector, whose pause delays a frame.
"""

from __future__ import annotations

from typing import TypeVar

from textual.cache import LRUCache

CacheKey = TypeVar("CacheKey")
CacheValue = TypeVar("CacheValue")


class AcyclicCache(LRUCache[CacheKey, CacheValue]):
    """Frees its entries at once when it is cleared."""

    def clear(self) -> None:
        """Remove all entries."""
        for entry in self._cache.values():
            entry.clear()
        super().clear()
