"""Stored audits: a file with the weaknesses of each problem, by its id.

An audit applies to one version of a problem; a file that has changed since then counts as not audited.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import msgspec

from engine.atomic_files import write_atomically
from engine.model import ProblemId


class _Audit(msgspec.Struct, frozen=True):
    """The weaknesses of one version of a problem."""

    version: str
    weaknesses: tuple[str, ...]


class Audits:
    """The audits in a file; a missing or unreadable file counts as empty."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def _known(self) -> dict[str, _Audit]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, _Audit])
        except (OSError, msgspec.MsgspecError):
            return {}  # written again by the next audit

    def of(self, problem: ProblemId) -> tuple[str, ...]:
        """One sentence for each weakness of a problem; () if it has none, or if this version was not audited."""
        found = self._known.get(_key(problem))
        return found.weaknesses if found is not None and found.version == problem.version else ()

    def of_file(self, source: str, name: str, file: Path) -> tuple[str, ...]:
        """The same as `of`, without loading the problem: a version, if there is one, is the hash of its file."""
        found = self._known.get(f"{source} {name}")
        if found is None or not found.weaknesses:
            return ()
        version = hashlib.sha256(file.read_bytes()).hexdigest() if found.version and file.is_file() else ""
        return found.weaknesses if found.version == version else ()

    def knows(self, source: str, name: str) -> bool:
        """Whether some version of a problem was audited."""
        return f"{source} {name}" in self._known

    def add(self, found: Mapping[ProblemId, tuple[str, ...]]) -> None:
        """Store these audits.

        Raises:
            OSError: the file cannot be written.
        """
        known = {
            **self._known,
            **{_key(problem): _Audit(version=problem.version, weaknesses=texts) for problem, texts in found.items()},
        }
        write_atomically(self._path, msgspec.json.encode(known))
        self.__dict__["_known"] = known


def audits_beside(descriptions: Path) -> Audits:
    """The audits file in the folder of the file of descriptions."""
    return Audits(descriptions.with_name("audits.json"))


def _key(problem: ProblemId) -> str:
    return f"{problem.source} {problem.name}"
