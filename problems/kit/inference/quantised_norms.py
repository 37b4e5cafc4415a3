"""Shared parts of root-mean-square norms with quantised output.

x is the input, or the sum of input and residual, which is also written to the residual in its dtype.  The norm is y = x
/ sqrt(mean(x ** 2) + epsilon) * weight; each group of a row has a scale that maps its largest |y| to the largest level.
"""

from __future__ import annotations

from engine.model import CalledCase, Case, OutputMatch, Tolerance
from problems.kit.deferred import torch
from problems.kit.inference.steps import ROUNDED_BEFORE, compared, largest_level, quantised, quantised_eagerly
from problems.kit.layouts import laid_out
from problems.kit.tolerances import rounded
from problems.kit.values import mixed, normal

_LEAST_INT8_SCALE = 2.0**-23
_FUNCTION_ERROR = 8 * 2.0**-23  # error of a reciprocal square root and a mean in float32
_LEAST_FP8_SCALE = 1 / (448 * 512)


def norm_inputs(case: Case, rng: torch.Generator) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
    """input: (T, H), weight: (H,), residual: (T, H), or None depending on the case's `residual`.

    "zeros" has every other row of the input 0, for which the scale has its least value.
    """
    shape = case.shape("shape")
    tensors = (
        mixed((shape[0], shape[1]), case.dtype, rng), normal(shape[1:], case.dtype, rng),
        normal((shape[0], shape[1]), case.dtype, rng),
    )  # fmt: skip
    if case.word("values") == "zeros":
        tensors[0][::2] = 0
    x, weight, residual = (laid_out(tensor, case.word("layout")) for tensor in tensors)
    return x, weight, residual if case.claim("residual") else None


def bound(case: Case, value: float) -> torch.Tensor | None:
    """The upper bound of the largest |y|, (1,) float32, if the case has one."""
    return laid_out(torch.tensor([value]), case.word("layout")) if case.claim("bound") else None


def normalised(
    x: torch.Tensor, residual: torch.Tensor | None, weight: torch.Tensor, epsilon: float, dtype: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor]:
    """The norm, and the sum of input and residual, (T, H) each; computed in `dtype`."""
    total = x.to(dtype) if residual is None else x.to(dtype) + residual.to(dtype)
    return total * torch.rsqrt(total.square().mean(-1, keepdim=True) + epsilon) * weight.to(dtype), total


def scales_of(y: torch.Tensor, group: int, quant_dtype: torch.dtype, upper: torch.Tensor | None) -> torch.Tensor:
    """(T, H / group) scales of groups of adjacent elements, in the dtype of y."""
    largest = y.abs().reshape(len(y), -1, group).amax(-1) if y.numel() else y.new_zeros(len(y), y.shape[1] // group)
    largest = largest if upper is None else torch.minimum(largest, upper.to(y.dtype))
    least = _LEAST_INT8_SCALE if quant_dtype == torch.int8 else _LEAST_FP8_SCALE
    return (largest / largest_level(quant_dtype)).clamp(min=least)


def quantised_groups(y: torch.Tensor, scales: torch.Tensor, group: int, quant_dtype: torch.dtype) -> torch.Tensor:
    """(T, H) levels of y by the scale of its group; exact for float64, else by PyTorch's conversions."""
    quotients = y / scales.repeat_interleave(group, 1)
    return (quantised if y.dtype == torch.float64 else quantised_eagerly)(quotients, quant_dtype)


def compare(called: CalledCase) -> tuple[OutputMatch, ...]:
    """Compare levels in steps, scales within the rounding of y, and the residual as a sum of numbers of its dtype."""
    return compared(called, share=ROUNDED_BEFORE, scale_error=3 * called.case.dtype.epsilon + _FUNCTION_ERROR)


def tolerance(case: Case) -> Tolerance:
    """Tolerance of the scales; the quantised values are compared in steps."""
    return rounded(case.dtype, roundings=2)
