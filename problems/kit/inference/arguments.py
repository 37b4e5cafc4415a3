"""Helpers of most operators of this library: layouts of all arguments, and an exact tolerance."""

from __future__ import annotations

from collections.abc import Mapping

from engine.model import Case, Tolerance
from problems.kit.deferred import torch
from problems.kit.layouts import laid_out
from problems.kit.tolerances import EXACT
from problems.kit.values import Special

NO_FLOATS: Mapping[str, str] = {
    "nan_dropped": "no argument is a floating point tensor that can hold NaN",
    "infinities_clamped": "no argument is a floating point tensor that can hold an infinity",
}
"""Reason in `cannot_reject` for operators on integers and codes."""

NOT_QUANTISED: Mapping[str, str] = {
    "nan_dropped": "the quantised value of NaN is unspecified",
    "infinities_clamped": "the quantised value of an infinity is unspecified",
}
"""Reason in `cannot_reject` for operators that compute in 16 bits before they quantise."""

SPECIAL_FACTORS = (Special.NAN, Special.INF, Special.NEGATIVE_INF)
"""Elements of special operands of a product."""


def arranged(case: Case, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """The tensors in the layout of the case's parameter `layout`."""
    return tuple(laid_out(tensor, case.word("layout")) for tensor in tensors)


def exact(case: Case) -> Tolerance:
    """Bitwise equality: the outputs are copies, integers or codes."""
    return EXACT
