"""Cached descriptions of problem files, so that a list of all problems parses only changed files.

An entry is valid while the size and modification time of its file are unchanged, and while the modules that read and
store descriptions are unchanged, by the hash of their text. A cache that cannot be read or written costs only time.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

import engine.model.problems.case
import engine.model.problems.category
import engine.problem_source
import problems.reading
from engine.atomic_files import write_atomically
from engine.problem_source import ProblemDescription

_READERS = (engine.model.problems.case, engine.model.problems.category, engine.problem_source, problems.reading)


class _Entry(msgspec.Struct, frozen=True):
    size: int
    modified_ns: int
    described: ProblemDescription


class _Kept(msgspec.Struct, frozen=True):
    readers: str
    entries: dict[str, _Entry]


class DescriptionCache:
    """The descriptions of one list. Call `described` for each of its files, then `write`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._readers = _readers_hash()
        self._before = self._read()
        self._now: dict[str, _Entry] = {}

    def described(self, file: Path, read: Callable[[], ProblemDescription]) -> ProblemDescription:
        """The description of a problem file: the cached one, or the result of `read`.

        Raises:
            EngineError: as `read` does.
        """
        try:
            state = file.stat()
        except OSError:
            return read()
        key, stamp = str(file), (state.st_size, state.st_mtime_ns)
        kept = self._before.get(key)
        if kept is None or (kept.size, kept.modified_ns) != stamp:
            kept = _Entry(size=stamp[0], modified_ns=stamp[1], described=read())
        self._now[key] = kept
        return replace(kept.described, file=file)

    def write(self) -> None:
        """Write the descriptions to the cache if any of them is new."""
        if self._now == self._before:
            return
        content = msgspec.json.encode(_Kept(readers=self._readers, entries=self._now), enc_hook=str)
        with contextlib.suppress(OSError):
            write_atomically(self._path, content)

    def _read(self) -> dict[str, _Entry]:
        try:
            kept = msgspec.json.decode(self._path.read_bytes(), type=_Kept, dec_hook=_path_of)
        except (OSError, msgspec.MsgspecError):
            return {}
        return kept.entries if kept.readers == self._readers else {}


def _path_of(kind: type, value: Any) -> Any:  # Any: msgspec requires hooks for types that JSON does not have
    return kind(value)


def _readers_hash() -> str:
    texts = (Path(str(module.__file__)).read_bytes() for module in _READERS)
    return hashlib.sha256(b"\0".join(texts)).hexdigest()
