"""The storages of a tape: numbered in the order of their first use."""

from __future__ import annotations

import bisect
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch

from engine.clock.safe_torch import Base, without_modes
from engine.protocol.proof.tape import MOST_STORAGES, TapedPlace, TapedStorage, TapedView
from engine.protocol.tensors import dtype_name
from engine.worker.kept_storages import requested_bytes
from engine.worker.operands import dtype_of

_MOST_KEPT_BYTES = 1 << 20  # of one storage; comparing is several times faster than hashing
_empty, _digest = torch.empty, hashlib.blake2b  # bound before a candidate can replace them


class OverfullError(Exception):
    """A call exceeds the limits of a tape; the message has the kind of its content."""


@dataclass(frozen=True, kw_only=True)
class _Known:
    """A storage of the tape and its bytes, kept alive so that its memory is not reused."""

    number: int
    storage: torch.UntypedStorage
    bytes: int


class TapedMemory:
    """The storages of a tape, by the address of their bytes, without guard zones of earlier calls.

    `derived` are the numbers of those whose content may depend on the arguments.  In host memory, content is kept after
    each step that writes it: other code in the process can change it without a step.
    """

    def __init__(self, arguments: Iterable[torch.Tensor]) -> None:
        """`arguments` are the storages of the arena, as tensors of bytes."""
        self.storages: list[TapedStorage] = []
        self._addresses: list[int | None] = []
        self.derived: set[int] = set()
        self._known: dict[int, _Known] = {}
        self._kept: dict[int, tuple[torch.UntypedStorage, bytes]] = {}
        self._empty: int | None = None
        for number, content in enumerate(arguments):
            storage = Base.untyped_storage(content)
            if storage.nbytes():
                self.derived.add(self._add(storage, number))

    @property
    def addresses(self) -> tuple[int, ...]:
        """Where each storage begins in host memory; none if one is on a device."""
        known = tuple(address for address in self._addresses if address is not None)
        return known if len(known) == len(self._addresses) else ()

    def number_of(self, tensor: torch.Tensor) -> int | None:
        """The number of the tensor's storage; None if it is not on the tape."""
        known = self._known.get(Base.untyped_storage(tensor).data_ptr())
        return known.number if known is not None else None

    def is_divided_otherwise(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor's storage overlaps one of the tape without being the same memory as a whole."""
        storage = Base.untyped_storage(tensor)
        start, size = storage.data_ptr(), requested_bytes(storage)
        known = self._known.get(start)
        if known is not None:
            return known.bytes != size
        return any(begin < start + size and start < begin + other.bytes for begin, other in self._known.items())

    def add(self, tensor: torch.Tensor) -> int:
        """The number of a new storage.

        Raises:
            OverfullError: the tape has its maximum number of storages.
        """
        return self._add(Base.untyped_storage(tensor), None)

    def add_empty(self) -> int:
        """The number of the storage of 0 bytes that launches get for tensors without elements.

        Raises:
            OverfullError: the tape has its maximum number of storages.
        """
        if self._empty is None:
            self._empty = self._add(Base.untyped_storage(_empty(0, dtype=torch.uint8)), None)
        return self._empty

    def bytes_of(self, tensor: torch.Tensor) -> bytes:
        """Current bytes of the whole storage of a tensor."""
        return _bytes_of(Base.untyped_storage(tensor))

    def keep(self, numbers: Iterable[int] | None = None) -> None:
        """Keep the content of these storages, or of all, as that of the last step that wrote them."""
        chosen = None if numbers is None else set(numbers)
        for known in self._known.values():
            if (chosen is None or known.number in chosen) and known.storage.device.type == "cpu":
                self._kept[known.number] = known.storage, _summary(known.storage)

    def is_changed(self, number: int) -> bool:
        """Whether the content of a storage is another than the one that was kept."""
        if number not in self._kept:
            return False
        storage, summary = self._kept[number]
        return _summary(storage) != summary

    def covers(self, address: int) -> bool:
        """Whether a storage of the tape has the byte at this address."""
        return any(start <= address < start + known.bytes for start, known in self._known.items())

    def with_places(self, words: Sequence[int]) -> tuple[TapedPlace | int, ...] | None:
        """The words with the place in a storage of the tape for each that is its address; None if none is.

        The first byte behind a storage is a place in it: where an empty tensor may begin.
        """
        starts = sorted(self._known)
        found = [self._place_of(word, starts) for word in words]
        if all(place is None for place in found):
            return None
        return tuple(word if place is None else place for word, place in zip(words, found, strict=True))

    def _place_of(self, address: int, starts: Sequence[int]) -> TapedPlace | None:
        before = bisect.bisect_right(starts, address)
        if not before:
            return None
        start = starts[before - 1]
        known = self._known[start]
        if address > start + known.bytes:
            return None
        return TapedPlace(storage=known.number, offset_bytes=address - start)

    def _add(self, storage: torch.UntypedStorage, argument: int | None) -> int:
        if len(self.storages) == MOST_STORAGES:
            raise OverfullError(f"more than {MOST_STORAGES} pieces of memory")
        number, size = len(self.storages), requested_bytes(storage)
        self.storages.append(TapedStorage(bytes=size, argument=argument))
        self._addresses.append(storage.data_ptr() if storage.device.type == "cpu" else None)
        if size:
            self._known[storage.data_ptr()] = _Known(number=number, storage=storage, bytes=size)
        return number


def _bytes_of(storage: torch.UntypedStorage) -> bytes:
    with without_modes():
        whole = _empty(0, dtype=torch.uint8, device=storage.device)
        whole = Base.set_(whole, storage, 0, (requested_bytes(storage),), (1,))
        # Of a copy: torch does not resize a storage that an array of numpy has viewed.
        return bytes(Base.numpy(Base.cpu(Base.clone(whole))))


def _summary(storage: torch.UntypedStorage) -> bytes:
    """The content of a storage, or its digest where it is large."""
    content = _bytes_of(storage)
    return content if len(content) <= _MOST_KEPT_BYTES else _digest(content).digest()


def view_of(tensor: torch.Tensor, storage: int) -> TapedView:
    """The tensor as a view of the storage of this number."""
    return TapedView(
        storage=storage,
        dtype=dtype_name(dtype_of(tensor)),
        offset_bytes=int(Base.storage_offset(tensor)) * Base.element_size(tensor),
        shape=tuple(map(int, Base.size(tensor))),
        strides=tuple(map(int, Base.stride(tensor))),
    )
