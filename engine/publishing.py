"""Files of a compiler's Triton cache, copied to a shelf where workers can read and nobody but us can write."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from engine.untrusted import UntrustedFileError, read_untrusted

_MOST_BYTES = 64 << 20
_PLAIN_NAME = re.compile(r"\w[\w.@-]{0,250}")


def publish(names: tuple[str, ...], source: Path, shelf: Path) -> None:
    """Copy these files, each whole or not at all; the names are a stranger's words.

    A file that cannot be copied is left out: the worker compiles it itself then.
    """
    for name in names:
        parts = PurePosixPath(name).parts
        if len(parts) != 2 or not all(map(_PLAIN_NAME.fullmatch, parts)):
            continue
        place = shelf / name
        if place.exists():
            continue  # another compiler made the same; a worker may have it mapped already
        try:
            content = read_untrusted(source / name, max_bytes=_MOST_BYTES)
            place.parent.mkdir(mode=0o755, exist_ok=True)
            unfinished = place.with_name(f"{place.name}.unfinished")
            unfinished.write_bytes(content)
            unfinished.rename(place)
        except (UntrustedFileError, OSError):
            continue
