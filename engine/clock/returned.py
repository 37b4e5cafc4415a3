"""Returned values of calls: as a tuple, and as bytes copied to given memory."""

from __future__ import annotations

from typing import Any

import torch

from engine import protocol
from engine.clock.safe_torch import Base, without_modes
from engine.protocol import tensors

SPLIT_ELEMENTS = 2**31
"""torch copies a larger tensor in several pieces."""
_MOST_RETURNED = 64  # more than any operator returns; the judge compares the count
_DTYPES_OF_NUMBERS = {bool: torch.bool, int: torch.int64, float: torch.float64, complex: torch.complex128}


def values_of(returned: object) -> tuple[object, ...]:
    """Returned values of an entry as a tuple, cut at a count that no operator reaches.

    Uses the methods of the base class: a list subclass may override them, and they would run here.
    """
    first = slice(_MOST_RETURNED)
    if isinstance(returned, tuple):
        return tuple.__getitem__(returned, first)
    return tuple(list.__getitem__(returned, first)) if isinstance(returned, list) else (returned,)


def copy_out(values: tuple[object, ...], place: torch.Tensor) -> tuple[tuple[protocol.ReturnedSpec, ...], int]:
    """Copy tensors into `place` (uint8), contiguous and 256-byte aligned, without synchronising.

    A tensor that does not fit is reported and not copied: it cannot have the expected shape.  Also returns the most
    device activities of the copies.
    """
    numbers = [kind_of_number(value) for value in values]
    pairs = zip(values, numbers, strict=True)
    values = tuple(tensor_of_number(value, place.device) if number else value for value, number in pairs)
    sizes = [tensor_bytes(value) if is_plain_tensor(value) else 0 for value in values]
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
        activities += bool(number)  # the fill that made a tensor of it
        if size and spot.offset + size <= place.numel():
            activities += _copy_one(value, place, spot.offset, size)
        specs.append(spec_of(value, spot.offset, size, number=number))
    return tuple(specs), activities


def is_plain_tensor(value: object) -> bool:
    """Whether this is a tensor and not an object that only looks like one."""
    return type(value) in (torch.Tensor, torch.nn.Parameter)


def _copy_one(value: torch.Tensor, place: torch.Tensor, offset: int, size: int) -> int:
    """Copy one tensor; returns its activities: one for the copy, and one for each lazy sign or conjugate."""
    with without_modes():
        room = Base.view(Base.view(Base.narrow(place, 0, offset, size), value.dtype), value.shape)
        Base.copy_(room, Base.resolve_neg(Base.resolve_conj(Base.detach(value))))
        return 1 + Base.is_conj(value) + Base.is_neg(value) + Base.numel(value) // SPLIT_ELEMENTS


def kind_of_number(value: object) -> str:
    """Type name of a Python number that fits into 64 bits a part; "" for anything else."""
    is_number = type(value) in _DTYPES_OF_NUMBERS and (type(value) is not int or -(2**63) <= value < 2**63)
    return type(value).__name__ if is_number else ""


def tensor_of_number(number: Any, device: torch.device) -> torch.Tensor:  # Any: a number of one of four types
    """A 0-d tensor of the widest type of this kind of number."""
    return torch.full((), number, dtype=_DTYPES_OF_NUMBERS[type(number)], device=device)


def spec_of(value: torch.Tensor, offset: int, size: int, *, number: str) -> protocol.ReturnedSpec:
    """A tensor of `size` bytes at `offset`; `number` is the type of the Python number that it holds, or ""."""
    with without_modes():
        is_lazy = Base.is_conj(value) or Base.is_neg(value)
        dtype, shape = tensors.dtype_name(value.dtype), tuple(value.shape)
    return protocol.ReturnedSpec(
        type_name=number or "Tensor",
        dtype=dtype,
        shape=shape,
        offset=offset,
        bytes=size,
        is_number=bool(number),
        is_lazy=is_lazy,
    )


def tensor_bytes(value: object) -> int:
    """The bytes that the elements of a tensor have."""
    assert isinstance(value, torch.Tensor)
    return value.numel() * value.element_size()
