"""Data files of a task's inputs: found when a suite is read, and sent when a task is opened.

Their content is parsed in the reference process only.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Iterable, Iterator
from pathlib import Path

from engine.errors import EngineError
from problems.suites.files import is_within

MOST_BYTES = 1 << 30
"""Limit on the bytes of all stored files of one task; the reference process holds copies of them in memory."""
PART_BYTES = 32 << 20
"""Size in bytes of the parts in which a file is read and sent."""

_LFS = b"version https://git-lfs.github.com/spec/"
_MOST_LFS_BYTES = 1024


class StoredFiles:
    """The stored files of one task: `files` are the accepted ones, by the names under which they are sent."""

    def __init__(self, home: Path | None) -> None:
        self._home = home
        self._bytes = 0
        self.files: dict[str, Path] = {}

    def refusal_of(self, paths: Iterable[str]) -> str:
        """The reason why one of these files, relative to the dataset, cannot be used; "" if all were accepted."""
        wanted = list(dict.fromkeys(paths))
        if wanted and importlib.util.find_spec("safetensors") is None:
            return f"{wanted[0]} is read with safetensors: pip install 'kgtui[suites]'"
        found: dict[str, Path] = {}
        for path in wanted:
            file = self._home / path if self._home is not None else Path(path)
            if reason := self._refusal(file):
                return f"{path} {reason}"
            found[stored_name(path)] = file
        added = sum(file.stat().st_size for name, file in found.items() if name not in self.files)
        if self._bytes + added > MOST_BYTES:
            return f"the stored inputs of the task have more than {MOST_BYTES:,} bytes; earlier workloads are kept"
        self._bytes += added
        self.files |= found
        return ""

    def _refusal(self, file: Path) -> str:
        """The reason why this file is not read; "" if it is."""
        try:
            real = file.resolve(strict=True)
            if self._home is None or not is_within(real, self._home):
                return "is outside of the dataset"
            with real.open("rb") as opened:
                head = opened.read(len(_LFS))
        except (OSError, RuntimeError, ValueError) as error:
            return f"cannot be read: {getattr(error, 'strerror', None) or error}"
        if head == _LFS and real.stat().st_size <= _MOST_LFS_BYTES:
            return "is a Git LFS pointer; run `git lfs pull` in the checkout"
        return ""


def stored_name(path: str) -> str:
    """The name under which a file of the dataset is sent."""
    return f"stored/{hashlib.sha256(path.encode()).hexdigest()[:16]}.safetensors"


def parts_of(file: Path) -> Iterator[bytearray]:
    """The content of a file in parts of at most PART_BYTES; one empty part for an empty file.

    Raises:
        EngineError: it cannot be read, or has grown beyond the limit.
    """
    count = 0
    try:
        with file.open("rb") as opened:
            while (part := bytearray(opened.read(PART_BYTES))) or not count:
                count += len(part) or 1
                if count > MOST_BYTES:
                    raise EngineError(
                        f"{file} has grown to more than {MOST_BYTES:,} bytes since the suite was read; run again"
                    )
                yield part
    except OSError as error:
        raise EngineError(f"{file} cannot be read: {error.strerror}; run again") from error


def fingerprint(file: Path) -> tuple[int, int]:
    """Size, and time of the last change in nanoseconds; zeros for a missing file."""
    try:
        state = file.stat()
    except OSError:
        return (0, 0)
    return (state.st_size, state.st_mtime_ns)
