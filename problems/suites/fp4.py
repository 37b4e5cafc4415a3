"""Outputs of fp4, two e2m1 values per byte, compared in steps between neighbouring values.

Torch has a type for such bytes, `float4_e2m1fn_x2`, but neither conversions nor arithmetic for it, so reference
process, judge and candidate exchange uint8; only the functions of the suite and of the candidate get views of the type.
A value near the middle between two may be rounded to either, so one step is permitted for a small share of the values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from engine.model import CalledCase, Case, OutputMatch, Tolerance

if TYPE_CHECKING:
    import torch

    from engine.model import Arguments

NAMES = frozenset({"float4_e2m1", "float4_e2m1fn_x2"})
"""Names of the type in definitions."""
STEPS = "steps between fp4 values"
_FEW_TIES, _COARSE_INPUTS = 0.002, 0.06  # shares: with inputs of few bits results are often in the middle of two values
_ALWAYS_PERMITTED = 4
_SIGN, _MAGNITUDE = 0b1000, 0b0111


def comparer(
    is_fp4: Sequence[bool], tolerance: Callable[[Case], Tolerance], *, has_fp4_inputs: bool = False
) -> Callable[[CalledCase], tuple[OutputMatch, ...]]:
    """The comparer of a task: outputs that are fp4 in steps, the others by the tolerance of the case.

    The last arguments of the task are its outputs.
    """

    def compare(call: CalledCase) -> tuple[OutputMatch, ...]:
        inputs = call.arguments[: len(call.arguments) - len(is_fp4)]
        share = _COARSE_INPUTS if has_fp4_inputs or _is_coarse(inputs) else _FEW_TIES
        return tuple(
            by_steps(got, wanted, share) if packed else _by_tolerance(got, wanted, tolerance(call.case))
            for got, wanted, packed in zip(call.outputs, call.expected, is_fp4, strict=True)
        )

    return compare


def levels(octets: torch.Tensor) -> torch.Tensor:
    """Integers that differ by one for neighbouring values, (..., 2) for uint8 (...); the low bits are the first value.

    Both zeros are 0.
    """
    import torch

    codes = torch.stack((octets & 0xF, octets >> 4), dim=-1).to(torch.int16)
    size = codes & _MAGNITUDE
    return torch.where(codes & _SIGN != 0, -size, size)


def by_steps(got: torch.Tensor, wanted: torch.Tensor, share: float) -> OutputMatch:
    """Compare bytes of fp4 values: one step is permitted for this share of the values and for a few, never two.

    A byte is wrong if one of its values is.
    """
    steps = (levels(got) - levels(wanted)).abs()
    wrong, off = steps > 1, steps == 1
    count, largest = int(off.sum()), float(steps.max()) if steps.numel() else 0.0
    message = ""
    if count > _ALWAYS_PERMITTED + share * steps.numel() and not bool(wrong.any()):
        wrong = off
        message = (
            f"{count} of {steps.numel()} values are a step off, at most {share:.1%} may be: wrong rounding or scale?"
        )
    elif bool(wrong.any()):
        message = f"{int(wrong.sum())} of {steps.numel()} values are more than a step off"
    return OutputMatch(wrong=wrong.any(dim=-1), message=message, error=largest, unit=STEPS)


def _by_tolerance(got: torch.Tensor, wanted: torch.Tensor, tolerance: Tolerance) -> OutputMatch:
    from engine.judge.compare.compare import compare_elements

    return OutputMatch(wrong=compare_elements(got, wanted, tolerance).wrong)


def _is_coarse(inputs: Arguments) -> bool:
    """Whether an input has floating-point numbers of at most 16 bits."""
    from engine.protocol.tensors import tensors_in

    tensors = [tensor for value in inputs for tensor in tensors_in(value)]
    return any(tensor.is_floating_point() and tensor.element_size() <= 2 for tensor in tensors)
