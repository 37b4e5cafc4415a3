"""The open files of this process, so that a test can say which ones its own calls left open."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path


def open_files() -> Counter[str]:
    """How many descriptors lead to each file, such as pipe:[4711].

    `open_files() - before` is what was opened since. Counts of descriptors do not compare: objects of earlier tests may
    be collected at any time, and close theirs.
    """
    return Counter(_targets())


def _targets() -> Iterator[str]:
    for descriptor in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # the descriptor of the listing itself is closed again
            yield str(descriptor.readlink())
