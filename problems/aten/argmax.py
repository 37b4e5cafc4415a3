"""Index of the maximum: y[rest] = the least i with x[rest, i] = the largest of x[rest, :].

Any rank, any strides; floats and integers.  Without `dim` the index counts the elements of self in row-major order,
whatever its strides.  Of several maxima the first one counts, and NaN is larger than every number.  The dimension is
not empty.  The answer is int64.

Overloads: argmax (tested) and argmax.out.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, Determinism, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import EXACT, F32, FLOATS, INTEGERS, Arguments, integers, laid_out, near_limit, torch
from problems.kit.reductions import reduction_cases, reduction_cost, reduction_over, reduction_values

CASES = (
    *reduction_cases(dtype=[*FLOATS, DType.FLOAT64, *INTEGERS], several=False),
    *reduction_over(Tier.FULL, "{shape} dims {dims} {dtype} {values}", shape=(30, 77), dims=[(0,), (1,), "all"],
                    values="ties", dtype=[F32, DType.INT64]),
)  # fmt: skip

_FEW = 4
_CLOSE_STEPS = 2048  # values within 0.1 % of each other, which lower precision cannot distinguish


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: any shape; dim: None for "all"; keepdim.

    float32 and float64 values are slightly below -1, wide integers slightly below their largest; "ties" have four
    values.
    """
    x = reduction_values(case, rng)
    if case.word("values") == "usual" and case.dtype.epsilon in (F32.epsilon, DType.FLOAT64.epsilon):
        x = -1 - _CLOSE_STEPS * case.dtype.epsilon * x.abs()
    if case.word("values") == "usual" and case.dtype in (DType.INT32, DType.INT64):
        x = near_limit(x)
    if case.word("values") == "ties":
        x = integers(case.shape("shape"), case.dtype, rng, low=0, high=_FEW)
    dims = case.params["dims"]
    return laid_out(x, case.word("layout")), dims[0] if isinstance(dims, tuple) else None, case.claim("keepdim")


def reference(x: torch.Tensor, dim: int | None = None, keepdim: bool = False) -> torch.Tensor:
    """x without the dimension, or with 1 in its place; the first position of the last value in sorted order."""
    rows = x.reshape(-1) if dim is None or x.dim() == 0 else x.movedim(dim, -1)
    indices = torch.arange(rows.shape[-1], device=x.device).expand(rows.shape)
    largest = rows.sort(dim=-1).values[..., -1:]
    is_largest = (rows == largest) | (rows.isnan() & largest.isnan())
    first = torch.where(is_largest, indices, rows.shape[-1]).sort(dim=-1).values[..., 0]
    if not keepdim:
        return first
    return first.reshape([1] * x.dim()) if dim is None else first.unsqueeze(dim)


def eager(x: torch.Tensor, dim: int | None = None, keepdim: bool = False) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.argmax(x, dim, keepdim)


def tolerance(case: Case) -> Tolerance:
    """Indices are exact."""
    return EXACT


def cost(case: Case) -> Cost:
    """One comparison per element."""
    return reduction_cost(case, result=DType.INT64)


PROBLEM = ProblemDefinition(
    name="aten::argmax",
    entry="argmax",
    signature="argmax(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor",
    summary="Index of the maximum over a dim or the whole tensor",
    category=Category.REDUCTION_INDEX,
    second_oracle="PyTorch's argmax, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    determinism=Determinism.EXACT,
    cannot_reject={
        "infinities_clamped": "the largest finite number has the rank of inf among the others",
    },
)
