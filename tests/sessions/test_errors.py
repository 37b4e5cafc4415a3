"""Failures of the operating system, which are told apart by their numbers."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path

import pytest

from engine.errors import StoreError
from sessions.errors import (
    StoreDamagedError,
    StoreFullError,
    StoreLockedError,
    StorePathError,
    StoreReadOnlyError,
    from_os,
    from_sqlite,
)

PATH = Path("/data/sessions.db")


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOSPC, StoreFullError),
        (errno.EDQUOT, StoreFullError),
        (errno.EROFS, StoreReadOnlyError),
        (errno.EACCES, StoreReadOnlyError),
        (errno.ENOTDIR, StorePathError),
        (errno.ENAMETOOLONG, StorePathError),
    ],
)
def test_file_system_error_becomes_its_kind(number, kind):
    error = from_os(OSError(number, os.strerror(number), "/data"), path=PATH)
    assert type(error) is kind
    assert str(PATH) in str(error)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (sqlite3.SQLITE_BUSY_SNAPSHOT, StoreLockedError),
        (sqlite3.SQLITE_CORRUPT_INDEX, StoreDamagedError),
        (sqlite3.SQLITE_READONLY_DBMOVED, StoreReadOnlyError),
        (sqlite3.SQLITE_CANTOPEN_ISDIR, StorePathError),
        (sqlite3.SQLITE_FULL, StoreFullError),
        (sqlite3.SQLITE_IOERR_FSYNC, StoreError),
        (sqlite3.SQLITE_ERROR, StoreError),
        (None, StoreError),
    ],
)
def test_sqlite_result_code_becomes_its_kind(code, kind):
    failure = sqlite3.OperationalError("database is locked, full and malformed")
    if code is not None:
        failure.sqlite_errorcode = code
    error = from_sqlite(failure, path=PATH, busy_timeout_s=5.0)
    assert type(error) is kind
    assert str(PATH) in str(error)
