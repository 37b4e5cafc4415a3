"""TTIR that another worker with the same candidate has made: looked up before the frontend runs.

A file is named by what the frontend gets: the hash under which Triton's own cache finds a compiled kernel, the target
and the options.  The folders belong to the parent, and a worker can only read them.  Locations name the candidate's
file, which is in another folder in each worker; a shared text has a marker in place of that folder.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

from engine.protocol.compiling import PublishedKernel
from engine.protocol.proof.tape import MOST_MODULE_CHARACTERS

# Triton's sources, targets and options are not typed: they are Any throughout this file.

_MARKER = '"@workspace/'
_PLAIN = re.compile(r"[\w./+@,=-]+", re.ASCII)
"""Folders whose name is the same text in a path and in TTIR, which escapes other characters."""


class SharedModules:
    """The TTIR of one candidate; one per worker.

    Before `read_from` nothing is found, before `collect` nothing is kept.
    """

    def __init__(self) -> None:
        self._folders: tuple[Path, ...] = ()
        self._prefix = ""
        self._collected: dict[str, str] | None = None

    def read_from(self, folders: tuple[Path, ...], workspace: Path) -> None:
        """Search these folders from now on; `workspace` is the folder of this worker that has the candidate."""
        if _PLAIN.fullmatch(str(workspace)):
            self._folders, self._prefix = folders, f'"{workspace}/'

    def collect(self) -> None:
        """Keep what is made here from now on, for `take`."""
        self._collected = {}

    def take(self) -> tuple[PublishedKernel, ...]:
        """What was kept since the last time."""
        kept, self._collected = self._collected or {}, {}
        return tuple(PublishedKernel(key=key, ttir=ttir) for key, ttir in kept.items())

    def key_of(self, source: Any, target: Any, options: Any) -> str:
        """The name of a specialisation; "" where nothing is looked up or kept, or Triton has no hash for it.

        The source is hashed in any case, as by Triton's own compile: from then on Triton refuses launches once a global
        variable of the kernel has changed, with another worker or without.
        """
        try:
            described = f"{source.hash()} {target} {sorted(vars(options).items())}"
        except Exception:  # of the candidate's kernel, for which the frontend raises its own error
            return ""
        if not self._prefix or not (self._folders or self._collected is not None):
            return ""
        return hashlib.sha256(described.encode()).hexdigest()

    def find(self, key: str) -> str | None:
        """The text by this key, with the names of this worker's files; None if there is none."""
        for folder in self._folders if key else ():
            try:
                return (folder / PublishedKernel.filename(key)).read_text().replace(_MARKER, self._prefix)
            except OSError:
                continue
        return None

    def keep(self, key: str, ttir: str) -> None:
        """Keep a text that was made here, if it is collected."""
        if key and self._collected is not None and len(ttir) <= MOST_MODULE_CHARACTERS:
            self._collected[key] = ttir.replace(self._prefix, _MARKER)
