"""Single elements of tensors as reports show them: their index, and their values as text."""

from __future__ import annotations

from collections.abc import Sequence

import torch

_DIGITS = {torch.float64: 17, torch.float32: 9, torch.float16: 5, torch.bfloat16: 4}


def unravel_index(flat: int, shape: Sequence[int]) -> tuple[int, ...]:
    """The index of element number `flat` of a tensor of this shape."""
    index: list[int] = []
    for size in reversed(shape):
        index.append(flat % size)
        flat //= size
    return tuple(reversed(index))


def text_of(value: torch.Tensor) -> str:
    """One element with as many digits as distinguish it from its neighbours; nan and inf in words."""
    digits = _DIGITS.get(value.dtype)
    return f"{value.item():.{digits}g}" if digits else str(value.item())
