"""Reads the arguments of a launch without running code of their classes.

A number or a wrapper of a candidate's own class could give the machine one value and the tape another, or notice that a
launch is recorded.
"""

from __future__ import annotations

from typing import Any

import torch
from triton.runtime.jit import TensorWrapper
from triton.tools.tensor_descriptor import TensorDescriptor

# Kernels take any arguments: Any throughout this file.

_BASE, _SIZES = "base", ("shape", "strides")
_PLAIN_SIZES = (list, tuple, torch.Size)
_WRAPPERS = (TensorWrapper, TensorDescriptor)
_attribute = object.__getattribute__  # bound before a candidate can replace it


def plain_number(value: Any) -> Any:
    """An integer or a float as one of the built-in type; other values unchanged."""
    kind = type(value)
    if kind is bool or not issubclass(kind, int | float):
        return value
    return int.__index__(value) if issubclass(kind, int) else float.__float__(value)


def tensor_of(value: Any) -> torch.Tensor | None:
    """The tensor that an argument points to: itself, or that of a descriptor or of `triton.reinterpret`.

    None for other arguments, and for those whose class could compute the tensor: see `is_opaque`.
    """
    if issubclass(type(value), torch.Tensor):
        tensor: torch.Tensor = value
        return tensor
    if not issubclass(type(value), _WRAPPERS) or _computes(value):
        return None
    try:
        base = _attribute(value, _BASE)
    except AttributeError:
        return None
    return base if issubclass(type(base), torch.Tensor) else None


def is_opaque(value: Any) -> bool:
    """Whether an argument is no tensor, number or text, and its class decides what it points to."""
    kind = type(value)
    if issubclass(kind, torch.Tensor | bool | int | float | str | tuple | type(None)):
        return False
    points = issubclass(kind, _WRAPPERS) or hasattr(kind, "data_ptr") or hasattr(kind, _BASE)
    return points and tensor_of(value) is None


def _computes(value: Any) -> bool:
    """Whether the class of a wrapper or descriptor has code for what it points to, or for its sizes."""
    names = {_BASE, *_SIZES, "__getattribute__"}
    if any(names & vars(kind).keys() for kind in type(value).__mro__ if kind is not object):
        return True
    is_descriptor = issubclass(type(value), TensorDescriptor)
    return is_descriptor and any(type(_attribute(value, name)) not in _PLAIN_SIZES for name in _SIZES)
