"""Tensors as raw bytes in shared memory: laid out by the judge, viewed by the worker.

Both children import this, the parent never does.  Layout of an arena: the storages one after another, each at a
multiple of 256 bytes, with at least 256 bytes before, between and behind them.  Those are guard zones: filled with one
byte before a call, and checked after it.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
import torch

from engine import protocol
from engine.model import DType, PlainObject, PointerArray, items_of
from engine.protocol.messages import ObjectSpec
from engine.protocol.objects import parts_given, with_instances

if TYPE_CHECKING:
    from engine.model import Value

_ALIGNMENT_BYTES = 256
_DTYPES: dict[str, torch.dtype] = {str(dtype): getattr(torch, dtype) for dtype in DType}


def dtype_named(name: str) -> torch.dtype:
    """The torch dtype of this name.

    Raises:
        ValueError: it is not one that messages support.
    """
    try:
        return _DTYPES[name]
    except KeyError:
        raise ValueError(f"dtype {name!r} cannot be compared; use one of {', '.join(_DTYPES)}") from None


def dtype_name(dtype: torch.dtype) -> str:
    """The name without its module: "float32"."""
    return str(dtype).removeprefix("torch.")


class Arena:
    """The worker's view of an arena file: `storages[i]` are the bytes of storage i, shared with the file."""

    def __init__(self, spec: protocol.ArenaSpec) -> None:
        self.spec = spec
        handle = os.open(spec.path, os.O_RDWR)
        try:
            self._map = mmap.mmap(handle, max(spec.bytes, 1))
        finally:
            os.close(handle)
        self.storages = tuple(self._bytes(storage) for storage in spec.storages)

    def _bytes(self, storage: protocol.StorageSpec) -> torch.Tensor:
        if storage.bytes == 0:
            return torch.empty(0, dtype=torch.uint8)
        return torch.frombuffer(self._map, dtype=torch.uint8, count=storage.bytes, offset=storage.offset)


class ArenaFile:
    """The judge's side of an arena file: written and read by system calls, never mapped.

    The worker can truncate the file, and reading a mapping past the end of a file kills the reader.
    """

    def __init__(self, spec: protocol.ArenaSpec) -> None:
        self.spec = spec
        self._handle = os.open(spec.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        os.fchmod(self._handle, 0o666)  # the worker may be another user; the folder excludes all others
        os.ftruncate(self._handle, max(spec.bytes, 1))

    def write(self, storages: Sequence[torch.Tensor], *, guard: int) -> None:
        """Write every storage at its offset in the spec, and the byte `guard` into the guard zones."""
        for zone in guard_zones(self.spec):
            _write_all(self._handle, torch.full((zone.bytes,), guard, dtype=torch.uint8), zone.offset)
        for spec, content in zip(self.spec.storages, storages, strict=True):
            _write_all(self._handle, content, spec.offset)

    def read(self) -> list[torch.Tensor]:
        """Private copies of every storage.

        Raises:
            TruncatedError: the file has become shorter than its spec.
        """
        return [_read_all(self._handle, spec) for spec in self.spec.storages]

    def damaged(self, *, guard: int) -> Damage | None:
        """The first guard zone that was written to; None if there is none.

        Raises:
            TruncatedError: the file has become shorter than its spec.
        """
        return first_damage([_read_all(self._handle, zone) for zone in guard_zones(self.spec)], guard=guard)

    def close(self) -> None:
        """Close the file.  Safe to call twice."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


class DeviceArena:
    """The judge's side of an arena in device memory, which it owns."""

    def __init__(self, spec: protocol.ArenaSpec, content: torch.Tensor) -> None:
        self.spec = spec
        self._content = content[: spec.bytes]

    def write(self, storages: Sequence[torch.Tensor], *, guard: int) -> None:
        """Write every storage at its offset in the spec, and the byte `guard` everywhere else."""
        self._content.fill_(guard)
        for spec, content in zip(self.spec.storages, storages, strict=True):
            part(self._content, spec).copy_(content)
        torch.cuda.synchronize()  # the worker's streams are not ordered after ours

    def read(self) -> list[torch.Tensor]:
        """Private copies of every storage."""
        return [part(self._content, spec).clone() for spec in self.spec.storages]

    def outputs(self) -> torch.Tensor:
        """A private copy of the place for outputs."""
        assert self.spec.outputs is not None
        return part(self._content, self.spec.outputs).clone()

    def damaged(self, *, guard: int) -> Damage | None:
        """The first guard zone that was written to; None if there is none."""
        return first_damage([part(self._content, zone) for zone in guard_zones(self.spec)], guard=guard)

    def close(self) -> None:
        """No operation: the block is used for the next case."""


class TruncatedError(Exception):
    """A shared file was truncated by the process that it is shared with."""


@dataclass(frozen=True, kw_only=True)
class Damage:
    """A write to a guard zone: the least number of bytes, and whether nearer to the zone's end.

    Zone n is before storage n; the last of the `zones` has nothing behind it.
    """

    zone: int
    zones: int
    changed_bytes: int
    nearer_to_end: bool


def first_damage(zones: Sequence[torch.Tensor], *, guard: int) -> Damage | None:
    """The damage to the first of these zones, in order, that is not the byte `guard` throughout; else None."""
    if not bool((torch.cat(list(zones)) != guard).any()):  # one synchronisation if no zone is damaged
        return None
    for number, zone in enumerate(zones):
        changed = (zone != guard).nonzero().flatten()
        if changed.numel():
            before, behind = int(changed[0]), zone.numel() - 1 - int(changed[-1])
            return Damage(zone=number, zones=len(zones), changed_bytes=changed.numel(), nearer_to_end=before > behind)
    return None  # intact in the meantime: a writer is still running


def _write_all(handle: int, content: torch.Tensor, offset: int) -> None:
    rest = content.numpy().data.cast("B") if content.numel() else memoryview(b"")
    while rest:
        written = os.pwrite(handle, rest, offset)
        rest, offset = rest[written:], offset + written


def _read_all(handle: int, spec: protocol.StorageSpec) -> torch.Tensor:
    copy = torch.empty(spec.bytes, dtype=torch.uint8)
    rest = copy.numpy().data.cast("B") if spec.bytes else memoryview(b"")
    offset = spec.offset
    while rest:
        count = os.preadv(handle, [rest], offset)
        if count == 0:
            raise TruncatedError("the shared memory of the case was cut short")
        rest, offset = rest[count:], offset + count
    return copy


def lay_out(
    values: Sequence[Value], *, on_cpu: Container[int] = ()
) -> tuple[tuple[protocol.ValueSpec, ...], list[torch.Tensor]]:
    """Specs of these values, and each storage's bytes as uint8 on the device of the storage.

    Tensors at the positions `on_cpu` belong in host memory; their bytes are sent on the device of the others.
    """
    laid_out = _LaidOut()
    specs = tuple(
        msgspec.structs.replace(spec, on_cpu=True)
        if isinstance(spec, protocol.TensorSpec) and place in on_cpu
        else spec
        for place, spec in enumerate(map(laid_out.spec_of, values))
    )
    storages = laid_out.storages
    device = next((storage.device for storage in storages if storage.device.type != "cpu"), torch.device("cpu"))
    return specs, [storage.to(device) for storage in storages]


def place(sizes: Sequence[int], *, first: int = 0) -> tuple[tuple[protocol.StorageSpec, ...], int]:
    """Places for storages of these sizes in bytes, with guard zones around each; and the total bytes.

    The `first` bytes are left empty.
    """
    placed, offset = [], -(-first // _ALIGNMENT_BYTES) * _ALIGNMENT_BYTES + _ALIGNMENT_BYTES
    for size in sizes:
        placed.append(protocol.StorageSpec(offset=offset, bytes=size))
        offset += -(-size // _ALIGNMENT_BYTES) * _ALIGNMENT_BYTES + _ALIGNMENT_BYTES
    return tuple(placed), offset


def guard_zones(spec: protocol.ArenaSpec) -> list[protocol.StorageSpec]:
    """Zones before, between and behind the storages and the place for outputs."""
    zones, begin = [], 0
    for storage in (*spec.storages, *((spec.outputs,) if spec.outputs is not None else ())):
        zones.append(protocol.StorageSpec(offset=begin, bytes=storage.offset - begin))
        begin = storage.offset + storage.bytes
    return [*zones, protocol.StorageSpec(offset=begin, bytes=spec.bytes - begin)]


def part(content: torch.Tensor, spec: protocol.StorageSpec) -> torch.Tensor:
    """The bytes of `content` (uint8) at `spec`."""
    return content[spec.offset : spec.offset + spec.bytes]


def view(spec: protocol.TensorSpec, storage: torch.Tensor) -> torch.Tensor:
    """The tensor of `spec` on these bytes (uint8) and on their device.

    The bytes may be a part of a larger storage, at a multiple of the element's size.
    """
    dtype = dtype_named(spec.dtype)
    typed = torch.empty(0, dtype=dtype, device=storage.device)
    first = storage.storage_offset() // dtype.itemsize + spec.first
    tensor = typed.set_(storage.untyped_storage(), first, spec.shape, spec.strides)
    tensor = torch._conj(tensor) if spec.conjugated else tensor
    return torch._neg_view(tensor) if spec.negated else tensor


def tensors_in(value: Value) -> Iterator[torch.Tensor]:
    """The tensors in an argument, in their order."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, PointerArray):
        yield from value.tensors
    else:
        for item in items_of(value):
            yield from tensors_in(item)


def tensors_given(value: object) -> Iterator[torch.Tensor]:
    """The tensors in an argument as an entry gets it, including those of instances, in the order of its spec."""
    if isinstance(value, torch.Tensor):
        yield value
    else:
        for part in parts_given(value):
            yield from tensors_given(part)


def argument_of(spec: protocol.ValueSpec, storages: Sequence[torch.Tensor]) -> object:
    """The value that `spec` describes, as an entry gets it.

    A PointerArray becomes the addresses of its tensors, a PlainObject an instance of a class of its name.  Addresses
    keep nothing alive: `storages` must outlive the call.
    """
    value = value_of(spec, storages)
    return _addresses(value, storages) if isinstance(value, PointerArray) else with_instances(value)


def host_copies(
    specs: Sequence[protocol.ValueSpec], arguments: Sequence[object], storages: Sequence[torch.Tensor]
) -> tuple[tuple[torch.Tensor, torch.Tensor], ...]:
    """The arguments in host memory, each with the view of a storage that it is a copy of."""
    return tuple(
        (value, view(spec, storages[spec.storage]))
        for spec, value in zip(specs, arguments, strict=True)
        if isinstance(spec, protocol.TensorSpec) and spec.on_cpu and isinstance(value, torch.Tensor)
    )


def _addresses(value: PointerArray, storages: Sequence[torch.Tensor]) -> torch.Tensor:
    """(n,) int64, on the device of the storages."""
    device = storages[0].device if storages else torch.device("cpu")
    return torch.tensor([tensor.data_ptr() for tensor in value.tensors], dtype=torch.int64, device=device)


def value_of(spec: protocol.ValueSpec, storages: Sequence[torch.Tensor]) -> Value:
    """The value of `spec` as functions of a problem get it, tensors as views of `storages`."""
    match spec:
        case protocol.TensorSpec():
            tensor = view(spec, storages[spec.storage])
            return tensor.cpu() if spec.on_cpu else tensor
        case protocol.FloatSpec():
            return float.fromhex(spec.hex)
        case protocol.ComplexSpec():
            return complex(float.fromhex(spec.real), float.fromhex(spec.imaginary))
        case protocol.PointersSpec():
            return PointerArray(tensors=tuple(view(item, storages[item.storage]) for item in spec.items))
        case protocol.DTypeSpec():
            return dtype_named(spec.name)
        case protocol.SequenceSpec():
            items = [value_of(item, storages) for item in spec.items]
            return tuple(items) if spec.is_tuple else items
        case protocol.MappingSpec():
            return {key: value_of(item, storages) for key, item in zip(spec.keys, spec.items, strict=True)}
        case ObjectSpec():
            items = [value_of(item, storages) for item in spec.items]
            return PlainObject(name=spec.name, kind=spec.of_kind, attributes=dict(zip(spec.keys, items, strict=True)))
        case protocol.ScalarSpec():
            return spec.value


class _LaidOut:
    """The storages that specs of values refer to, by their place in `storages`."""

    def __init__(self) -> None:
        self.storages: list[torch.Tensor] = []
        self._numbers: dict[int, int] = {}

    def spec_of(self, value: Value) -> protocol.ValueSpec:
        """The spec of a value, whose storages are added."""
        if isinstance(value, torch.Tensor):
            return self._tensor_spec(value)
        if isinstance(value, torch.dtype):
            return protocol.DTypeSpec(name=dtype_name(value))
        if isinstance(value, float):
            return protocol.FloatSpec(hex=value.hex())
        if isinstance(value, complex):
            return protocol.ComplexSpec(real=value.real.hex(), imaginary=value.imag.hex())
        if isinstance(value, PointerArray):
            return protocol.PointersSpec(items=tuple(map(self._tensor_spec, value.tensors)))
        if isinstance(value, list | tuple):
            return protocol.SequenceSpec(items=tuple(map(self.spec_of, value)), is_tuple=isinstance(value, tuple))
        if isinstance(value, dict):
            return protocol.MappingSpec(keys=tuple(value), items=tuple(map(self.spec_of, value.values())))
        if isinstance(value, PlainObject):
            items = tuple(map(self.spec_of, value.attributes.values()))
            return ObjectSpec(name=value.name, of_kind=value.kind, keys=tuple(value.attributes), items=items)
        return protocol.ScalarSpec(value=value)

    def _tensor_spec(self, tensor: torch.Tensor) -> protocol.TensorSpec:
        storage = tensor.untyped_storage()
        number = self._numbers.get(storage.data_ptr()) if storage.nbytes() else None
        if number is None:
            number = len(self.storages)
            self._numbers[storage.data_ptr()] = number
            self.storages.append(torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(storage))
        return protocol.TensorSpec(
            storage=number,
            dtype=dtype_name(tensor.dtype),
            shape=tuple(tensor.shape),
            strides=tuple(tensor.stride()),
            first=int(tensor.storage_offset()),
            conjugated=tensor.is_conj(),
            negated=tensor.is_neg(),
        )
