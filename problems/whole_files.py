"""Files in which results about problems are kept: a reader finds the old content or the new one, never a part."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write the file and the folders above it; the file is replaced only when all of it is on the disk.

    Raises:
        OSError: it cannot be written; the file is unchanged, and nothing else is left in its folder.
    """
    import tempfile  # only for a file that is written: every list of problems imports this module

    path.parent.mkdir(parents=True, exist_ok=True)
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(aside).replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            Path(aside).unlink()
        raise
