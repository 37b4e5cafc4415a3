"""A candidate: one source text for one problem.

Frozen, keyword-only, checked when they are made.  No torch here.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One source text for one problem, as it was when it was saved.

    `folder` is searched for its own imports; None when the text came from no file.  `modules` are names and texts of
    files that a suite puts beside each candidate of a task, and that it may import; the problem has them.
    """

    source: bytes
    problem: str
    filename: str = "kernel.py"
    folder: Path | None = None
    modules: tuple[tuple[str, str], ...] = ()

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the source in hexadecimal: the identity of the candidate."""
        return hashlib.sha256(self.source).hexdigest()
