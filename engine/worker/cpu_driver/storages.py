"""The memory of a launch: the storages behind its tensors, and its arguments in the machine's form."""

from __future__ import annotations

import bisect
import gc
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from engine.clock.safe_torch import Base, without_modes
from engine.machine.ir import Scalar
from engine.machine.memory import Address, Argument, DescriptorArgument, Memory, Storage
from engine.machine.numerics import Array
from engine.worker.cpu_driver.allocations import Allocations
from engine.worker.launches.plain_arguments import plain_number, tensor_of
from engine.worker.launches.records import leaves_of

# Triton accepts arguments of any type: Any throughout this file.

_ELEMENTS = {
    torch.float64: Scalar.F64,
    torch.float32: Scalar.F32,
    torch.float16: Scalar.F16,
    torch.bfloat16: Scalar.BF16,
    torch.int64: Scalar.I64,
    torch.int32: Scalar.I32,
    torch.int16: Scalar.I16,
    torch.complex64: Scalar.F32,
    torch.complex128: Scalar.F64,
}
_PLAIN_TENSORS = (torch.Tensor, torch.nn.Parameter)
_EMPTY_BASE = 1 << 60  # addresses of storages without memory, 512 bytes apart


class LaunchMemory:
    """Collects the storages of a launch; storages that overlap in memory are merged."""

    def __init__(self, allocations: Allocations) -> None:
        self._allocations = allocations
        self._extents: dict[int, tuple[str, int, Scalar]] = {}
        self._empty = 0

    def add(self, name: str, tensor: torch.Tensor) -> int:
        """Include the storage of a tensor; returns the address of the tensor's first element.

        A tensor without elements has no address, whatever storage it views: it gets a storage of 0 bytes.
        """
        with without_modes():
            storage = Base.untyped_storage(tensor)
            start, size, first = storage.data_ptr(), storage.nbytes(), Base.data_ptr(tensor)
            element = _ELEMENTS.get(tensor.dtype, Scalar.I8)
        if not size or not start or not first:
            self._empty += 1
            start, size = _EMPTY_BASE + 512 * self._empty, 0
            first = start
        self._extents.setdefault(start, (name, size, element))
        return first

    def add_foreign(self, name: str, address: int) -> int:
        """Include an address of unknown extent, where only other tensors can be accessed; returns the address."""
        self._extents.setdefault(address, (name, 0, Scalar.I8))
        return address

    def add_living(self) -> None:
        """Include every tensor of this process: the address of any of them may be in an array of pointers."""
        living = [one for one in gc.get_objects() if type(one) in _PLAIN_TENSORS]
        with without_modes():
            for number, tensor in enumerate(living):
                if tensor.device.type == "cpu" and tensor.layout is torch.strided:
                    self.add(f"tensor {number}", tensor)

    def memory(self) -> Memory:
        """All storages, in the order of their addresses."""
        merged: list[tuple[int, str, int, Scalar]] = []
        for start, (name, size, element) in sorted(self._extents.items()):
            if merged and start < merged[-1][0] + merged[-1][2]:
                before = merged[-1]
                stop = max(before[0] + before[2], start + size)
                merged[-1] = (before[0], before[1], stop - before[0], before[3])
            else:
                merged.append((start, name, size, element))
        return Memory([self._storage(*part) for part in merged])

    def _storage(self, start: int, name: str, size: int, element: Scalar) -> Storage:
        data = _bytes_at(start, size)
        written = self._allocations.written_of(start, data, element.bytes)
        return Storage(name=name, data=data, base=start, element=element, written=written)


def arguments_of(
    signature: Mapping[str, Any],
    values: Mapping[str, Any],
    allocations: Allocations,
    others: Mapping[str, torch.Tensor] | None = None,
) -> tuple[tuple[Argument, ...], Memory]:
    """The run-time arguments of a launch in order, without constants, and the memory that they point to.

    `others` are storages that no argument points to, for a kernel that makes pointers of integers: it may reach them
    and all other tensors.
    """
    collected = LaunchMemory(allocations)
    leaves = [leaf for name, kind in signature.items() for leaf in leaves_of(name, kind, values[name])]
    first = [_collect(collected, name, value) for name, value in leaves]
    if others is not None:
        for name, tensor in others.items():
            collected.add(name, tensor)
        collected.add_living()
    memory = collected.memory()
    arguments = tuple(_argument(value, at, memory) for (_, value), at in zip(leaves, first, strict=True))
    return arguments, memory


def _pointed_to(value: Any) -> torch.Tensor | None:
    """The tensor that an argument points to, also where its class computes which; None for other arguments."""
    tensor = tensor_of(value)
    base = getattr(value, "base", None) if tensor is None else tensor
    return base if isinstance(base, torch.Tensor) else None


def _collect(collected: LaunchMemory, name: str, value: Any) -> int | None:
    """Address that an argument points to; None for a number."""
    tensor = _pointed_to(value)
    if tensor is None:
        return collected.add_foreign(name, value.data_ptr()) if hasattr(value, "data_ptr") else None
    return collected.add(name, tensor)


def _argument(value: Any, first: int | None, memory: Memory) -> Argument:
    if first is None:
        number: int | float = plain_number(value)
        return number
    if hasattr(value, "block_shape") and hasattr(value, "strides"):
        return DescriptorArgument(
            base=_address(first, memory),
            shape=tuple(map(plain_number, value.shape)),
            strides=tuple(map(plain_number, value.strides)),
            padding_is_nan=getattr(value, "padding", "zero") == "nan",
            rounds_to_tf32=getattr(value, "round_f32_to_tf32", False) is True,
        )
    return _address(first, memory)


def _address(number: int, memory: Memory) -> Address:
    """The last collected storage that begins at or before an address; there is one."""
    bases = [storage.base for storage in memory.storages]
    place = bisect.bisect_right(bases, number) - 1
    return Address(storage=place, offset=number - bases[place])


def _bytes_at(start: int, size: int) -> Array:
    """The bytes of this process at an address, as an array that writes to them."""
    if not size:
        return np.zeros(0, np.uint8)
    return np.asarray(_Bytes(start, size))


class _Bytes:
    """Memory as numpy's array interface describes it."""

    def __init__(self, start: int, size: int) -> None:
        self.__array_interface__ = {"data": (start, False), "shape": (size,), "typestr": "|u1", "version": 3}
