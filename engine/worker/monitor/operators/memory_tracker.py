"""Whether memory still holds what the last observed write left there, while a call is recorded.

Unobserved work, by native code, by numpy in memory that it shares with a tensor, through a raw address,
must come back into some tensor.  So the results of torch operators and launches are kept, and compared when
the next one reads them and when the output is returned.  Only in the interpreter, where every launch is
observed: a graph that is replayed on a device is not.  It must never keep memory of a call after that call.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch
import triton.language as tl

from engine.clock.safe_torch import Base, without_modes
from engine.worker.memory import is_plain_tensor

_equal, _ne, _empty = torch.equal, torch.ne, torch.empty  # as they are before there is a candidate
_MOST_BYTES = 256 << 20
_MOST_ELDERS = 1024  # whose content is kept before the next call
_MOST_NUMBERS = 1 << 20
_DIGITS, _MANY_DIGITS = 4, 512  # that a number takes at least; more than sizes and strides of many launches
_TABLES = 2  # of numpy's that a file may have; those that are met later were made for a call


@dataclass(frozen=True, kw_only=True)
class _Kept:
    """The content of a storage; the storage is kept alive, so that its memory is not given to another."""

    storage: torch.UntypedStorage
    content: torch.Tensor


class MemoryTracker:
    """Counts elements that changed without an observed write."""

    def __init__(self) -> None:
        self._kept: dict[int, _Kept] = {}
        self._older_storages: dict[int, torch.UntypedStorage] = {}
        self._bytes = 0
        self._is_on = False
        self._changed = 0
        self._numbers: set[float] = set()
        self._steps: set[float] = set()
        self._last_reported: dict[tuple[str, int], tuple[float, float]] = {}
        self._uneven = 0
        self._strange = 0
        self.overfull = False

    @contextlib.contextmanager
    def of_call(self, arguments: Iterable[object]) -> Iterator[None]:
        """Keep and compare during one call of the entry with these arguments."""
        self._changed, self._is_on = 0, True
        self._numbers.clear()
        self._steps.clear()
        self._last_reported.clear()
        self._uneven = 0
        try:
            with without_modes():
                for storage in list(self._older_storages.values()):  # a thread of the candidate may add to them
                    self._keep(storage)
            self.left(tensors_of(arguments))
            yield
        finally:
            self._is_on = False
            self._kept.clear()
            self._bytes = 0

    def take_changed(self) -> int:
        """How many elements were changed unseen since this was last asked."""
        changed, self._changed = self._changed, 0
        return changed

    def numbers(self) -> int:
        """How many different numbers launches of this call were given: as arguments, by name, by where a view begins.

        Numbers of evenly spaced steps, as the rows of one launch after another have them, are one. A great many of a
        few different ones are digits of others.
        """
        digits = self._uneven // _DIGITS if self._uneven >= _MANY_DIGITS else 0
        return max(min(len(self._numbers), len(self._steps)), digits)

    def taken(self, tensors: Iterable[torch.Tensor]) -> None:
        """Somebody who is seen is about to take these."""
        if not self._is_on:
            return
        with without_modes():
            for tensor in tensors:
                if self._is_on and (storage := _storage_of(tensor)) is not None:
                    self._compare(storage, Base.element_size(tensor))

    def left(self, tensors: Iterable[torch.Tensor]) -> None:
        """Somebody who was seen has written these."""
        if not self._is_on:
            return
        with without_modes():
            for tensor in tensors:
                if self._is_on and (storage := _storage_of(tensor)) is not None:
                    self._keep(storage)

    @contextlib.contextmanager
    def launch(self, values: Iterable[object], kernel: str = "") -> Iterator[None]:
        """A kernel is launched on these arguments within; other writes are ignored, for Triton copies them."""
        values = tuple(values)
        tensors = tuple(tensors_of(values)) if self._is_on else ()
        if self._is_on and len(self._numbers) < _MOST_NUMBERS:
            self._tell(kernel, values, tensors)
        self.taken(tensors)
        was_on, self._is_on = self._is_on, False
        try:
            yield
        finally:
            self._is_on = was_on
            self.left(tensors)

    def made_of(self, source: object) -> None:
        """A tensor was made of this storage, which is strange unless somebody who was seen has made it."""
        if self._is_on and isinstance(source, torch.UntypedStorage) and source.nbytes():
            known = source.data_ptr() in self._kept or source.data_ptr() in self._older_storages
            self._changed += 0 if known else source.nbytes()

    def lose_sight(self) -> None:
        """Unknown memory was written: a kernel made pointers of numbers."""
        with without_modes():
            for kept in list(self._kept.values()):
                self._keep(kept.storage)

    def _tell(self, kernel: str, values: Iterable[object], tensors: Iterable[torch.Tensor]) -> None:
        offsets = [int(Base.storage_offset(tensor)) for tensor in tensors if is_plain_tensor(tensor)]
        for place, number in enumerate((*numbers_of(values), *(one for one in offsets if one))):
            before, step_before = self._last_reported.get((kernel, place), (0, 0))
            step = number - before
            self._last_reported[kernel, place] = number, step
            self._steps.add(step)
            self._numbers.add(number)
            self._uneven += step != step_before

    def _compare(self, storage: torch.UntypedStorage, element_bytes: int) -> None:
        kept = self._kept.get(storage.data_ptr())
        if kept is None:
            self._meet(storage, element_bytes)
            return
        now = _bytes_of(storage)
        if Base.numel(now) != Base.numel(kept.content) or not _equal(now, kept.content):
            self._changed += _differing(now, kept.content, element_bytes)
            self._keep(storage)

    def _meet(self, storage: torch.UntypedStorage, element_bytes: int) -> None:
        """Record memory of unobserved origin: older than the call, or allocated outside of torch."""
        if not storage.resizable():
            self._strange += 1
            self._changed += storage.nbytes() // element_bytes if self._strange > _TABLES else 0
        if len(self._older_storages) < _MOST_ELDERS:
            self._older_storages[storage.data_ptr()] = storage
        else:
            self.overfull = True
        self._keep(storage)

    def _keep(self, storage: torch.UntypedStorage) -> None:
        before = self._kept.pop(storage.data_ptr(), None)
        self._bytes += storage.nbytes() - (Base.numel(before.content) if before is not None else 0)
        if self._bytes > _MOST_BYTES:  # nothing is known of the rest of this call, and of what came before it
            self.overfull, self._is_on = True, False
            self._changed = 0
            return
        self._kept[storage.data_ptr()] = _Kept(storage=storage, content=Base.clone(_bytes_of(storage)))


def tensors_of(values: Iterable[object]) -> Iterator[torch.Tensor]:
    """The tensors among these, also in lists and behind descriptors."""
    for value in values:
        base = getattr(value, "base", value) if not isinstance(value, torch.Tensor) else value
        if isinstance(base, torch.Tensor):
            yield base
        elif isinstance(value, list | tuple):
            yield from tensors_of(value)


def numbers_of(values: Iterable[object]) -> Iterator[float]:
    """The numbers among these, also in what holds several of them, and constants."""
    for value in values:
        plain = getattr(value, "value", value) if type(value) is tl.constexpr else value
        if isinstance(plain, int | float):
            yield plain
        elif isinstance(plain, list | tuple):
            yield from numbers_of(plain)


def _storage_of(tensor: torch.Tensor) -> torch.UntypedStorage | None:
    try:
        storage = Base.untyped_storage(tensor)
        return storage if storage.device.type == "cpu" and storage.nbytes() and storage.data_ptr() else None
    except (RuntimeError, NotImplementedError):
        return None  # it has no memory of its own


def _bytes_of(storage: torch.UntypedStorage) -> torch.Tensor:
    return Base.set_(_empty(0, dtype=torch.uint8), storage, 0, (storage.nbytes(),), (1,))


def _differing(now: torch.Tensor, then: torch.Tensor, element_bytes: int) -> int:
    """How many elements are others; all that are there when the memory has another size."""
    size = Base.numel(now)
    if size != Base.numel(then) or size % element_bytes:
        return max(1, size // element_bytes)
    return int(_ne(now, then).view(-1, element_bytes).any(1).sum())
