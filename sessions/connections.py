"""Connections to the file of a store: its checks before it is opened, its version, its write-ahead log.

The only module that calls sqlite3.connect.  It must never delete, replace or repair a store, and never write to a
database of another program.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from dataclasses import dataclass
from pathlib import Path

from engine.errors import StoreError
from sessions.errors import (
    ELSEWHERE,
    PRIMARY_CODE_MASK,
    StorePathError,
    StoreVersionError,
    damaged,
    from_sqlite,
    full,
    read_only,
)
from sessions.tables.migrations import APPLICATION_ID, SCHEMA_VERSION, migrate

# SQLite's default of 2,000 KiB would let the memory of the workbench grow with its store for hundreds of runs.
_BOUND_PAGE_CACHE = "pragma cache_size = -512"
_WAL_RETRY_S = 0.01
_LOG_INDEX_BYTES = 32 * 1024
_COUNT_TABLES = "select count(*) from sqlite_master where type = 'table'"
_COUNT_OUR_TABLES = "select count(*) from sqlite_master where type = 'table' and name in ('runs', 'events', 'sessions')"


def connection_to_write(path: Path, *, busy_timeout_s: float) -> sqlite3.Connection:
    """A connection to the store at `path`, created or migrated if needed.

    Raises:
        StoreError: it cannot be written, or has no store of ours.
        sqlite3.Error: it cannot be opened.
    """
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


def connection_to_read(path: Path, *, busy_timeout_s: float) -> sqlite3.Connection:
    """A connection that cannot write to the store at `path`.

    Raises:
        StoreError: it has no store of this version.
        sqlite3.Error: it cannot be opened.
    """
    uri = path.absolute().as_uri()
    try:
        return _read_only_connection(f"{uri}?mode=ro", path=path, busy_timeout_s=busy_timeout_s)
    except sqlite3.OperationalError:
        # A store in a folder that may not be written, or on a full disk, cannot have the index of its log made.
        # If the log is empty, the file alone is the whole store, and can be read as immutable.
        log = log_of(path)
        can_change = os.access(path.parent, os.W_OK, effective_ids=True) and not _lacks_space(path.parent)
        if can_change or (log.exists() and log.stat().st_size):
            raise
        return _read_only_connection(f"{uri}?mode=ro&immutable=1", path=path, busy_timeout_s=busy_timeout_s)


def connection_to_memory() -> sqlite3.Connection:
    """A connection to a new store that lives as long as it."""
    connection = _connect(":memory:", busy_timeout_s=0)
    migrate(connection)
    connection.execute("pragma foreign_keys = on")
    return connection


def _read_only_connection(uri: str, *, path: Path, busy_timeout_s: float) -> sqlite3.Connection:
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
    return connection


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


def refuse_what_is_no_file(path: Path, *, must_exist: bool) -> None:
    """Accept a regular file, and a missing one unless it `must_exist`.

    Raises:
        StorePathError: there is something else.
    """
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


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Identity of a file, independent of its name."""

    device: int
    inode: int


def identity_of(path: Path) -> Identity | None:
    """Identity of the file at this path; None if there is none."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return Identity(device=found.st_dev, inode=found.st_ino)


def log_of(path: Path) -> Path:
    """The write-ahead log of a store."""
    return path.with_name(path.name + "-wal")


def as_store_error(error: sqlite3.Error, *, path: Path | None, busy_timeout_s: float) -> StoreError:
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
