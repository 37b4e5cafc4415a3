"""Root-mean-square norm: out = input / sqrt(mean(input ** 2) + epsilon) * weight, row by row.

Matrices of rows of up to 65,536 elements, all three tensors of one dtype and of any strides; other ranks, mixed dtypes
and squares that overflow float32 are outside of the contract.  NaN makes its row NaN.  An infinity gives NaN in its own
place and zeros in the rest of its row.  NaN and infinities of the weight follow IEEE arithmetic.  Subnormal values may
be flushed to zero.
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

_over = partial(
    cases_over,
    epsilon=1e-6,
    layout=Layout.CONTIGUOUS,
    other_layout=Layout.CONTIGUOUS,
    weight="random",
    magnitude=1.0,
    values="mixed",
)
_ROWS = [
    Special.NAN,
    Special.INF,
    Special.NEGATIVE_INF,
    Special.BOTH_INF,
    Special.ALL_NEGATIVE_ZERO,
    Special.SUBNORMAL,
]
_WEIGHTS = [Special.NAN, Special.INF, Special.NEGATIVE_INF, Special.NEGATIVE_ZERO]

CASES = (
    *_over(Tier.SMOKE, "{rows}x{width} {dtype}", rows=5, width=497, dtype=[F32, BF16]),
    *_over(Tier.SMOKE, "{rows}x{width} {dtype}", rows=4, width=32, dtype=F16),
    *_over(Tier.FULL, "{rows}x{width} {dtype}", rows=1, width=[1, 32], dtype=F32),
    *_over(Tier.FULL, "{rows}x{width} {dtype}", rows=0, width=64, dtype=F32),
    *_over(Tier.FULL, "{rows}x{width} {dtype}", rows=7, width=[127, 128, 129], dtype=F32),
    *_over(Tier.FULL, "{rows}x{width} {dtype}", rows=3, width=[1023, 1024, 1025], dtype=FLOATS),
    *_over(Tier.FULL, "{rows}x{width} {dtype}", rows=2, width=8192, dtype=FLOATS),
    *_over(Tier.FULL, "{rows}x{width} {dtype}", rows=2, width=4999, dtype=F32),
    *_over(Tier.FULL, "{rows}x{width} {dtype}", rows=64, width=512, dtype=[F32, BF16]),
    *_over(Tier.FULL, "{rows}x{width} {dtype} weight {weight}", rows=7, width=497, dtype=FLOATS, weight="ones"),
    *_over(Tier.FULL, "{rows}x{width} {dtype} weight {weight}", rows=7, width=497, dtype=F32,
           weight="ones at the ends"),
    *_over(Tier.FULL, "{rows}x{width} {dtype} epsilon {epsilon}", rows=7, width=497, dtype=FLOATS, magnitude=1e-3,
           epsilon=[1e-5, 1e-6]),
    *_over(Tier.FULL, "{rows}x{width} {dtype} magnitude {magnitude}", rows=7, width=497, dtype=FLOATS,
           magnitude=1000.0),
    *_over(Tier.FULL, "{rows}x{width} {dtype} {layout}", rows=17, width=129, dtype=[F32, BF16],
           layout=[Layout.PADDED, Layout.OFFSET]),
    *_over(Tier.FULL, "{rows}x{width} {dtype} all {layout}", rows=7, width=65, dtype=BF16, layout=Layout.IRREGULAR,
           other_layout=Layout.IRREGULAR),
    *_over(Tier.FULL, "{rows}x{width} {dtype} {values}", rows=9, width=65, dtype=FLOATS, values="special"),
    *_over(Tier.FULL, "{rows}x{width} {dtype} epsilon {epsilon}", rows=5, width=33, dtype=F32, epsilon=[0.0, 100.0]),
    *_over(Tier.FULL, "{rows}x{width} {dtype}", rows=1, width=16385, dtype=F16),
    *_over(Tier.BENCH, "{rows}x{width} {dtype}", rows=1024, width=4096, dtype=[F32, BF16]),
    *_over(Tier.BENCH, "{rows}x{width} {dtype}", rows=128, width=512, dtype=F16),
    *_over(Tier.BENCH, "{rows}x{width} {dtype}", rows=5333, width=8192, dtype=BF16),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """out: (M, N), overwritten, input: (M, N), weight: (N,); small inputs make epsilon count.

    "ones at the ends" is a weight that differs from all ones only between its ends.  "special" has NaN and infinities
    in rows of the input and in the weight, and in float16 the largest numbers, whose squares do not overflow in
    float32.
    """
    shape = (case.size("rows"), case.size("width"))
    x = mixed(shape, case.dtype, rng) * case.number("magnitude")
    weight = normal(shape[1:], case.dtype, rng)
    if case.word("weight") == "ones at the ends":
        weight[0] = weight[-1] = 1.0
    if case.word("weight") == "ones":
        weight = torch.ones_like(weight)
    out = normal(shape, case.dtype, rng)
    if case.word("values") == "special":
        x = special_rows(x, rng, rows=[*_ROWS, *([Special.LARGE] if case.dtype is F16 else [])])
        weight = scattered(weight, rng, values=_WEIGHTS, each=1)
    other = case.word("other_layout")
    return laid_out(out, other), laid_out(x, case.word("layout")), laid_out(weight, other), case.number("epsilon")


def reference(out: torch.Tensor, input: torch.Tensor, weight: torch.Tensor, epsilon: float) -> torch.Tensor:
    """(M, N), (N,) -> (M, N), computed in float64."""
    x = input.double()
    return (x * torch.rsqrt(x.square().mean(-1, keepdim=True) + epsilon) * weight.double()).to(out.dtype)


def eager(out: torch.Tensor, input: torch.Tensor, weight: torch.Tensor, epsilon: float) -> None:
    """Normalised in float32, scaled in the dtype of the input."""
    x = input.float()
    out.copy_((x * torch.rsqrt(x.square().mean(-1, keepdim=True) + epsilon)).to(input.dtype) * weight)


def tolerance(case: Case) -> Tolerance:
    """Two roundings: of the normalised row and of its product with the weight; sums over the row."""
    return rounded(case.dtype, roundings=2, terms=case.size("width"))


def cost(case: Case) -> Cost:
    """Four operations per element: square, sum, and the two products."""
    rows, width = case.size("rows"), case.size("width")
    return Cost(
        flops=4 * rows * width,
        bytes_read=(rows + 1) * width * case.dtype.bytes,
        bytes_written=rows * width * case.dtype.bytes,
    )


PROBLEM = ProblemDefinition(
    name="vllm::rms_norm",
    entry="rms_norm",
    signature="rms_norm(out: Tensor, input: Tensor, weight: Tensor, epsilon: float) -> None",
    summary="x*rsqrt(mean(x^2)+eps)*weight",
    category=Category.NORMALISATION,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    returns=0,
    mutates=("out",),
    written_only=("out",),
)
