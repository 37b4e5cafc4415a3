"""Memory of a worker's calls: the tensors of their arguments, and the place for returned values.

On the CPU that is a file of shared memory, on a device a block that the judge owns; and on a device whose driver shares
no memory between processes, the file again, copied there and back.
"""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator
from pathlib import Path

import torch
from msgspec.structs import replace

from engine import protocol
from engine.clock.returned import (
    copy_out,
    is_plain_tensor,
    kind_of_number,
    spec_of,
    tensor_bytes,
    tensor_of_number,
    values_of,
)
from engine.clock.safe_torch import Base, without_modes
from engine.devices.hardware.device_memory import alone, open_block
from engine.protocol import tensors
from engine.protocol.messages import ReturnedPlace

_OF_THE_MACHINE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO})


class NoRoomError(Exception):
    """The machine has no space for the outputs or the tape of a call, which is not the candidate's fault."""


def write_tape(path: Path, tape: bytes) -> None:
    """Write the tape of a call to a file.

    Raises:
        NoRoomError: the disk is full.
    """
    with _needing_room("the tape"):
        path.write_bytes(tape)


@contextlib.contextmanager
def _needing_room(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in _OF_THE_MACHINE:
            raise
        message = f"{what} could not be stored: {error.strerror}; free some space in /dev/shm or TMPDIR"
        raise NoRoomError(message) from error


class CallMemory:
    """The arena of the current case; the same memory is used again for the same arena."""

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
        """The storages of this arena on the device, with the judge's content."""
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
        """Write the outputs of the entry for the judge; in device memory in the order of the current stream.

        Raises:
            MemoryError: they are more than `most_bytes`, and go to a file.
            NoRoomError: the file cannot grow, since the disk is full.
        """
        values = values_of(returned)
        if spec.handle:
            assert spec.outputs is not None
            specs, _ = copy_out(values, tensors.part(self.block(spec.handle, spec.block_bytes), spec.outputs))
        else:
            self._copy(download=True)
            with _needing_room("the outputs"):
                specs = _write_out(values, Path(path), most_bytes, self._device)
        return tuple(map(self._with_place, specs, values))

    def _with_place(self, spec: protocol.ReturnedSpec, value: object) -> protocol.ReturnedSpec:
        """The spec of a returned value with its place in memory, if it is a tensor."""
        if not is_plain_tensor(value):
            return spec
        assert isinstance(value, torch.Tensor)
        with without_modes():
            strides, begin = tuple(value.stride()), Base.data_ptr(value)
        place = ReturnedPlace(strides=strides)
        for number, storage in enumerate(self._storages):
            offset_bytes = begin - storage.data_ptr()
            if 0 <= offset_bytes < storage.numel():
                place = ReturnedPlace(strides=strides, storage=number, offset_bytes=offset_bytes)
        return replace(spec, place=place)

    def _copy(self, *, download: bool) -> None:
        if self._file is None or self._device.type == "cpu":
            return
        for there, here in zip(self._storages, self._file.storages, strict=True):
            if download:
                here.copy_(there)
            else:
                there.copy_(here)


def _write_out(
    values: tuple[object, ...], path: Path, most_bytes: int, device: torch.device
) -> tuple[protocol.ReturnedSpec, ...]:
    """Write tensors to the file as contiguous bytes, one after another."""
    specs: list[protocol.ReturnedSpec] = []
    offset = 0
    with path.open("wb") as file:
        for given in values:
            number = kind_of_number(given)
            value = tensor_of_number(given, device) if number else given
            if not is_plain_tensor(value):
                specs.append(protocol.ReturnedSpec(type_name=type(value).__name__))
                continue
            assert isinstance(value, torch.Tensor)
            if value.device.type != device.type:
                specs.append(protocol.ReturnedSpec(type_name=f"Tensor on {value.device.type}"))
                continue
            # Uses the base class: a tensor subclass may override methods, which would run here.
            with without_modes():
                content = Base.contiguous(Base.resolve_neg(Base.resolve_conj(Base.cpu(Base.detach(value)))))
                size = tensor_bytes(content)
                if offset + size > most_bytes:
                    raise MemoryError(f"the candidate returned more than {most_bytes} bytes")
                # Of a copy: a tensor shared with numpy cannot be resized any more, and a single element may have any
                # stride.
                copy = Base.clone(content, memory_format=torch.contiguous_format)
                flat = Base.view(Base.view(copy, (-1,)), torch.uint8) if size else torch.empty(0, dtype=torch.uint8)
                raw = Base.numpy(flat)
            file.write(raw.data)
            specs.append(spec_of(value, offset, size, number=number))
            padding = -size % 16  # so that every tensor begins at a multiple of its element's size
            file.write(bytes(padding))
            offset += size + padding
    return tuple(specs)
