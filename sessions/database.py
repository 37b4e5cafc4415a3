"""One connection to one store, shared by threads; errors are StoreErrors.

If the file at the path is no longer the open one, it is opened, or created if missing, since data written to a deleted
file is lost.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol, TypeAlias

from sessions.connections import (
    Identity,
    as_store_error,
    connection_to_memory,
    connection_to_read,
    connection_to_write,
    identity_of,
    log_of,
    refuse_what_is_no_file,
)
from sessions.errors import from_os

Value: TypeAlias = str | bytes | int | float | None
Values: TypeAlias = Mapping[str, Value]


class Moving(Protocol):
    """Interface for moving content when the file at the path was replaced."""

    def leave(self, connection: sqlite3.Connection) -> None:
        """Read from the former file the rows that are kept."""

    def arrive(self, connection: sqlite3.Connection) -> None:
        """Write these rows to the new file, inside a transaction."""

    def arrived(self, *, was_deleted: bool) -> None:
        """The new file is in use; it did not exist if the former one `was_deleted`."""


class Database:
    """A connection used by one thread at a time.

    With `is_followed` it is opened again when the file at the path is no longer the one that was opened.
    """

    def __init__(
        self, connection: sqlite3.Connection, *, path: Path | None, busy_timeout_s: float, is_followed: bool = False
    ) -> None:
        self.path = path
        self.moving: Moving | None = None
        self._connection = connection
        self._busy_timeout_s = busy_timeout_s
        self._lock = threading.RLock()
        self._file = identity_of(path) if path is not None and is_followed else None
        self._log: Identity | None = None
        self._has_left = False

    @property
    def is_displaced(self) -> bool:
        """Whether the file at the path is no longer the open one."""
        return self._has_left or (self._file is not None and self.path is not None and self._is_other(self.path))

    def rows(self, statement: str, values: Values | None = None) -> list[sqlite3.Row]:
        """Every row of a query.

        Raises:
            StoreError: the store could not be read.
        """
        with self._lock, self._explained():
            self._follow()
            return self._connection.execute(statement, values or {}).fetchall()

    def change_number(self) -> int:
        """SQLite's data version: it changes when another connection writes to the file.

        Raises:
            StoreError: the store could not be read.
        """
        return int(self.rows("pragma data_version")[0][0])

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Hold the write lock for the block: all of its statements are kept, or none.

        Raises:
            StoreError: the lock could not be had, or a statement or the commit failed.
        """
        with self._lock, self._explained():
            self._follow()
            # Immediate, since a deferred transaction that has read cannot wait for the write lock.
            self._connection.execute("begin immediate")
            try:
                yield self._connection
                self._connection.execute("commit")
            except BaseException:
                if self._connection.in_transaction:
                    with contextlib.suppress(sqlite3.Error):  # the first failure is the one to report
                        self._connection.execute("rollback")
                raise

    def compact(self) -> bool:
        """Rewrite the file without unused space; whether it has shrunk already.
        While another process reads it, it shrinks only when the last process closes it.

        Raises:
            StoreError: another process writes to it, or there is no room for the copy that this takes.
        """
        with self._lock, self._explained():
            self._connection.execute("vacuum")
            (is_busy, _, _) = self._connection.execute("pragma wal_checkpoint(truncate)").fetchone()
        return not is_busy

    def close(self) -> None:
        """Close the connection.  Safe to call twice."""
        with self._lock, self._explained():
            self._file, self._has_left = None, False
            self._connection.close()

    def follow(self) -> None:
        """Open the file at the path if it is another one than the open one.

        Raises:
            StoreError: that one cannot be used; the next call tries again.
        """
        with self._lock, self._explained():
            self._follow()

    def _follow(self) -> None:
        """Open the file at the path if it is another one than the open one."""
        path, moving = self.path, self.moving
        if path is None or moving is None or self._file is None:
            return
        if not self._has_left:
            if self._connection.in_transaction or not self._is_other(path):
                return
            self._leave(path, moving)
        was_deleted = identity_of(path) is None
        path.parent.mkdir(parents=True, exist_ok=True)
        refuse_what_is_no_file(path, must_exist=False)
        connection = connection_to_write(path, busy_timeout_s=self._busy_timeout_s)
        try:
            connection.execute("begin immediate")
            moving.arrive(connection)
            connection.execute("commit")
        except BaseException:
            connection.close()
            raise
        self._connection, self._file, self._log, self._has_left = connection, identity_of(path), None, False
        moving.arrived(was_deleted=was_deleted)

    def _leave(self, path: Path, moving: Moving) -> None:
        """Close the former file; its write-ahead log may still be at the path, and must not be read into another file.

        Not closed after the new file was opened: both would share the index of the log.
        """
        with contextlib.suppress(sqlite3.Error):  # a file that was overwritten has nothing to keep
            moving.leave(self._connection)
        with contextlib.suppress(sqlite3.Error):
            self._connection.execute("pragma wal_checkpoint(truncate)").fetchone()
        log = log_of(path)
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()
        self._has_left = True
        left_over = identity_of(log)
        if left_over is not None and left_over == self._log and log.stat().st_size:
            log.unlink()

    def _is_other(self, path: Path) -> bool:
        try:
            now = identity_of(path)
        except OSError:
            return False  # unknown: the open file is kept
        if self._log is None:
            with contextlib.suppress(OSError):
                self._log = identity_of(log_of(path)) if now == self._file else None
        return now != self._file

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise as_store_error(error, path=self.path, busy_timeout_s=self._busy_timeout_s) from error
        except OSError as error:
            if self.path is None:
                raise
            raise from_os(error, path=self.path) from error


def open_file(path: Path, *, is_read_only: bool, busy_timeout_s: float) -> Database:
    """The store at `path`, created or migrated if needed and allowed.

    Raises:
        StoreError: one of the kinds of sessions.errors.
    """
    try:
        refuse_what_is_no_file(path, must_exist=is_read_only)
        if not is_read_only:
            path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise from_os(error, path=path) from error
    try:
        open_connection = connection_to_read if is_read_only else connection_to_write
        connection = open_connection(path, busy_timeout_s=busy_timeout_s)
        return Database(connection, path=path, busy_timeout_s=busy_timeout_s, is_followed=not is_read_only)
    except sqlite3.Error as error:
        raise as_store_error(error, path=path, busy_timeout_s=busy_timeout_s) from error


def open_memory() -> Database:
    """A store that lives as long as this process."""
    return Database(connection_to_memory(), path=None, busy_timeout_s=0)
