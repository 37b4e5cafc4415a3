"""A lock among threads keeps to what `multiprocessing` promises of its own."""

from __future__ import annotations

import threading

import pytest

from engine.worker.semaphores import ThreadSemaphore

RECURSIVE, PLAIN = 0, 1


def test_plain_lock_is_acquired_once() -> None:
    lock = ThreadSemaphore(PLAIN, 1, 1, "name", False)
    assert (lock.acquire(), lock.acquire(False), lock.acquire(True, 0.0), lock._is_zero()) == (True, False, False, True)
    lock.release()
    assert (lock._get_value(), lock.acquire(False)) == (1, True)


def test_recursive_lock_is_reacquired_by_owner_only() -> None:
    lock, others = ThreadSemaphore(RECURSIVE, 1, 1, "name", False), []
    assert (lock.acquire(), lock.acquire(), lock._count()) == (True, True, 2)
    lock.release()
    thread = threading.Thread(target=lambda: others.append(lock.acquire(False)))
    thread.start()
    thread.join()
    assert (others, lock._is_mine()) == ([False], True)


def test_release_of_unheld_semaphore_raises() -> None:
    with pytest.raises(ValueError, match="too many times"):
        ThreadSemaphore(PLAIN, 1, 1, "name", False).release()
    with pytest.raises(AssertionError, match="not owned"):
        ThreadSemaphore(RECURSIVE, 1, 1, "name", False).release()


def test_waiting_thread_gets_the_lock_that_is_released() -> None:
    lock, got = ThreadSemaphore(PLAIN, 1, 1, "name", False), []
    lock.acquire()
    thread = threading.Thread(target=lambda: got.append(lock.acquire(True, 60.0)))
    thread.start()
    lock.release()
    thread.join()
    assert got == [True]
