"""A small file that two processes write and read in turns, for the bytes of large tensors.

It has two places.  The sender writes a chunk to one while the receiver reads the other, both by system calls and never
by a mapping, so that the receiver compares only its own copy and a truncated file kills no process.  A byte on the
pipes reports that a chunk is there, and one in the other direction that its place is free again.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

import torch

PLACES = 2
CHUNK_BYTES = 8 << 20


class WindowError(Exception):
    """The path is not a regular file, or the file was truncated."""


class ByteWindow:
    """One end of the file.  Device memory is copied through one chunk of host memory that the driver can read."""

    def __init__(self, path: Path, *, creates: bool = False) -> None:
        """Open the file, or create it if this end `creates` it.

        Raises:
            OSError: it cannot be opened.
            WindowError: it is not a regular file.
        """
        flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | (os.O_CREAT | os.O_EXCL if creates else 0)
        self._handle = os.open(path, flags, 0o600)
        self._staging: torch.Tensor | None = None
        if not stat.S_ISREG(os.fstat(self._handle).st_mode):
            self.close()
            raise WindowError("the file that tensors pass through is not a regular file")

    def write(self, content: torch.Tensor, *, place: int) -> None:
        """Write a chunk (uint8, at most CHUNK_BYTES, on any device) to a place."""
        staged = content if content.device.type == "cpu" else self._stage(content.numel()).copy_(content)
        rest, offset = staged.contiguous().numpy().data.cast("B"), place * CHUNK_BYTES
        while rest:
            written = os.pwrite(self._handle, rest, offset)
            rest, offset = rest[written:], offset + written

    def read(self, target: torch.Tensor, *, place: int) -> None:
        """Fill `target` (contiguous uint8, on any device) from a place.

        Raises:
            WindowError: there are fewer bytes.
        """
        staged = target if target.device.type == "cpu" else self._stage(target.numel())
        rest, offset = staged.numpy().data.cast("B"), place * CHUNK_BYTES
        while rest:
            count = os.preadv(self._handle, [rest], offset)
            if not count:
                raise WindowError("the file that tensors pass through was cut short")
            rest, offset = rest[count:], offset + count
        if staged is not target:
            target.copy_(staged)

    def close(self) -> None:
        """Close the file.  Safe to call twice."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def _stage(self, size: int) -> torch.Tensor:
        """`size` bytes of the chunk in host memory, page-locked if the driver allows that."""
        if self._staging is None:
            self._staging = torch.empty(CHUNK_BYTES, dtype=torch.uint8, device="cpu")
            with contextlib.suppress(RuntimeError):
                self._staging = self._staging.pin_memory()
        return self._staging[:size]
