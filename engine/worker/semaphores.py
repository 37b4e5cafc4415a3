"""Locks of `multiprocessing` for a candidate that may not write to the folder of shared memory.

Libraries that launch kernels guard their caches with such locks, which need a file there.  A worker is one process, so
a lock among its threads has the same effect.  A process that it forks would not share it.
"""

from __future__ import annotations

import _multiprocessing  # type: ignore[import-not-found]  # in C, and without a stub
import multiprocessing.synchronize
import threading
import time
from typing import Any

_RECURSIVE = 0  # multiprocessing.synchronize.RECURSIVE_MUTEX


class ThreadSemaphore:
    """The part of `_multiprocessing.SemLock` that `multiprocessing.synchronize` uses, for threads of one process."""

    SEM_VALUE_MAX = _multiprocessing.SemLock.SEM_VALUE_MAX

    def __init__(self, kind: int, value: int, maxvalue: int, name: str, unlink: bool) -> None:
        self.kind, self.maxvalue, self.name, self.handle = kind, maxvalue, name, 0
        self._value = value
        self._changed = threading.Condition()
        self._owner: int | None = None
        self._depth = 0

    def acquire(self, block: bool = True, timeout: float | None = None) -> bool:
        """Acquire one, waiting for at most `timeout`."""
        until_s = None if timeout is None else time.monotonic() + max(0.0, timeout)
        with self._changed:
            if self.kind == _RECURSIVE and self._owner == threading.get_ident():
                self._depth += 1
                return True
            while self._value == 0:
                left_s = None if until_s is None else until_s - time.monotonic()
                if not block or (left_s is not None and left_s <= 0):
                    return False
                self._changed.wait(left_s)
            self._value -= 1
            self._owner, self._depth = threading.get_ident(), self._depth + 1
            return True

    def release(self) -> None:
        """Release one.

        Raises:
            AssertionError: another thread holds the recursive lock.
            ValueError: released more often than acquired.
        """
        with self._changed:
            if self.kind == _RECURSIVE and not self._is_mine():
                raise AssertionError("attempt to release recursive lock not owned by thread")
            self._depth = max(0, self._depth - 1)
            if self.kind == _RECURSIVE and self._depth:
                return
            if self._value >= self.maxvalue:
                raise ValueError("semaphore or lock released too many times")
            self._value += 1
            self._owner = self._owner if self._depth else None
            self._changed.notify()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def _count(self) -> int:
        return self._depth

    def _is_mine(self) -> bool:
        return self._depth > 0 and self._owner == threading.get_ident()

    def _get_value(self) -> int:
        return self._value

    def _is_zero(self) -> bool:
        return self._value == 0

    def _after_fork(self) -> None:
        self._depth = 0


def install() -> None:
    """Replace locks that cannot be created as files by locks among the threads of this process."""
    real = _multiprocessing.SemLock

    def make(*args: Any) -> Any:
        try:
            return real(*args)
        except PermissionError:
            return ThreadSemaphore(*args)

    make.SEM_VALUE_MAX = real.SEM_VALUE_MAX  # type: ignore[attr-defined]  # read as that of the class
    make._rebuild = real._rebuild  # type: ignore[attr-defined]  # as above
    multiprocessing.synchronize._multiprocessing.SemLock = make  # type: ignore[attr-defined]  # in C
