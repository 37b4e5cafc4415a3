"""Reading files that an untrusted process may have replaced with something else."""

from __future__ import annotations

import os
import stat
from pathlib import Path

_PIECE_BYTES = 1 << 16


class UntrustedFileError(Exception):
    """The path is not a regular file of an acceptable size."""


def read_untrusted(path: Path, *, max_bytes: int) -> bytes:
    """The content of a regular file that another process wrote; links, pipes and oversize are refused.

    Raises:
        UntrustedFileError: it is missing, not a regular file, or larger than `max_bytes`.
    """
    try:
        # Non-blocking: a pipe in its place would wait for a writer.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise UntrustedFileError(f"{path.name} cannot be read: {error.strerror}") from error
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > max_bytes:
            raise UntrustedFileError(f"{path.name} is not a regular file of at most {max_bytes} bytes")
        content = _read(handle, status.st_size, most_bytes=max_bytes + 1)
    finally:
        os.close(handle)
    if len(content) > max_bytes:
        raise UntrustedFileError(f"{path.name} grew past {max_bytes} bytes while it was read")
    return content


def _read(handle: int, size_bytes: int, *, most_bytes: int) -> bytes:
    """The content of a file of about this size, at most the first bytes.

    A read reserves all the memory that it may need, so none asks for far more than there is.
    """
    pieces: list[bytes] = []
    step, left = size_bytes or _PIECE_BYTES, most_bytes
    while left > 0 and (piece := os.read(handle, min(step, left))):
        pieces.append(piece)
        step, left = _PIECE_BYTES, left - len(piece)
    return b"".join(pieces)
