"""Private copies of a case's arguments, for calls whose writes must stay invisible.

A warm-up call writes to its arguments as every call does; it must never touch the judge's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.model import PointerArray, map_items

if TYPE_CHECKING:
    import torch

    from engine.model import Arguments, Value

_ALIGNMENT_BYTES = 16  # the widest load that compilers choose by the address of an argument


def private_copies(arguments: Arguments) -> Arguments:
    """Copies with the same strides, on the same devices; gaps between elements are copied too.

    Only the memory that a tensor spans is copied, not all of its storage, and its address keeps its remainder modulo 16
    bytes.
    """
    return tuple(_private(value) for value in arguments)


def _private(value: Value) -> Value:
    import torch

    if isinstance(value, torch.Tensor):
        return _copy(value)
    if isinstance(value, PointerArray):
        return PointerArray(tensors=tuple(_copy(tensor) for tensor in value.tensors))
    return map_items(value, _private)


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.numel() == 0:
        return tensor.new_empty(0).as_strided(tensor.shape, tensor.stride())
    spanned = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    skipped = tensor.data_ptr() % _ALIGNMENT_BYTES // tensor.element_size()
    memory = tensor.new_empty(skipped + spanned)
    memory[skipped:].copy_(tensor.as_strided((spanned,), (1,)))
    return memory.as_strided(tensor.shape, tensor.stride(), skipped)
