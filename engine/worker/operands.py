"""Facts about the tensors that a recorded operator takes: their addresses and properties.

A candidate may replace the methods of torch.Tensor; these are methods of its base class, which is immutable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch

elements_of = torch._C.TensorBase.numel
dtype_of, is_meta = torch._C.TensorBase.dtype.__get__, torch._C.TensorBase.is_meta.__get__  # type: ignore[attr-defined]  # in C
device_of = torch._C.TensorBase.device.__get__
_strided, _layout = torch.strided, torch._C.TensorBase.layout.__get__  # type: ignore[attr-defined]  # in C
_storage, _offset = torch._C.TensorBase.untyped_storage, torch._C.TensorBase.storage_offset
_size, _stride = torch._C.TensorBase.size, torch._C.TensorBase.stride


def has_memory(tensor: torch.Tensor) -> bool:
    """Whether the elements of a tensor are in one storage: not on the meta device, and not of a sparse layout."""
    return not is_meta(tensor) and is_strided(tensor)


def is_strided(tensor: torch.Tensor) -> bool:
    """Whether the elements of a tensor are in memory by strides, as all but those of sparse layouts are."""
    return _layout(tensor) is _strided


def tensors_in(values: Iterable[object]) -> Iterator[torch.Tensor]:
    """The tensors among the arguments or results of an operator, also in lists and dictionaries."""
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from tensors_in(value)
        elif isinstance(value, dict):
            yield from tensors_in(value.values())


def are_booleans(tensors: Iterable[torch.Tensor]) -> bool:
    """Whether each of them holds booleans."""
    return all(dtype_of(tensor) is torch.bool for tensor in tensors)


def are_integers(tensors: Iterable[torch.Tensor]) -> bool:
    """Whether each of them holds whole numbers."""
    every = tuple(tensors)
    return bool(every) and not have_fractions(every) and torch.bool not in map(dtype_of, every)


def have_fractions(tensors: Iterable[torch.Tensor]) -> bool:
    """Whether any of them holds floating-point or complex numbers."""
    return any(dtype.is_floating_point or dtype.is_complex for dtype in map(dtype_of, tensors))


def address_of(tensor: torch.Tensor) -> int:
    """Address of the first byte of a tensor's memory; 0 without memory."""
    try:
        return int(_storage(tensor).data_ptr())
    except (RuntimeError, NotImplementedError):
        return 0


def are_one(tensor: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether these are the same elements of the same memory, so that a copy of one to the other changes nothing."""
    if type(tensor) is not torch.Tensor or type(other) is not torch.Tensor or not address_of(tensor):
        return False
    one, another = (
        (address_of(each), _offset(each), dtype_of(each), _size(each), _stride(each)) for each in (tensor, other)
    )
    return one == another
