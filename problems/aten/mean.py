"""Mean: y[rest] = sum over the reduced dimensions of x[rest, reduced] / their number of elements.

Any rank, any strides; floats and complex numbers.  `dim` lists dimensions, None is all of them.  Sums are carried in
float32 or better: a sum of float16 may leave its range while the mean does not.  NaN and infinities follow IEEE
arithmetic, the mean of no elements is NaN.  Elements are converted to `dtype` first.  The overflow of a sum of float32
and bfloat16 numbers near the largest one, and special values of complex numbers, are outside of the contract.

Overloads: mean and mean.dim (tested), mean.dtype_out, mean.out and those of named dimensions.
"""

from __future__ import annotations

import math

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import BF16, F16, F32, FLOATS, Arguments, laid_out, result_dtype, rounded, torch, torch_dtype
from problems.kit.reductions import reduced_terms, reduction_cases, reduction_cost, reduction_over, reduction_values
from problems.kit.tolerances import of_few
from problems.kit.values import MIXED_RMS, Special, special_rows

CASES = (
    *reduction_cases(dtype=[*FLOATS, DType.FLOAT64, DType.COMPLEX64], result="same"),
    *reduction_over(Tier.FULL, "{shape} {dtype} to {result}", shape=(17, 200), dtype=[F16, BF16], result="float32"),
    *reduction_over(Tier.FULL, "{shape} dims {dims} {dtype}", shape=(5, 0), dims=[(1,), "all"], dtype=F32,
                    result="same"),
    *reduction_over(Tier.FULL, "{shape} {dtype} {values}", shape=(3, 3000), dtype=F16, values="large sum",
                    result="same"),
    *reduction_over(Tier.FULL, "{shape} {dtype} {values}", shape=(2, 20_001), dtype=[F16, BF16], values="detour",
                    result="same"),
)  # fmt: skip

_LARGE_SUM = 100.0  # the sum of 3,000 such values overflows float16


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: any shape; dim: a list, or None for "all"; keepdim; dtype: None where it is that of self.

    In a "detour" partial sums overflow float16, so sums that are rounded to 16 bits between blocks are wrong.
    """
    x = reduction_values(case, rng)
    if case.word("values") == "large sum":
        x = x + _LARGE_SUM
    if case.word("values") == "detour":
        x = special_rows(x + 1, rng, rows=[Special.DETOUR] * len(x))
    dims = case.params["dims"]
    dtype = None if case.word("result") == "same" else torch_dtype(result_dtype(case))
    return (
        laid_out(x, case.word("layout")),
        list(dims) if isinstance(dims, tuple) else None,
        case.claim("keepdim"),
        dtype,
    )


def reference(
    x: torch.Tensor, dim: list[int] | None = None, keepdim: bool = False, dtype: torch.dtype | None = None
) -> torch.Tensor:
    """x without its reduced dimensions, or with 1 in their place; summed in float64 or complex128."""
    wide = x.to(torch.complex128 if x.is_complex() else torch.float64)
    dims = list(range(x.dim())) if dim is None else dim
    terms = math.prod(x.shape[d] for d in dims)
    return (torch.sum(wide, dims, keepdim) / terms).to(dtype or x.dtype)


def eager(
    x: torch.Tensor, dim: list[int] | None = None, keepdim: bool = False, dtype: torch.dtype | None = None
) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.mean(x, dim, keepdim, dtype=dtype)


def tolerance(case: Case) -> Tolerance:
    """One rounding, and a sum over everything that is reduced; the absolute part is doubled for terms that cancel."""
    terms = reduced_terms(case)
    honest = rounded(result_dtype(case), terms=terms)
    sums = Tolerance(relative=honest.relative, absolute=2 * honest.absolute)
    if case.word("values") != "usual" or not terms:
        return sums
    return of_few(sums, outputs=math.prod(case.shape("shape")) // terms, scale=MIXED_RMS / math.sqrt(terms))


def cost(case: Case) -> Cost:
    """One addition per element."""
    return reduction_cost(case, result=result_dtype(case))


PROBLEM = ProblemDefinition(
    name="aten::mean",
    entry="mean",
    signature=(
        "mean(self: Tensor, dim: list[int] | None = None, keepdim: bool = False, dtype: DType | None = None) -> Tensor"
    ),
    summary="Mean over all elements or over dims",
    category=Category.REDUCTION,
    second_oracle="PyTorch's mean, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    cannot_reject={
        "unchanged_input": "an output has the shape of self only where one element is reduced",
    },
)
