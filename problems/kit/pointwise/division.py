"""Division with PyTorch's rounding modes, from exact quotients."""

from __future__ import annotations

from problems.kit.deferred import torch
from problems.kit.pointwise.binary import widened


def divided(x: torch.Tensor, other: torch.Tensor | float, mode: str | None) -> torch.Tensor:
    """The quotient of x and other after promotion; `mode` is None, "trunc" or "floor" as for `torch.div`.

    "trunc" truncates the quotient after rounding to its dtype, "floor" rounds the exact quotient down.
    """
    left, right, kind = widened(x, other)
    if mode is None:
        is_whole = not (kind.is_floating_point or kind.is_complex)
        result = torch.float32 if is_whole else kind
        wide = torch.float64 if is_whole else left.dtype
        return (left.to(result).to(wide) / right.to(result).to(wide)).to(result)
    if mode == "trunc":
        return torch.trunc((left / right).to(kind)) if kind.is_floating_point else _truncated(left, right).to(kind)
    return floor_quotient(left, right).to(kind)


def floor_quotient(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """The exact quotient of float64 or int64 operands, rounded down.

    The remainder of the truncated division has the sign of `left`; if it is not 0 and its sign differs from that of
    `right`, the floor is one less.  A divisor of 0 gives left / right.
    """
    if not left.is_floating_point():
        quotient = _truncated(left, right)
        rest = left - quotient * right
        return quotient - ((rest != 0) & ((rest < 0) != (right < 0))).long()
    rest = torch.fmod(left, right)
    quotient = (left - rest) / right
    below = torch.where((rest != 0) & ((rest < 0) != (right < 0)), quotient - 1, quotient)
    nearest = torch.round(below)
    return torch.where(right == 0, left / right, nearest)


def _truncated(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """The quotient of int64 rounded towards 0."""
    return torch.div(left, right, rounding_mode="trunc")
