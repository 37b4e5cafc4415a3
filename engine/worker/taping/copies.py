"""Copies of torch that a replay cannot make: they count as operators of torch, not as moves of elements."""

from __future__ import annotations

import torch

from engine.clock.safe_torch import Base, without_functions
from engine.protocol.monitoring import RESOLVE_NEG
from engine.protocol.proof.tape import ELEMENT_BYTES
from engine.protocol.tensors import dtype_name
from engine.worker.operands import device_of, dtype_of


def is_replayed(tensor: torch.Tensor) -> bool:
    """Whether a replay knows the element type of a tensor."""
    return dtype_name(dtype_of(tensor)) in ELEMENT_BYTES


def computing_copy(target: torch.Tensor, source: torch.Tensor) -> str | None:
    """The name of the operator for a copy that a replay cannot make; None for a move of elements, cast or not.

    It cannot if the values of a tensor are not those of its bytes, if it does not know an element type, or for a cast
    to an 8-bit float in host memory, whose overflow depends on the version of torch.
    """
    both = (target, source)
    with without_functions():
        if any(map(Base.is_neg, both)):
            return RESOLVE_NEG
        if any(map(Base.is_conj, both)):
            return "aten::resolve_conj"
    to, of = (dtype_name(dtype_of(tensor)) for tensor in both)
    is_cast = to != of and to.startswith("float8") and device_of(target).type == "cpu"
    return f"aten::copy_.{to}" if is_cast or not all(map(is_replayed, both)) else None
