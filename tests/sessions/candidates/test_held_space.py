"""Space for an answer is held before it is paid for, and released for it."""

from __future__ import annotations

import contextlib

import pytest

from sessions import StoreFullError
from sessions.candidates.generation_rows import Limits
from sessions.candidates.held_space import hold_space
from tests.generated import NEW_GENERATION, settlement

LONG = "x" * 100_000


@pytest.fixture
def batch(store, session_id):
    return store.generations.begin_batch(session_id, "{}", Limits())


@pytest.fixture
def disk(store, monkeypatch):
    """Fills the disk of the store up to the space that is held; the release of that space makes room."""

    def set_pages(count):
        store._database.rows(f"pragma max_page_count = {count}")

    def hold(path):
        held = contextlib.ExitStack()
        held.callback(set_pages, 1_000_000)
        return held

    monkeypatch.setattr("sessions.candidates.generations.hold_space", hold)
    return lambda: set_pages(store._database.rows("pragma page_count")[0][0])


def test_paid_answer_is_stored_on_a_full_disk(store, session_id, batch, disk):
    number = store.generations.reserve(session_id, batch, NEW_GENERATION)
    disk()
    store.generations.settle(number, settlement(received=LONG))
    assert [row.received for row in store.generations.of_batch(batch)] == [LONG]


def test_space_is_released_once(store, session_id, batch, disk):
    number = store.generations.reserve(session_id, batch, NEW_GENERATION)
    store.generations.settle(number, settlement())
    disk()
    with pytest.raises(StoreFullError):
        store.generations.begin_batch(session_id, LONG, Limits())


def test_request_without_space_is_not_stored(store, session_id, batch, monkeypatch):
    monkeypatch.setattr("sessions.candidates.generations.hold_space", lambda path: hold_space(path, size_bytes=1 << 60))
    with pytest.raises(StoreFullError, match="no space left on the disk; earlier records are kept; free some space"):
        store.generations.reserve(session_id, batch, NEW_GENERATION)
    assert store.generations.of_batch(batch) == ()


def test_held_space_is_on_disk_and_has_no_name(path):
    with hold_space(path):
        assert list(path.parent.iterdir()) == []
