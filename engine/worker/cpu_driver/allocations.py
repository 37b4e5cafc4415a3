"""Uninitialized memory of a call: storages that the candidate allocated, and which of their bytes were written.

Stores of kernels are known exactly.  An operator of torch that writes to a storage counts as writing all of it.  Other
writes, as by numpy, are detected by content: memory that no longer holds the poison was written.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from torch.multiprocessing.reductions import StorageWeakRef

from engine.clock.safe_torch import Base, without_modes
from engine.machine.numerics import Array, word_of, words


@dataclass(kw_only=True)
class _Allocation:
    """A live storage; `written` has a bool per byte, None until a kernel gets it as an argument."""

    reference: StorageWeakRef
    poison: int
    written: Array | None = None


class Allocations:
    """Uninitialized allocations of the current call, by address."""

    def __init__(self) -> None:
        self._by_address: dict[int, _Allocation] = {}

    def clear(self) -> None:
        """Forget all allocations when a call begins."""
        self._by_address.clear()

    def allocated(self, tensor: torch.Tensor, poison: int) -> None:
        """Record that memory was allocated and filled with the byte `poison`."""
        with without_modes():
            storage = Base.untyped_storage(tensor)
            reference = StorageWeakRef(storage)
            self._by_address[storage.data_ptr()] = _Allocation(reference=reference, poison=poison)

    def written(self, tensors: Iterable[torch.Tensor]) -> None:
        """Record that unknown bytes of these tensors were written."""
        if self._by_address:
            with without_modes():
                for tensor in tensors:
                    self._by_address.pop(Base.untyped_storage(tensor).data_ptr(), None)

    def written_of(self, address: int, data: Array, element_bytes: int) -> Array | None:
        """Which bytes of the storage at `address` were written, for the caller to update; None if all were."""
        allocation = self._alive(address)
        if allocation is None or not data.size or data.size % element_bytes:
            return None
        seen = np.repeat(words(data, element_bytes) != word_of(allocation.poison, element_bytes), element_bytes)
        if allocation.written is None or allocation.written.size != seen.size:
            allocation.written = seen
        else:
            np.logical_or(allocation.written, seen, out=allocation.written)
        return allocation.written

    def _alive(self, address: int) -> _Allocation | None:
        allocation = self._by_address.get(address)
        if allocation is not None and allocation.reference.expired():
            del self._by_address[address]
            return None
        return allocation
