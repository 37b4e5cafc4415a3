"""Texts and binaries of compiled kernels, stored once each under their content hash.

Files, not rows: they are large, immutable and read by other programs.  Nothing is ever overwritten, and nothing is
removed unless a caller states that it is unused.
"""

from __future__ import annotations

import contextlib
import hashlib
from dataclasses import dataclass
from pathlib import Path

from engine.atomic_files import write_atomically
from engine.model import Artefact


@dataclass(frozen=True, kw_only=True)
class ArtefactStore:
    """A folder of files named by the SHA-256 of their content, in subfolders by the first two letters."""

    folder: Path

    def put(self, kind: str, content: bytes) -> Artefact:
        """Store `content` unless it is stored already.

        Raises:
            OSError: the folder cannot be written.
        """
        digest = hashlib.sha256(content).hexdigest()
        path = self._path(digest)
        if not path.exists():
            write_atomically(path, content)  # another process may be storing the same content
        return Artefact(kind=kind, digest=digest, bytes=len(content))

    def read(self, digest: str) -> bytes:
        """The content with this hash.

        Raises:
            FileNotFoundError: it was never stored here, or was deleted.
        """
        return self._path(digest).read_bytes()

    def remove(self, digest: str) -> None:
        """Delete the content with this hash.  Safe to call twice; a file that cannot be deleted stays, without harm."""
        with contextlib.suppress(OSError):
            self._path(digest).unlink()

    def _path(self, digest: str) -> Path:
        return self.folder / digest[:2] / digest[2:]
