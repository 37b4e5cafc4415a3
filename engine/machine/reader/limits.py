"""Limits on the size of TTIR.

Text beyond a limit is refused, so that hostile text takes bounded time and memory.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Amounts that may be reached but not exceeded."""

    characters: int = 4 * 2**20
    functions: int = 256
    operations: int = 100_000
    nesting: int = 48
    blocks: int = 1024
    rank: int = 16
    elements: int = 2**20
    constant_elements: int = 2**20
    callers: int = 64


DEFAULT_LIMITS = Limits()
