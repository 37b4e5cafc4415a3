"""Creates a file of the user's: complete or not at all, and never over an existing one."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

from engine.errors import UsageError


def write_new(path: Path, text: str | Iterable[str], *, shown: str, otherwise: str = "name another FILE") -> None:
    """Create the file with its folders; messages contain `shown`, its path, and `otherwise`, what to do instead.

    A text given in pieces is never in memory as a whole.

    Raises:
        UsageError: it exists, or cannot be written; then no partial file is left.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("x", encoding="utf-8")
    except FileExistsError as error:
        taken = f"{shown} exists and is not overwritten"
        blocked = f"{shown} was not created: {error.filename} is not a folder"
        raise UsageError(f"{taken if path.exists() else blocked}; {otherwise}") from error
    except OSError as error:
        place = "" if error.filename == str(path) else f" ({error.filename})"  # otherwise a folder above it
        raise UsageError(f"{shown} was not created: {error.strerror}{place}; {otherwise}") from error
    try:
        with file:
            file.writelines([text] if isinstance(text, str) else text)
    except BaseException as error:
        with contextlib.suppress(OSError):
            path.unlink()
        if not isinstance(error, OSError):
            raise
        raise UsageError(f"{shown} was not written: {error.strerror}; free some space, then try again") from error
