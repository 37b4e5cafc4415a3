"""Reads a file that the user named, whatever is at its path by now.

The only way to open a user's path for reading: never waits for a writer of a pipe, never reads an endless device, never
reads more than the caller allows, and its errors describe what is there instead of a file.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class UserFileError(Exception):
    """The path cannot be read as a file; the message is the reason."""


class MissingFileError(UserFileError):
    """There is nothing at the path."""


class NoFileError(UserFileError):
    """Something other than a regular file is at the path."""


class TooLargeError(UserFileError):
    """The file has more bytes than the caller accepts."""


def read_user_file(path: Path, *, max_bytes: int) -> bytes:
    """The content of a regular file; links are followed.

    Raises:
        UserFileError: it does not exist, may not be read, is not a regular file, or has more than `max_bytes` bytes.
    """
    try:
        # Checked first: opening a device can have side effects.
        require_regular(path.stat())
        # Non-blocking: a pipe or a terminal may replace it between the two calls.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise _described(error) from error
    try:
        status = os.fstat(handle)
        require_regular(status)
        if status.st_size > max_bytes:
            raise _too_large(f"{status.st_size:,}", max_bytes)
        with os.fdopen(handle, "rb", closefd=False) as file:
            content = file.read(max_bytes + 1) or b""  # None if a system file has no data yet
    except OSError as error:
        raise _described(error) from error
    finally:
        os.close(handle)
    if len(content) > max_bytes:
        raise _too_large(f"more than {max_bytes:,}", max_bytes)
    return content


def require_regular(status: os.stat_result) -> None:
    """Raise unless it is a regular file.

    Raises:
        NoFileError: it is something else, which the message names.
    """
    if stat.S_ISREG(status.st_mode):
        return
    kind = next((name for is_kind, name in _KINDS if is_kind(status.st_mode)), "not a regular file")
    raise NoFileError(f"it is {kind}")


def reason_of(error: OSError) -> str:
    """Why the system refused a path, in words that name what to check."""
    match error.errno:
        case errno.ELOOP:
            return "its symbolic links form a loop"
        case errno.ENAMETOOLONG:
            return "its name is too long for this file system"
        case errno.EMFILE | errno.ENFILE:
            return "too many files are open (see `ulimit -n`)"
        case _:
            return error.strerror or str(error)


def _described(error: OSError | ValueError) -> UserFileError:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return MissingFileError("it does not exist")
    return UserFileError(reason_of(error) if isinstance(error, OSError) else "its name contains a null character")


def _too_large(size: str, max_bytes: int) -> TooLargeError:
    return TooLargeError(f"it has {size} bytes, and at most {max_bytes:,} are read")
