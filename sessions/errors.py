"""Errors of opening or writing a store, each with the next step.

StoreError (engine.errors)
  |- StorePathError      the path cannot be a store: a folder, a file of another program, nothing to read
  |- StoreDamagedError   not an SQLite file, or a broken one; it is never deleted or overwritten
  |- StoreVersionError   written by a newer kgtui, or too old to be read without changing it
  |- StoreLockedError    another process held the write lock for longer than the time-out
  |- StoreReadOnlyError  the file or its folder may not be written
  '- StoreFullError      the disk (or the quota) is full

SQLite's failures are reported apart by their result codes, never by their words.
"""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

from engine.errors import StoreError

MEMORY_NAME = "the store in memory"
ELSEWHERE = "set KGTUI_HOME to another folder"
PRIMARY_CODE_MASK = 0xFF  # the low byte of an extended result code is the kind of failure


class StorePathError(StoreError):
    """The path is not, and cannot become, a session store."""


class StoreDamagedError(StoreError):
    """The file is not an SQLite database, or a damaged one."""


class StoreVersionError(StoreError):
    """The schema of the file is not supported by this version."""


class StoreLockedError(StoreError):
    """Another process held the write lock for longer than the time-out."""


class StoreReadOnlyError(StoreError):
    """The store, or the folder that it is in, is not writable."""


class StoreFullError(StoreError):
    """There is no space left to write to."""


def from_sqlite(error: sqlite3.Error, *, path: Path | None, busy_timeout_s: float) -> StoreError:
    """The store's own error for a failure that SQLite reported; None for `path` is a store in memory."""
    where = MEMORY_NAME if path is None else str(path)
    code = getattr(error, "sqlite_errorcode", None)  # absent on errors that Python's own driver raises
    match None if code is None else code & PRIMARY_CODE_MASK:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreLockedError(
                f"{where}: another process has held it locked for more than {busy_timeout_s:g} s; "
                "close other programs that write to it, then try again"
            )
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
            return damaged(where, reason=str(error))
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return read_only(where)
        case sqlite3.SQLITE_FULL:
            return full(where)
        case sqlite3.SQLITE_CANTOPEN:
            return StorePathError(
                f"{where}: SQLite cannot open or create this file; check the permissions of the file and of its folder"
            )
        case sqlite3.SQLITE_IOERR:
            return StoreError(
                f"{where}: reading or writing failed ({error}); check the disk, "
                "and keep the store on a local file system"
            )
    return StoreError(f"{where}: SQLite refused the request: {error}")


def from_os(error: OSError, *, path: Path) -> StoreError:
    """The store's error for a failure to access the file or to create its folder."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return full(str(path))
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return read_only(str(path))
    return StorePathError(
        f"{path}: cannot create the folder of the session store: {error.strerror} ({error.filename}); {ELSEWHERE}"
    )


def damaged(where: str, *, reason: str) -> StoreDamagedError:
    """The error of a damaged file, with the command that recovers its data; kgtui never deletes a damaged file."""
    return StoreDamagedError(
        f"{where}: not a readable session store ({reason}), left unchanged; move it away with its -wal and -shm "
        "files and start again, or recover it with the .recover command of the sqlite3 shell"
    )


def read_only(where: str) -> StoreReadOnlyError:
    """The error of a read-only file: neither runs nor notes can be stored there."""
    return StoreReadOnlyError(f"{where}: the file or its folder is not writable; make both writable, or {ELSEWHERE}")


def full(where: str) -> StoreFullError:
    """The error of a full disk: only later data was lost."""
    return StoreFullError(
        f"{where}: no space left on the disk; earlier records are kept; free some space, then try again"
    )
