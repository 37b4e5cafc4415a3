"""Free memory goes back to the system where the allocator offers that, and nothing is done elsewhere."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from engine.judge.inputs import heap


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """What a test finds is not kept for the next."""
    heap._trim.cache_clear()
    yield
    heap._trim.cache_clear()


def test_free_memory_is_trimmed_completely(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace(malloc_trim=asked.append))
    heap.return_free_memory()
    assert asked == [0]


def test_other_allocator_is_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace())
    heap.return_free_memory()
