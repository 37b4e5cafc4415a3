"""The addresses that kernels of a replay in host memory see: those of the recorded call, or drawn ones.

A kernel can test bits of an address.  It must not be able to tell a replay from a call by them, so drawn addresses have
the alignment of memory in a worker, and are others in each replay.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from engine.protocol.proof.tape import Tape

_FIRST, _GAP_BYTES = 0x7E00_0000_0000, 1 << 16  # as large and as far apart as those of mapped memory in a process
_PAGE_BYTES, _PAGES = 4096, 1 << 20  # mapped memory, such as an arena, begins at a page
_LINE_BYTES, _LINES = 64, 1 << 10  # tensors begin where a cache line does


def bases_of(tape: Tape, offsets: Sequence[int], draw: Callable[[int], int]) -> list[int]:
    """The address of each storage: the one that the tape claims if all have one, else a drawn one.

    `offsets` are those of the arguments' storages in the arena, in bytes; `draw` gives a random number below another.
    """
    if _are_usable(tape):
        return list(tape.addresses)
    arena = _FIRST + _PAGE_BYTES * draw(_PAGES)
    ends = [offsets[storage.argument] + storage.bytes for storage in tape.storages if storage.argument is not None]
    following = arena + max(ends, default=0) + _GAP_BYTES
    bases = []
    for storage in tape.storages:
        if storage.argument is not None:
            bases.append(arena + offsets[storage.argument])
            continue
        following += -following % _LINE_BYTES + _LINE_BYTES * draw(_LINES)
        bases.append(following)
        following += storage.bytes + _GAP_BYTES
    return bases


def _are_usable(tape: Tape) -> bool:
    """Whether the tape claims an address for each storage, and no two of these overlap."""
    if not tape.storages or len(tape.addresses) != len(tape.storages):
        return False
    placed = zip(tape.addresses, tape.storages, strict=True)
    in_order = sorted((address, address + storage.bytes) for address, storage in placed if storage.bytes)
    return all(end <= following for (_, end), (following, _) in itertools.pairwise(in_order))
