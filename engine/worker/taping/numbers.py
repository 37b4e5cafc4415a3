"""Numbers on a tape: the elements that a fill writes, and integer arguments of launches."""

from __future__ import annotations

from typing import Any

import torch

from engine.clock.safe_torch import Base
from engine.protocol.proof.tape import TapedNumber
from engine.worker.operands import dtype_of

_INTEGER_BITS = 64  # of the largest types that Triton passes an integer as, signed and unsigned
_full = torch.full  # bound before a candidate can replace it


def element_of(number: Any, target: torch.Tensor) -> bytes:  # Any: what torch fills with
    """The bytes of a number as an element of the target; torch fills packed 4-bit floats with zeros only."""
    if isinstance(number, int) and number == 0:
        return bytes(Base.element_size(target))
    return bytes(Base.numpy(Base.view(_full((1,), number, dtype=dtype_of(target)), torch.uint8)))


def number_of(value: int) -> TapedNumber | None:
    """An integer argument as the signed number of the same bits; None if it has too many of them."""
    smallest, end = -(1 << (_INTEGER_BITS - 1)), 1 << _INTEGER_BITS
    if not smallest <= value < end:
        return None
    return TapedNumber(value=value if value < -smallest else value - end)
