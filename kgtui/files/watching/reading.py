"""Reads a file without assuming that its writer has finished.

Only `os.stat` and one read: nothing here waits, and nothing runs inside an event handler, because reading a watched
file causes events.
"""

from __future__ import annotations

import os
import symtable
import warnings
from pathlib import Path
from typing import TypeAlias

from engine.sandbox.user_files import MissingFileError, read_user_file
from engine.static.source import MAX_SOURCE_BYTES, is_quickly_parsed

MOST_LINKS = 40

Signature: TypeAlias = tuple[int, int, int, int]


def signature_of(path: Path) -> Signature | None:
    """Device, inode, size and time of change in nanoseconds; None if there is no such file.

    Raises:
        OSError: the path exists, but its status cannot be read.
    """
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def read_unchanged(path: Path, signature: Signature) -> bytes | None:
    """The content at `signature`; None if the file changed before, during or after the read.

    Raises:
        UserFileError: it cannot be read, is not a regular file, or is too large for a kernel.
    """
    try:
        # A larger file is refused, since parsing and showing it would take gigabytes and minutes.
        content = read_user_file(path, max_bytes=MAX_SOURCE_BYTES)
    except MissingFileError:
        return None
    return content if signature_of(path) == signature else None


def parses(path: Path, content: bytes) -> bool:
    """True unless this is Python source with a syntax error, or too long to be parsed here."""
    if path.suffix != ".py":
        return True
    if not is_quickly_parsed(content):
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a warning about an invalid escape would appear on the user's screen
            # Not ast.parse: before Python 3.11.8 and 3.12.2 two threads that build syntax trees at once can end in a
            # SystemError (python/cpython#106905), and the engine builds one for the same save.
            symtable.symtable(content.decode("utf-8-sig"), path.name, "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def places_of(path: Path) -> tuple[str, ...]:
    """Paths in events about `path`: itself, and each file that it links to.

    The directories are free of links, since a watch on a link does not report its target.
    """
    places: list[str] = []
    while len(places) < MOST_LINKS:
        place = Path(os.path.realpath(path.parent)) / path.name
        if str(place) in places:
            break
        places.append(str(place))
        try:
            if not place.is_symlink():
                break
            path = place.parent / place.readlink()
        except OSError:  # a name that is too long, or a link removed meanwhile
            break
    return tuple(places)
