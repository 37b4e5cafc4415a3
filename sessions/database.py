"""One connection to one store, shared by threads; errors are StoreErrors.

The only module that calls sqlite3.connect.  It must never delete, replace or repair a store, and never write to a
database of another program.  If the file at the path is no longer the open one, it is opened, or created if missing,
since data written to a deleted file is lost.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from engine.errors import StoreError
from sessions.errors import (
    ELSEWHERE,
    PRIMARY_CODE_MASK,
    StorePathError,
    StoreVersionError,
    damaged,
    from_os,
    from_sqlite,
    full,
    read_only,
)
from sessions.tables.migrations import APPLICATION_ID, SCHEMA_VERSION, migrate

Value: TypeAlias = str | bytes | int | float | None
Values: TypeAlias = Mapping[str, Value]

# SQLite's default of 2,000 KiB would let the memory of the workbench grow with its store for hundreds of runs.
_BOUND_PAGE_CACHE = "pragma cache_size = -512"
_WAL_RETRY_S = 0.01
_LOG_INDEX_BYTES = 32 * 1024
_COUNT_TABLES = "select count(*) from sqlite_master where type = 'table'"
_COUNT_OUR_TABLES = "select count(*) from sqlite_master where type = 'table' and name in ('runs', 'events', 'sessions')"


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
        self._file = _identity(path) if path is not None and is_followed else None
        self._log: _Identity | None = None
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
        was_deleted = _identity(path) is None
        path.parent.mkdir(parents=True, exist_ok=True)
        _refuse_what_is_no_file(path, must_exist=False)
        connection = _connection_to_write(path, busy_timeout_s=self._busy_timeout_s)
        try:
            connection.execute("begin immediate")
            moving.arrive(connection)
            connection.execute("commit")
        except BaseException:
            connection.close()
            raise
        self._connection, self._file, self._log, self._has_left = connection, _identity(path), None, False
        moving.arrived(was_deleted=was_deleted)

    def _leave(self, path: Path, moving: Moving) -> None:
        """Close the former file; its write-ahead log may still be at the path, and must not be read into another file.

        Not closed after the new file was opened: both would share the index of the log.
        """
        with contextlib.suppress(sqlite3.Error):  # a file that was overwritten has nothing to keep
            moving.leave(self._connection)
        with contextlib.suppress(sqlite3.Error):
            self._connection.execute("pragma wal_checkpoint(truncate)").fetchone()
        log = _log_of(path)
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()
        self._has_left = True
        left_over = _identity(log)
        if left_over is not None and left_over == self._log and log.stat().st_size:
            log.unlink()

    def _is_other(self, path: Path) -> bool:
        try:
            now = _identity(path)
        except OSError:
            return False  # unknown: the open file is kept
        if self._log is None:
            with contextlib.suppress(OSError):
                self._log = _identity(_log_of(path)) if now == self._file else None
        return now != self._file

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise _explained(error, path=self.path, busy_timeout_s=self._busy_timeout_s) from error
        except OSError as error:
            if self.path is None:
                raise
            raise from_os(error, path=self.path) from error


@dataclass(frozen=True, kw_only=True)
class _Identity:
    """Identity of a file, independent of its name."""

    device: int
    inode: int


def open_file(path: Path, *, is_read_only: bool, busy_timeout_s: float) -> Database:
    """The store at `path`, created or migrated if needed and allowed.

    Raises:
        StoreError: one of the kinds of sessions.errors.
    """
    try:
        _refuse_what_is_no_file(path, must_exist=is_read_only)
        if not is_read_only:
            path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise from_os(error, path=path) from error
    try:
        if is_read_only:
            return _open_to_read(path, busy_timeout_s=busy_timeout_s)
        return _open_to_write(path, busy_timeout_s=busy_timeout_s)
    except sqlite3.Error as error:
        raise _explained(error, path=path, busy_timeout_s=busy_timeout_s) from error


def open_memory() -> Database:
    """A store that lives as long as this process."""
    connection = _connect(":memory:", busy_timeout_s=0)
    migrate(connection)
    connection.execute("pragma foreign_keys = on")
    return Database(connection, path=None, busy_timeout_s=0)


def _open_to_write(path: Path, *, busy_timeout_s: float) -> Database:
    connection = _connection_to_write(path, busy_timeout_s=busy_timeout_s)
    return Database(connection, path=path, busy_timeout_s=busy_timeout_s, is_followed=True)


def _connection_to_write(path: Path, *, busy_timeout_s: float) -> sqlite3.Connection:
    written = [path.parent, path] if path.exists() else [path.parent]
    # Checked first: SQLite opens a read-only file without an error, and fails at the first write.
    if not all(os.access(place, os.W_OK, effective_ids=True) for place in written):
        raise read_only(str(path))
    connection = _connect(f"{path.absolute().as_uri()}?mode=rwc", busy_timeout_s=busy_timeout_s)
    try:
        if _version(connection, path=path) < SCHEMA_VERSION:
            migrate(connection)
        mode = turn_wal_on(connection, patience_s=busy_timeout_s)
        # With a write-ahead log, NORMAL is safe when a process is killed; without one the file could be damaged.
        connection.execute(f"pragma synchronous = {'normal' if mode == 'wal' else 'full'}")
        connection.execute("pragma foreign_keys = on")
        connection.execute(_BOUND_PAGE_CACHE)
    except BaseException:
        connection.close()
        raise
    return connection


def _open_to_read(path: Path, *, busy_timeout_s: float) -> Database:
    uri = path.absolute().as_uri()
    try:
        return _read_only_database(f"{uri}?mode=ro", path=path, busy_timeout_s=busy_timeout_s)
    except sqlite3.OperationalError:
        # A store in a folder that may not be written, or on a full disk, cannot have the index of its log made.
        # If the log is empty, the file alone is the whole store, and can be read as immutable.
        log = _log_of(path)
        can_change = os.access(path.parent, os.W_OK, effective_ids=True) and not _lacks_space(path.parent)
        if can_change or (log.exists() and log.stat().st_size):
            raise
        return _read_only_database(f"{uri}?mode=ro&immutable=1", path=path, busy_timeout_s=busy_timeout_s)


def _read_only_database(uri: str, *, path: Path, busy_timeout_s: float) -> Database:
    connection = _connect(uri, busy_timeout_s=busy_timeout_s)
    try:
        version = _version(connection, path=path)
        if not version:
            raise StorePathError(f"{path}: this file is empty; the first run creates the store in it")
        if version < SCHEMA_VERSION:
            raise StoreVersionError(
                f"{path}: has schema version {version}, this program reads version {SCHEMA_VERSION}; "
                "start the workbench once, which brings it up to date"
            )
        connection.execute(_BOUND_PAGE_CACHE)
    except BaseException:
        connection.close()
        raise
    return Database(connection, path=path, busy_timeout_s=busy_timeout_s)


def _connect(uri: str, *, busy_timeout_s: float) -> sqlite3.Connection:
    connection = sqlite3.connect(
        uri,
        uri=uri != ":memory:",
        timeout=busy_timeout_s,
        isolation_level=None,  # no implicit transactions
        check_same_thread=False,  # Database has its own lock
    )
    connection.row_factory = sqlite3.Row
    return connection


def _identity(path: Path) -> _Identity | None:
    """Identity of the file at this path; None if there is none."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return _Identity(device=found.st_dev, inode=found.st_ino)


def _log_of(path: Path) -> Path:
    """The write-ahead log of a store."""
    return path.with_name(path.name + "-wal")


def _refuse_what_is_no_file(path: Path, *, must_exist: bool) -> None:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        if must_exist:
            raise StorePathError(f"{path}: no session store here; the first run creates one") from None
        return
    if stat.S_ISDIR(mode):
        raise StorePathError(
            f"{path}: a session store is an SQLite file, and this is a folder; move it, or {ELSEWHERE}"
        )
    if not stat.S_ISREG(mode):
        raise StorePathError(
            f"{path}: a session store is an SQLite file, and this is not a regular file; move it, or {ELSEWHERE}"
        )


def _version(connection: sqlite3.Connection, *, path: Path) -> int:
    """The schema version of a kgtui store; 0 for a file without tables.

    Raises:
        StoreError: the tables are another program's, newer than this version, or missing.
    """
    connection.execute("begin")  # one snapshot: another process may be creating the tables
    (application_id,) = connection.execute("pragma application_id").fetchone()
    (version,) = connection.execute("pragma user_version").fetchone()
    (tables,) = connection.execute(_COUNT_TABLES).fetchone()
    (tables_of_ours,) = connection.execute(_COUNT_OUR_TABLES).fetchone()
    connection.execute("commit")
    if tables and application_id != APPLICATION_ID:
        raise StorePathError(f"{path}: is a database of another program, left unchanged; move it, or {ELSEWHERE}")
    if version > SCHEMA_VERSION:
        raise StoreVersionError(
            f"{path}: has schema version {version}, this program knows versions up to {SCHEMA_VERSION}; "
            f"it was left unchanged: update kgtui, or {ELSEWHERE}"
        )
    if version and tables_of_ours != 3:
        raise damaged(str(path), reason="its tables are missing")
    return int(version)


def _explained(error: sqlite3.Error, *, path: Path | None, busy_timeout_s: float) -> StoreError:
    """The error as a StoreError; on a full disk SQLite may report only that one of its files could not be used."""
    code = getattr(error, "sqlite_errorcode", None)  # absent on errors that Python's own driver raises
    is_vague = code is not None and code & PRIMARY_CODE_MASK in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)
    if is_vague and path is not None and _lacks_space(path.parent):
        return full(str(path))
    return from_sqlite(error, path=path, busy_timeout_s=busy_timeout_s)


def _lacks_space(folder: Path) -> bool:
    """Whether there is no space even for the index of a log; False if unknown."""
    try:
        left = os.statvfs(folder)
    except OSError:
        return False
    return left.f_bavail * left.f_frsize < _LOG_INDEX_BYTES


def turn_wal_on(connection: sqlite3.Connection, *, patience_s: float) -> str:
    """The journal mode that the file has now; other than wal where its file system cannot do that."""
    deadline_s = time.monotonic() + patience_s
    while True:
        try:
            (mode,) = connection.execute("pragma journal_mode = wal").fetchone()
            return str(mode)
        except sqlite3.OperationalError as error:
            # SQLite ignores the busy timeout for the change of mode, so waiting is done here.
            is_busy = error.sqlite_errorcode & PRIMARY_CODE_MASK == sqlite3.SQLITE_BUSY
            if not is_busy or time.monotonic() > deadline_s:
                raise
            time.sleep(_WAL_RETRY_S)
