"""TTIR that a compiler with the same candidate has made: looked up before the frontend runs.

A file is named by what the frontend gets: the hash under which Triton's own cache finds a compiled kernel, what the
frontend reads of it now, the target and the options.  The folders belong to the parent; a worker can only read them.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from engine.loading.frontend.shared_text import is_plain, restore_folder
from engine.protocol.compiling import published_name

# Triton's sources, targets and options are not typed: they are Any throughout this file.


class SharedModules:
    """The TTIR of one candidate; one per worker.

    Before `read_from` nothing is found, and no specialisation has a key.
    """

    def __init__(self) -> None:
        self._folders: tuple[Path, ...] = ()
        self._workspace: Path | None = None

    def read_from(self, folders: tuple[Path, ...], workspace: Path) -> None:
        """Search these folders from now on; `workspace` is the folder of this worker that has the candidate."""
        if is_plain(workspace):
            self._folders, self._workspace = folders, workspace

    def key_of(self, source: Any, target: Any, options: Any, *, state: str) -> str:
        """The name of a specialisation in this state; "" where nothing is shared, or Triton has no hash for it.

        The source is hashed in any case, as by Triton's own compile: from then on Triton refuses launches once a global
        variable of the kernel has changed, whether a text is found or not.
        """
        try:
            described = f"{source.hash()} {state} {target} {sorted(vars(options).items())}"
        except Exception:  # of the candidate's kernel, for which the frontend raises its own error
            return ""
        if self._workspace is None or not self._folders or not state:
            return ""
        return hashlib.sha256(described.encode()).hexdigest()

    def find(self, key: str) -> str | None:
        """The text by this key, with the names of this worker's files; None if there is none."""
        if not key or self._workspace is None:
            return None
        for folder in self._folders:
            try:
                return restore_folder((folder / published_name(key)).read_text(), self._workspace)
            except OSError:
                continue
        return None
