"""Minimum: y[rest] = the least of x[rest, reduced] over the reduced dimensions.

Any rank, any strides; floats, integers and bool.  `dim` lists dimensions; an empty list means all of them.  A reduced
dimension is not empty.  NaN among the elements gives NaN.  0.0 and -0.0 are equal, and either may be returned.

Overloads: amin (tested) and amin.out.
"""

from __future__ import annotations

import math

from engine.model import Case, Category, Cost, Determinism, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import EQUAL, FLOATS, WHOLE, Arguments, laid_out, near_limit, torch
from problems.kit.reductions import reduction_cases, reduction_cost, reduction_over, reduction_values

CASES = (
    *reduction_cases(dtype=[*FLOATS, DType.FLOAT64, *WHOLE]),
    *reduction_over(Tier.FULL, "{shape} dims {dims} {dtype} {values}", shape=(17, 200), values="near the limit",
                    dtype=[DType.INT32, DType.INT64]),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: any shape, "near the limit" as in `near_limit`; dim: a list, empty for "all"; keepdim."""
    x, dims = reduction_values(case, rng), case.params["dims"]
    if case.word("values") == "near the limit":
        x = near_limit(x)
    return laid_out(x, case.word("layout")), list(dims) if isinstance(dims, tuple) else [], case.claim("keepdim")


def reference(x: torch.Tensor, dim: list[int], keepdim: bool = False) -> torch.Tensor:
    """x without its reduced dimensions, or with 1 in their place; by sorting, which orders NaN last."""
    dims = sorted(d % x.dim() for d in dim) if dim else list(range(x.dim()))
    kept = [d for d in range(x.dim()) if d not in dims]
    rows = x.permute([*kept, *dims]).reshape([x.shape[d] for d in kept] + [math.prod(x.shape[d] for d in dims)])
    ordered = rows.sort(dim=-1).values
    least = torch.where(ordered[..., -1].isnan(), ordered[..., -1], ordered[..., 0])
    return least.reshape([1 if d in dims else size for d, size in enumerate(x.shape)]) if keepdim else least


def eager(x: torch.Tensor, dim: list[int], keepdim: bool = False) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.amin(x, dim, keepdim)


def tolerance(case: Case) -> Tolerance:
    """Bitwise equality."""
    return EQUAL


def cost(case: Case) -> Cost:
    """One comparison per element."""
    return reduction_cost(case, result=case.dtype)


PROBLEM = ProblemDefinition(
    name="aten::amin",
    entry="amin",
    signature="amin(self: Tensor, dim: list[int], keepdim: bool = False) -> Tensor",
    summary="Minimum over one or several dims, keepdim option",
    category=Category.REDUCTION,
    second_oracle="PyTorch's amin, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    determinism=Determinism.EXACT,
    cannot_reject={
        "unchanged_input": "an output has the shape of self only where one element is reduced",
    },
)
