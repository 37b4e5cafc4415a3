"""The cache of drawn lines: what it keeps, and that clearing it leaves nothing to the cycle collector."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from kgtui.widgets.text.line_cache import AcyclicCache


class Drawn:
    """A value that weak references can follow."""


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Only reference counting frees anything."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
def test_clearing_frees_entries_without_the_cycle_collector() -> None:
    cache: AcyclicCache[int, Drawn] = AcyclicCache(8)
    for line in range(3):
        cache[line] = Drawn()
    value = cache.get(1)
    assert value is not None
    watched = weakref.ref(value)
    del value
    cache.clear()
    assert (watched(), len(cache)) == (None, 0)


def test_cleared_cache_accepts_entries() -> None:
    cache: AcyclicCache[int, str] = AcyclicCache(2)
    cache[1] = "a"
    cache.clear()
    for line in range(3):
        cache[line] = str(line)
    assert [cache.get(line) for line in range(3)] == [None, "1", "2"]
