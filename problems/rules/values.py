"""Functions on arguments and outputs of every kind: tensors, lists, dicts, PointerArrays and numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeAlias

from engine.model import PlainObject, PointerArray, items_of, map_items
from problems.kit import torch

if TYPE_CHECKING:
    from engine.model import Arguments, Returned, Value

    Outputs: TypeAlias = tuple[torch.Tensor, ...]


def tensors_in(values: Iterable[Value]) -> list[torch.Tensor]:
    """The tensors among these values in order, also in sequences and PointerArrays; repeated ones occur once."""
    found: list[torch.Tensor] = []
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, PointerArray):
            found += dict.fromkeys(value.tensors)
        else:
            found += tensors_in(items_of(value))
    return found


def each_tensor(arguments: Arguments, changed: Callable[[torch.Tensor], torch.Tensor]) -> Arguments:
    """The arguments with `changed` applied to every tensor."""
    return tuple(_changed(value, changed) for value in arguments)


def _changed(value: Value, changed: Callable[[torch.Tensor], torch.Tensor]) -> Value:
    if isinstance(value, torch.Tensor):
        return changed(value)
    if isinstance(value, PointerArray):
        return PointerArray(tensors=tuple(map(changed, value.tensors)))
    return map_items(value, lambda item: _changed(item, changed))


def as_tuple(returned: Returned) -> Outputs:
    """Returned values of an entry or a reference as tensors; a Python number as a 0-d tensor of its widest dtype."""
    if isinstance(returned, torch.Tensor):
        return (returned,)
    if isinstance(returned, bool | int | float | complex):
        dtypes = {bool: torch.bool, int: torch.int64, float: torch.float64, complex: torch.complex128}
        return (torch.tensor(returned, dtype=dtypes[type(returned)]),)
    return tuple(returned or ())


def same_values(left: object, right: object) -> bool:
    """Equality of every element, with NaN equal to NaN."""
    if isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor):
        same = form_of((left,)) == form_of((right,))
        return same and bool(((left == right) | (left != left) & (right != right)).all())
    if isinstance(left, PointerArray) and isinstance(right, PointerArray):
        return same_values(left.tensors, right.tensors)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(same_values, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same_values(value, right[key]) for key, value in left.items())
    if isinstance(left, PlainObject) and isinstance(right, PlainObject):
        return (left.name, left.kind) == (right.name, right.kind) and same_values(left.attributes, right.attributes)
    if isinstance(left, float) and isinstance(right, float):
        return left == right or (math.isnan(left) and math.isnan(right))
    return left == right


def settings_of(value: object) -> object:
    """A value without the content of its tensors: their shapes, strides and dtypes, and everything else unchanged."""
    if isinstance(value, torch.Tensor):
        return tuple(value.shape), value.stride(), value.dtype
    if isinstance(value, PointerArray):
        return settings_of(value.tensors)
    if isinstance(value, PlainObject):
        return value.name, value.kind, settings_of(value.attributes)
    if isinstance(value, dict):
        return {key: settings_of(item) for key, item in value.items()}
    return [settings_of(item) for item in value] if isinstance(value, list | tuple) else repr(value)


def form_of(outputs: Iterable[torch.Tensor]) -> list[tuple[tuple[int, ...], torch.dtype]]:
    """Shape and dtype of each tensor."""
    return [(tuple(output.shape), output.dtype) for output in outputs]


def bytes_of(values: Iterable[Value]) -> int:
    """Bytes of all elements of the tensors among these values."""
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors_in(values))


def is_occupied(tensor: torch.Tensor) -> bool:
    """Whether the tensor has memory."""
    return tensor.untyped_storage().nbytes() > 0


def has_fractions(tensor: torch.Tensor) -> bool:
    """Whether the tensor holds floats or complex numbers."""
    return tensor.is_floating_point() or tensor.is_complex()


def widened(values: torch.Tensor) -> torch.Tensor:
    """The same values in float64 or complex128."""
    return values.to(torch.complex128 if values.is_complex() else torch.float64)


def truncated_to(answer: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """`answer` in the dtype of `wanted`, truncated where hardware would round."""
    if answer.dtype == wanted.dtype:
        return answer
    if wanted.dtype == torch.bfloat16:
        return (answer.contiguous().view(torch.int32) & ~0xFFFF).view(torch.float32).bfloat16()
    rounded = answer.half()
    is_above = (rounded.float().abs() > answer.abs()) & rounded.isfinite()  # overflow still results in inf
    return torch.where(is_above, torch.nextafter(rounded, torch.zeros_like(rounded)), rounded)
