"""Files that a reader finds with their old content or the new one, never with a part, also if the writer is killed."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def write_atomically(path: Path, content: bytes) -> None:
    """Write the file and the folders above it; the file is replaced only when all of it is on the disk.

    Raises:
        OSError: it cannot be written; the file is unchanged, and nothing else is left in its folder.
    """
    import tempfile  # only for a file that is written: every list of problems imports this module

    path.parent.mkdir(parents=True, exist_ok=True)
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(aside).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(aside).unlink()
        raise
