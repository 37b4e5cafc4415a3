"""Keys of Triton's cache in processes whose cache no other process reads."""

from __future__ import annotations

import triton
from triton.runtime import cache


def name_by_version() -> None:
    """Have this process and its forks name Triton by its version in cache keys, not by a digest of its files.

    The digest reads all of Triton, which takes 0.5 s in each process that compiles.  A launch on a device looks its
    kernel up under the digest, so this is for processes that compile without one.
    """
    cache.triton_key = lambda: triton.__version__
