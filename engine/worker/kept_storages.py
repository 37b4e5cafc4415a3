"""Storages of a candidate that have a guard zone, with the bytes that it requested.

On a device a verified call puts such a zone behind each new tensor.  It remains part of a storage that outlives the
call, because shrinking it would move its memory; it is not content of the candidate.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.multiprocessing.reductions import StorageWeakRef

_refer: Callable[[torch.UntypedStorage], StorageWeakRef] = StorageWeakRef  # torch leaves both untyped
_is_gone: Callable[[StorageWeakRef], bool] = StorageWeakRef.expired
_kept: dict[int, tuple[StorageWeakRef, int, int]] = {}
"""By its address, each storage with its bytes, with and without the zone."""


def requested_bytes(storage: torch.UntypedStorage) -> int:
    """The bytes of a storage without the guard zone that it may have."""
    total_bytes = storage.nbytes()
    kept, with_zone, requested = _kept.get(storage.data_ptr(), (None, 0, 0))
    return requested if kept is not None and not _is_gone(kept) and total_bytes == with_zone else total_bytes


def keep(storage: torch.UntypedStorage, requested: int) -> None:
    """Record that all bytes behind the first `requested` ones are a guard zone, for as long as the storage exists."""
    for address in [address for address, (kept, *_) in _kept.items() if _is_gone(kept)]:
        del _kept[address]
    _kept[storage.data_ptr()] = _refer(storage), storage.nbytes(), requested


def forget(storage: torch.UntypedStorage) -> None:
    """Record that a storage has no guard zone any more: all of its bytes are content."""
    _kept.pop(storage.data_ptr(), None)
