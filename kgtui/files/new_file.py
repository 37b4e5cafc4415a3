"""Creates a file of the user's: complete or not at all, and never over an existing one."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from engine.errors import UsageError


def create(
    path: Path, content: str | bytes | Iterable[str], *, shown: str, otherwise: str = "name another FILE"
) -> None:
    """Create the file with its folders; messages contain `shown`, its path, and `otherwise`, what to do instead.

    A text given in pieces is never in memory as a whole.

    Raises:
        UsageError: it exists, or cannot be written; then no partial file is left.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("xb")
    except FileExistsError as error:
        taken = f"{shown} exists and is not overwritten"
        blocked = f"{shown} was not created: {error.filename} is not a folder"
        raise UsageError(f"{taken if path.exists() else blocked}; {otherwise}") from error
    except OSError as error:
        place = "" if error.filename == str(path) else f" ({error.filename})"  # otherwise a folder above it
        raise UsageError(f"{shown} was not created: {error.strerror}{place}; {otherwise}") from error
    try:
        _fill(file, path, content)
    except OSError as error:
        raise UsageError(f"{shown} was not written: {error.strerror}; free some space, then try again") from error


def create_numbered(path: Path, content: bytes) -> Path:
    """Create `softmax.py`, or `softmax_2.py` and so on if that exists; returns the path of the new file.

    Raises:
        OSError: it cannot be written; then no partial file is left.
    """
    place = path
    for number in itertools.count(2):
        with contextlib.suppress(FileExistsError):
            _fill(place.open("xb"), place, content)
            break
        place = path.with_name(f"{path.stem}_{number}{path.suffix}")
    return place


def _fill(file: BinaryIO, path: Path, content: str | bytes | Iterable[str]) -> None:
    """Write the content to the new file at `path`, and close it; after an error the file is removed."""
    pieces = [content] if isinstance(content, str | bytes) else content
    try:
        with file:
            file.writelines(piece if isinstance(piece, bytes) else piece.encode() for piece in pieces)
    except BaseException:
        with contextlib.suppress(OSError):
            path.unlink()
        raise
