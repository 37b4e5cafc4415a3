"""Disk space that is held while a request is in flight, so that its answer can be stored on a disk that becomes full.

The file has no name, so that the system removes it when the process ends in any way.
"""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from pathlib import Path

from sessions.errors import full

ANSWER_BYTES = 1 << 20
"""For the longest usual answer, its source, and the pages of the indexes."""


def hold_space(path: Path | None, *, size_bytes: int = ANSWER_BYTES) -> contextlib.ExitStack:
    """Space on the disk of the store at `path`, until it is closed; none for a store in memory.

    Raises:
        StoreFullError: there is not enough.
    """
    with contextlib.ExitStack() as stack:
        if path is None:
            return stack.pop_all()
        try:
            file = stack.enter_context(tempfile.TemporaryFile(dir=path.parent))
            os.posix_fallocate(file.fileno(), 0, size_bytes)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise full(str(path)) from error
            # A file system that cannot allocate, or a folder that was deleted: the store reports what it cannot do.
        return stack.pop_all()
