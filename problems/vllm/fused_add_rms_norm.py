"""Residual sum and norm: residual += input; input = residual / sqrt(mean(residual ** 2) + epsilon) * weight.

Matrices of rows of up to 65,536 elements, all three tensors of one dtype and of any strides; other ranks, mixed dtypes,
sums that overflow the dtype and squares that overflow float32 are outside of the contract.  NaN makes its row of the
input NaN; an infinity gives NaN in its own place and zeros in the rest.  NaN and infinities of the weight follow IEEE
arithmetic.  Subnormal values may be flushed to zero.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, ProblemDefinition, Tier, Tolerance
from problems.kit import (
    BF16,
    F16,
    F32,
    FLOATS,
    Arguments,
    Layout,
    Special,
    cases_over,
    laid_out,
    mixed,
    normal,
    rounded,
    scattered,
    special_rows,
    torch,
)

_over = partial(cases_over, epsilon=1e-6, magnitude=1.0, layout=Layout.CONTIGUOUS, values="mixed")
_ROWS = [Special.NAN, Special.INF, Special.BOTH_INF, Special.ALL_NEGATIVE_ZERO]
_RESIDUAL_ROWS = [Special.SUBNORMAL, Special.NEGATIVE_INF, Special.NEGATIVE_INF, Special.ALL_NEGATIVE_ZERO, Special.NAN]
_WEIGHTS = [Special.NAN, Special.INF, Special.NEGATIVE_INF, Special.NEGATIVE_ZERO]

CASES = (
    *_over(Tier.SMOKE, "{rows}x{width} {dtype}", rows=5, width=497, dtype=[F32, BF16]),
    *_over(Tier.SMOKE, "{rows}x{width} {dtype}", rows=4, width=32, dtype=F16),
    *_over(Tier.FULL, "{rows}x{width} {dtype}", rows=1, width=[1, 32], dtype=F32),
    *_over(Tier.FULL, "{rows}x{width} {dtype}", rows=0, width=64, dtype=F32),
    *_over(Tier.FULL, "{rows}x{width} {dtype}", rows=7, width=[127, 128, 129], dtype=F32),
    *_over(Tier.FULL, "{rows}x{width} {dtype}", rows=3, width=[511, 512, 513, 1025], dtype=FLOATS),
    *_over(Tier.FULL, "{rows}x{width} {dtype}", rows=2, width=8192, dtype=FLOATS),
    *_over(Tier.FULL, "{rows}x{width} {dtype}", rows=2, width=4999, dtype=F32),
    *_over(Tier.FULL, "{rows}x{width} {dtype}", rows=31, width=512, dtype=[F32, BF16]),
    *_over(
        Tier.FULL,
        "{rows}x{width} {dtype} epsilon {epsilon}",
        rows=7,
        width=497,
        dtype=FLOATS,
        magnitude=1e-3,
        epsilon=[1e-4, 1e-5, 1e-6],
    ),
    *_over(
        Tier.FULL, "{rows}x{width} {dtype} magnitude {magnitude}", rows=7, width=497, dtype=FLOATS, magnitude=1000.0
    ),
    *_over(Tier.FULL, "{rows}x{width} {dtype} {layout}", rows=7, width=65, dtype=BF16, layout=Layout.IRREGULAR),
    *_over(Tier.FULL, "{rows}x{width} {dtype} {values}", rows=9, width=65, dtype=FLOATS, values="special"),
    *_over(Tier.FULL, "{rows}x{width} {dtype} epsilon {epsilon}", rows=5, width=33, dtype=F32, epsilon=[0.0, 100.0]),
    *_over(Tier.FULL, "{rows}x{width} {dtype}", rows=1, width=16385, dtype=F16),
    *_over(Tier.BENCH, "{rows}x{width} {dtype}", rows=128, width=512, dtype=F16),
    *_over(Tier.BENCH, "{rows}x{width} {dtype}", rows=1024, width=4096, dtype=[F32, BF16]),
    *_over(Tier.BENCH, "{rows}x{width} {dtype}", rows=5333, width=8192, dtype=BF16),
)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """input and residual: (T, H), weight: (H,); small inputs make epsilon count.

    "special" has NaN and infinities in rows of the input and the residual and in the weight, and in float16 a number
    whose square overflows float16 but not float32.
    """
    shape = (case.size("rows"), case.size("width"))
    x = mixed(shape, case.dtype, rng) * case.number("magnitude")
    residual = normal(shape, case.dtype, rng) * case.number("magnitude")
    weight = normal(shape[1:], case.dtype, rng)
    if case.word("values") == "special":
        rows = [*_ROWS, Special.SUBNORMAL, *([Special.LARGE] if case.dtype is F16 else [])]
        x, residual = special_rows(x, rng, rows=rows), special_rows(residual, rng, rows=_RESIDUAL_ROWS)
        weight = scattered(weight, rng, values=_WEIGHTS, each=1)
    x, residual, weight = (laid_out(tensor, case.word("layout")) for tensor in (x, residual, weight))
    return x, residual, weight, case.number("epsilon")


def reference(
    input: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, epsilon: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """(T, H), (T, H), (H,) -> the final input and residual; the norm is that of the residual as it is stored."""
    stored = (input.double() + residual.double()).to(residual.dtype)
    x = stored.double()
    return (x * torch.rsqrt(x.square().mean(-1, keepdim=True) + epsilon) * weight.double()).to(input.dtype), stored


def eager(input: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, epsilon: float) -> None:
    """Added in the dtype of the input, normalised in float32, scaled in the dtype of the input."""
    residual += input
    x = residual.float()
    input.copy_((x * torch.rsqrt(x.square().mean(-1, keepdim=True) + epsilon)).to(input.dtype) * weight)


def tolerance(case: Case) -> Tolerance:
    """Three roundings: of the residual, of the normalised row, of its product with the weight; sums over the row."""
    return rounded(case.dtype, roundings=3, terms=case.size("width"))


def cost(case: Case) -> Cost:
    """Five operations per element: sum of the residual, square, sum of squares, and the two products."""
    rows, width = case.size("rows"), case.size("width")
    return Cost(
        flops=5 * rows * width,
        bytes_read=(2 * rows + 1) * width * case.dtype.bytes,
        bytes_written=2 * rows * width * case.dtype.bytes,
    )


PROBLEM = ProblemDefinition(
    name="vllm::fused_add_rms_norm",
    entry="fused_add_rms_norm",
    signature="fused_add_rms_norm(input: Tensor, residual: Tensor, weight: Tensor, epsilon: float) -> None",
    summary="residual += input; input = rms_norm(residual)*weight",
    category=Category.NORMALISATION,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    returns=0,
    mutates=("input", "residual"),
)
