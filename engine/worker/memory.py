"""Where a worker finds the tensors of a call, and where it leaves what the entry returned.

On the CPU that is a file of shared memory, on a device a block that the judge owns; and on a device
whose driver shares no memory between processes, the file again, copied there and back.
"""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import torch

from engine import protocol
from engine.clock.safe_torch import Base, without_modes
from engine.devices.hardware.device_memory import alone, open_block
from engine.protocol import tensors

SPLIT_ELEMENTS = 2**31
"""torch copies a larger tensor in several pieces."""
_MOST_RETURNED = 64  # more than any operator returns; the judge compares the count


_OF_THE_MACHINE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO})


_DTYPES_OF_NUMBERS = {bool: torch.bool, int: torch.int64, float: torch.float64, complex: torch.complex128}


class NoRoomError(Exception):
    """The machine has no room for the outputs of a call: no fault of the candidate."""


class CallMemory:
    """The arena of the case being called; the same memory again for the same arena."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._blocks: dict[str, torch.Tensor] = {}
        self._spec: protocol.ArenaSpec | None = None
        self._file: tensors.Arena | None = None
        self._storages: tuple[torch.Tensor, ...] = ()

    def block(self, handle: str, size_bytes: int) -> torch.Tensor:
        """The judge's block behind this handle, opened once.

        Raises:
            DeviceMemoryError: the driver does not share it with us.
        """
        if handle not in self._blocks:
            self._blocks[handle] = open_block(handle, size_bytes, self._device)
        return self._blocks[handle]

    def storages(self, spec: protocol.ArenaSpec) -> tuple[torch.Tensor, ...]:
        """The storages of this arena on the device, with what the judge wrote there."""
        if spec.handle:
            if self._spec != spec:
                content = self.block(spec.handle, spec.block_bytes)
                self._spec, self._file = spec, None
                self._storages = tuple(alone(tensors.part(content, storage)) for storage in spec.storages)
            return self._storages
        if self._spec != spec:
            self._spec, self._file = spec, tensors.Arena(spec)
            here = self._file.storages
            on_cpu = self._device.type == "cpu"
            self._storages = here if on_cpu else tuple(torch.empty_like(part, device=self._device) for part in here)
        self._copy(download=False)
        return self._storages

    def leave(
        self, spec: protocol.ArenaSpec, returned: object, path: str, most_bytes: int
    ) -> tuple[protocol.ReturnedSpec, ...]:
        """Leave what the entry returned for the judge; in device memory in the order of the current stream.

        Raises:
            MemoryError: it is more than `most_bytes`, and goes to a file.
            NoRoomError: the file cannot grow, since the disk is full.
        """
        values = values_of(returned)
        if spec.handle:
            assert spec.outputs is not None
            return copy_out(values, tensors.part(self.block(spec.handle, spec.block_bytes), spec.outputs))[0]
        self._copy(download=True)
        try:
            return _write_out(values, Path(path), most_bytes, self._device)
        except OSError as error:
            if error.errno not in _OF_THE_MACHINE:
                raise
            message = f"the outputs could not be kept: {error.strerror}; free some space in /dev/shm or TMPDIR"
            raise NoRoomError(message) from error

    def _copy(self, *, download: bool) -> None:
        if self._file is None or self._device.type == "cpu":
            return
        for there, here in zip(self._storages, self._file.storages, strict=True):
            if download:
                here.copy_(there)
            else:
                there.copy_(here)


def values_of(returned: object) -> tuple[object, ...]:
    """What an entry returned as a tuple, cut at a count that no operator reaches.

    By the base class: a kind of list may have methods of its own, which would work when they are called here.
    """
    first = slice(_MOST_RETURNED)
    if isinstance(returned, tuple):
        return tuple.__getitem__(returned, first)
    return tuple(list.__getitem__(returned, first)) if isinstance(returned, list) else (returned,)


def copy_out(values: tuple[object, ...], place: torch.Tensor) -> tuple[tuple[protocol.ReturnedSpec, ...], int]:
    """Copy tensors into `place` (uint8), contiguous and 256-byte aligned, without waiting for the device.

    What does not fit is reported and not copied: it cannot have the shape that is expected.  Also how many
    activities that may be on the device.
    """
    numbers = [_kind_of_number(value) for value in values]
    values = tuple(
        _tensor_of(value, place.device) if number else value for value, number in zip(values, numbers, strict=True)
    )
    sizes = [_size_bytes(value) if is_plain_tensor(value) else 0 for value in values]
    placed, _ = tensors.place(sizes)
    specs: list[protocol.ReturnedSpec] = []
    activities = 0
    for value, number, size, spot in zip(values, numbers, sizes, placed, strict=True):
        if not is_plain_tensor(value):
            specs.append(protocol.ReturnedSpec(type_name=type(value).__name__))
            continue
        assert isinstance(value, torch.Tensor)
        if value.device != place.device:
            specs.append(protocol.ReturnedSpec(type_name=f"Tensor on {value.device.type}"))
            continue
        if size and spot.offset + size <= place.numel():
            activities += _copy_one(value, place, spot.offset, size)
        specs.append(_spec(value, spot.offset, size, number=number))
    return tuple(specs), activities


def is_plain_tensor(value: object) -> bool:
    """Whether this is a tensor and not something that only looks like one."""
    return type(value) in (torch.Tensor, torch.nn.Parameter)


def _copy_one(value: torch.Tensor, place: torch.Tensor, offset: int, size: int) -> int:
    """Copy one tensor; an activity for that, and one for each lazy sign or conjugate."""
    with without_modes():
        room = Base.view(Base.view(Base.narrow(place, 0, offset, size), value.dtype), value.shape)
        Base.copy_(room, Base.resolve_neg(Base.resolve_conj(Base.detach(value))))
        return 1 + Base.is_conj(value) + Base.is_neg(value) + Base.numel(value) // SPLIT_ELEMENTS


def _write_out(
    values: tuple[object, ...], path: Path, most_bytes: int, device: torch.device
) -> tuple[protocol.ReturnedSpec, ...]:
    """Write tensors to the file as contiguous bytes, one after another."""
    specs: list[protocol.ReturnedSpec] = []
    offset = 0
    with path.open("wb") as file:
        for given in values:
            number = _kind_of_number(given)
            value = _tensor_of(given, device) if number else given
            if not is_plain_tensor(value):
                specs.append(protocol.ReturnedSpec(type_name=type(value).__name__))
                continue
            assert isinstance(value, torch.Tensor)
            if value.device.type != device.type:
                specs.append(protocol.ReturnedSpec(type_name=f"Tensor on {value.device.type}"))
                continue
            # By the base class: a tensor may have methods of its own, which would work when they are called here.
            with without_modes():
                content = Base.contiguous(Base.resolve_neg(Base.resolve_conj(Base.cpu(Base.detach(value)))))
                size = _size_bytes(content)
                if offset + size > most_bytes:
                    raise MemoryError(f"the candidate returned more than {most_bytes} bytes")
                # Of a copy: memory that numpy has seen can grow no more, and a single element may have any stride.
                copy = Base.clone(content, memory_format=torch.contiguous_format)
                flat = Base.view(Base.view(copy, (-1,)), torch.uint8) if size else torch.empty(0, dtype=torch.uint8)
                raw = Base.numpy(flat)
            file.write(raw.data)
            specs.append(_spec(value, offset, size, number=number))
            padding = -size % 16  # so that every tensor begins at a multiple of its element's size
            file.write(bytes(padding))
            offset += size + padding
    return tuple(specs)


def _kind_of_number(value: object) -> str:
    """The name of the type of a Python number that fits into 64 bits a part; "" of anything else."""
    is_number = type(value) in _DTYPES_OF_NUMBERS and (type(value) is not int or -(2**63) <= value < 2**63)
    return type(value).__name__ if is_number else ""


def _tensor_of(number: Any, device: torch.device) -> torch.Tensor:  # Any: a number of one of four types
    """A 0-d tensor of the widest type of this kind of number."""
    return torch.full((), number, dtype=_DTYPES_OF_NUMBERS[type(number)], device=device)


def _spec(value: torch.Tensor, offset: int, size: int, *, number: str) -> protocol.ReturnedSpec:
    return protocol.ReturnedSpec(
        type_name=number or "Tensor",
        dtype=tensors.dtype_name(value.dtype),
        shape=tuple(value.shape),
        offset=offset,
        bytes=size,
        is_number=bool(number),
    )


def _size_bytes(value: object) -> int:
    assert isinstance(value, torch.Tensor)
    return value.numel() * value.element_size()
