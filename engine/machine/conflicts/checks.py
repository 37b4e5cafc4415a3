"""Which conflicts of a launch are looked for."""

from __future__ import annotations

import msgspec

from engine.machine.conflicts.warps import ONE_WARP, Warps


class ConflictChecks(msgspec.Struct, frozen=True, kw_only=True):
    """The storages that a kernel may write and those that it may read; the rest of them cannot have a conflict.

    In a kernel that `has_barrier`, every atomic orders the accesses before and after it.  Accesses of one program are
    checked against each other if it has several `warps`.
    """

    written: frozenset[int]
    read: frozenset[int]
    has_barrier: bool = True
    warps: Warps = ONE_WARP
