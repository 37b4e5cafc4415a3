"""The storages of a tape on a device: torch moves, and a launcher runs kernels on their addresses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias, overload

import numpy as np
import torch

from engine.errors import UnsupportedError
from engine.machine.numerics import Array
from engine.protocol.proof.tape import Launched, LookedUp, Tape, TapedPlace, TapedView
from engine.replay.execution import LaunchEffects

AddressOf: TypeAlias = Callable[[TapedView], int]
Launch: TypeAlias = Callable[[Launched, AddressOf], LaunchEffects]
_INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


class HostCopies(Sequence[Array]):
    """The bytes of storages on a device, copied to the host when they are indexed."""

    def __init__(self, storages: Sequence[torch.Tensor]) -> None:
        self._storages = storages

    @overload
    def __getitem__(self, index: int) -> Array: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Array]: ...

    def __getitem__(self, index: int | slice) -> Array | Sequence[Array]:
        if isinstance(index, slice):
            return HostCopies(self._storages[index])
        return np.asarray(self._storages[index].cpu().numpy())

    def __len__(self) -> int:
        return len(self._storages)

    def __iter__(self) -> Iterator[Array]:
        return (self[number] for number in range(len(self)))


class DeviceMemory:
    """The storages of one tape: those of `arguments` (uint8), which change in place, and memory of its own.

    `noise` makes the content of memory that no step of the tape has written.  With `given` there is no noise, and these
    storages of the tape's own exist already, by their numbers.
    """

    def __init__(
        self,
        tape: Tape,
        arguments: Sequence[torch.Tensor],
        *,
        launch: Launch,
        noise: torch.Generator,
        given: Mapping[int, torch.Tensor] | None = None,
    ) -> None:
        """Allocate.

        Raises:
            MemoryError: the device does not have this much memory.
        """
        self._device = noise.device
        self._launch, self._noise = launch, noise
        try:
            self.storages = [
                arguments[storage.argument] if storage.argument is not None else self._own(number, storage.bytes, given)
                for number, storage in enumerate(tape.storages)
            ]
        except torch.OutOfMemoryError as error:
            raise MemoryError(str(error)) from error

    @property
    def content(self) -> Sequence[Array]:
        """See `TapeMemory`."""
        return HostCopies(self.storages)

    def view(self, view: TapedView) -> torch.Tensor:
        """The elements of a checked view.

        Raises:
            UnsupportedError: it begins within an element.
        """
        dtype, storage = _dtype(view.dtype), self.storages[view.storage]
        if 0 in view.shape:
            return torch.empty(view.shape, dtype=dtype, device=self._device)
        if view.offset_bytes % dtype.itemsize:
            raise UnsupportedError(f"a view of {view.dtype} that begins at byte {view.offset_bytes}")
        first = storage.storage_offset() // dtype.itemsize + view.offset_bytes // dtype.itemsize
        typed = torch.empty(0, dtype=dtype, device=self._device)
        return typed.set_(storage.untyped_storage(), first, view.shape, view.strides)

    def address_of(self, view: TapedView) -> int:
        """Device address of the first element of a view."""
        return int(self.storages[view.storage].data_ptr()) + view.offset_bytes

    def fill(self, target: TapedView, element: bytes) -> None:
        """See `TapeMemory`."""
        if any(element):
            self.view(target).fill_(torch.frombuffer(bytearray(element), dtype=_dtype(target.dtype)).item())
        else:
            self.view(target).zero_()

    def move(self, target: TapedView, source: TapedView) -> None:
        """See `TapeMemory`."""
        elements = self.view(source)
        self.view(target).copy_(elements.clone() if source.storage == target.storage else elements)

    def look_up(self, step: LookedUp, *, wrap: bool) -> None:
        """See `TapeMemory`."""
        source, positions = _as_integers(self.view(step.source)), self.view(step.positions)
        length = step.source.shape[step.dimension]
        outside = bool(((positions < -length) | (positions >= length)).any())
        if outside and not (wrap and length):
            raise UnsupportedError(f"a look-up at a position outside of a dimension of {length}")
        places = torch.remainder(positions, length).long() if length else positions.long()
        target = _as_integers(self.view(step.target))
        if step.each:
            target.copy_(torch.gather(source, step.dimension, places))
        else:
            target.copy_(torch.index_select(source, step.dimension, places.reshape(-1)).reshape(step.target.shape))

    def put(self, storage: int, data: bytes | None) -> None:
        """See `TapeMemory`."""
        content = self.storages[storage]
        if data is None:
            content.random_(0, 256, generator=self._noise)
        elif data:
            content.copy_(torch.frombuffer(bytearray(data), dtype=torch.uint8))

    def put_words(self, storage: int, words: Sequence[TapedPlace | int]) -> None:
        """See `TapeMemory`."""
        starts = [int(content.data_ptr()) for content in self.storages]
        values = [word if isinstance(word, int) else starts[word.storage] + word.offset_bytes for word in words]
        self.put(storage, np.array(values, np.int64).tobytes())

    def launch(self, step: Launched) -> LaunchEffects:
        """See `TapeMemory`."""
        return self._launch(step, self.address_of)

    def _own(self, number: int, size_bytes: int, given: Mapping[int, torch.Tensor] | None) -> torch.Tensor:
        """Memory of the tape's own: noise; with `given` its content, or uninitialized memory."""
        if given is not None and number in given:
            return given[number]
        content = torch.empty(size_bytes, dtype=torch.uint8, device=self._device)
        return content.random_(0, 256, generator=self._noise) if given is None else content


def _dtype(name: str) -> torch.dtype:
    """The element type of a checked view."""
    dtype: torch.dtype = getattr(torch, name)
    return dtype


def _as_integers(elements: torch.Tensor) -> torch.Tensor:
    """The bits of elements: torch does not support look-ups of every type."""
    integers = _INTEGERS.get(elements.element_size())
    return elements.view(integers) if integers is not None else elements
