"""Files of a compiler's Triton cache, copied to a kernel cache that workers can read and only we can write."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath

from engine.sandbox.untrusted_files import UntrustedFileError, read_untrusted

_MOST_NAMES = 64
_MOST_BYTES = 64 << 20
_PLAIN_NAME = re.compile(r"\w[\w.@-]{0,250}")
_CHOICES = ".autotune.json"


def publish(names: tuple[str, ...], source: Path, cache_folder: Path, *, most_bytes: int = _MOST_BYTES) -> int:
    """Copy the files of one compile into the cache, each whole or not at all; returns the bytes copied.

    File names are untrusted.  A file that cannot be copied is skipped, as are files beyond `most_bytes` or of other
    kinds than a kernel needs: the worker compiles them itself.  Choices of an autotuner are never copied.
    """
    left, made = min(most_bytes, _MOST_BYTES), set[str]()
    for name in names[:_MOST_NAMES]:
        parts = PurePosixPath(name).parts
        if len(parts) != 2 or not all(map(_PLAIN_NAME.fullmatch, parts)) or name.endswith(_CHOICES):
            continue
        place = cache_folder / name
        if place.exists():
            continue  # another compiler made the same file, and a worker may have mapped it
        try:
            content = read_untrusted(source / name, max_bytes=left)
            if parts[0] not in made:
                place.parent.mkdir(mode=0o755, exist_ok=True)
                made.add(parts[0])
            _write(place, content)
        except (UntrustedFileError, OSError):
            continue
        left -= len(content)
    return min(most_bytes, _MOST_BYTES) - left


def _write(place: Path, content: bytes) -> None:
    """Write a new file, which is there whole or not at all."""
    unfinished = place.with_name(f"{place.name}.unfinished")
    handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(handle, rest) :]
    finally:
        os.close(handle)
    unfinished.rename(place)
