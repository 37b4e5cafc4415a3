"""Returns free memory of the judge's heap to the system.

The allocator of glibc raises its own threshold for mappings with each large block that is freed: the next blocks of
that size come from the heap, which keeps their pages.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable

LARGE_BYTES = 4 << 20
"""Size of a case from which on returning its memory is worth about a millisecond."""


def return_free_memory() -> None:
    """Return free pages to the system, if the allocator supports that."""
    _trim()(0)


@functools.cache
def _trim() -> Callable[[int], object]:
    """malloc_trim of glibc; nothing elsewhere."""
    found: Callable[[int], object] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return found if found is not None else lambda _: 0
