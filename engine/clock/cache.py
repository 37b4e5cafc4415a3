"""The state of the second-level cache before a timed call: emptied or filled by reading, without persisting lines.

A cache that is emptied by writing is full of lines that the timed call has to write back first, which adds to its time;
lines that were only read are dropped at no cost.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import torch

from engine.clock.safe_torch import Base, total, without_modes

_TIMES_THE_CACHE = 3
_PERSISTING_LIMIT = 0x06  # CU_LIMIT_PERSISTING_L2_CACHE_SIZE
_ELEMENT_BYTES = 4
_WORD = torch.int64
_NOT_FORBIDDEN = "persisting cache lines could not be disabled"


class Eviction:
    """Memory of several times the size of the cache; reading it evicts everything else."""

    def __init__(self, device: torch.device, cache_bytes: int) -> None:
        elements = max(1, _TIMES_THE_CACHE * cache_bytes // _ELEMENT_BYTES)
        self._memory = torch.ones(elements, dtype=torch.float32, device=device)
        self._sum = torch.empty((), dtype=torch.float32, device=device)

    def __call__(self) -> None:
        """Read all of it, on the current stream."""
        with without_modes():
            total(self._memory, dim=0, out=self._sum)


def touch(storages: Sequence[torch.Tensor], *, activities: int) -> int:
    """Read these bytes into the cache, on the current stream; returns the most device activities of that.

    `activities` is the maximum for one storage.
    """
    with without_modes():
        for storage in storages:
            words = Base.narrow(storage, 0, 0, Base.numel(storage) // 8 * 8)
            total(Base.view(words, _WORD))
    return activities * len(storages)


def forbid_persistence() -> str:
    """Forbid persisting cache lines in this context and release them; returns the reason for a failure, or "".

    A candidate whose weights persist in the cache would be timed warm in a cold run.
    """
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        statuses = (driver.cuCtxSetLimit(_PERSISTING_LIMIT, ctypes.c_size_t(0)), driver.cuCtxResetPersistingL2Cache())
    except (OSError, AttributeError) as error:
        return f"{_NOT_FORBIDDEN}: {error}"
    return f"{_NOT_FORBIDDEN}: the driver returned {statuses}" if any(statuses) else ""
