"""Norm and quantisation of groups: q = round(y / s[g]), y = x / sqrt(mean(x ** 2) + epsilon) * weight, s = max |y| / L.

Returns (q, s) with s: (M, N / G), float32, one scale for every G = group_size[1] neighbours of a row; group_size[0] is
ignored.  The shape of s does not depend on is_scale_transposed, which requests a column-major s.  x is input, or input
+ residual, which then is stored to residual in its dtype.  quant_dtype is torch.int8, with L = 127 and s at least 2 **
-23, or torch.float8_e4m3fn, with L = 448 and s at least 1 / (448 * 512).  With scale_ub, one float32, s is min(max |y|,
scale_ub) / L.  q is rounded to the nearest and saturates.

input, weight and residual are float16, bfloat16 or float32, of any strides; N is a multiple of G.  x and y may be
rounded to that dtype before the division by s, so a level may be off by one step if the quotient is near the middle
between two levels.  NaN and infinities are outside of the contract, and squares that overflow float32.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, ProblemDefinition, Tier
from problems.kit import BF16, F16, F32, Arguments, Layout, cases_over, torch
from problems.kit.inference.arguments import NOT_QUANTISED
from problems.kit.inference.quantised_norms import (
    bound,
    compare,
    norm_inputs,
    normalised,
    quantised_groups,
    scales_of,
    tolerance,
)

_over = partial(
    cases_over, quant="int8", group=64, residual=False, bound=False, transposed=False, epsilon=1e-6,
    layout=Layout.CONTIGUOUS, values="mixed",
)  # fmt: skip

CASES = (
    *_over(Tier.SMOKE, "{shape} {dtype} {quant} by {group}", shape=(5, 256), dtype=[F32, BF16]),
    *_over(Tier.SMOKE, "{shape} {dtype} {quant} by {group} residual", shape=(3, 128), dtype=F16,
           quant="float8_e4m3fn", residual=True),
    *_over(Tier.FULL, "{shape} {dtype} {quant} by {group} transposed {transposed}", shape=(9, 512),
           dtype=[F32, F16, BF16], group=128, quant=["int8", "float8_e4m3fn"], transposed=[False, True]),
    *_over(Tier.FULL, "{shape} {dtype} {quant} by {group}", shape=[(0, 64), (1, 64), (31, 192), (2, 8192)], dtype=F16),
    *_over(Tier.FULL, "{shape} {dtype} {quant} by {group} residual", shape=(7, 384), dtype=[F16, BF16],
           group=[64, 128], residual=True),
    *_over(Tier.FULL, "{shape} {dtype} {quant} by {group} epsilon {epsilon} bounded", shape=(9, 128), dtype=BF16,
           quant=["int8", "float8_e4m3fn"], epsilon=[1e-5, 0.5], bound=True),
    *_over(Tier.FULL, "{shape} {dtype} {quant} by {group} residual {layout}", shape=(5, 64), dtype=[F16, BF16],
           group=16, residual=True, bound=True, layout=Layout.IRREGULAR),
    *_over(Tier.FULL, "{shape} {dtype} {quant} by {group} {values}", shape=(5, 128), dtype=[F32, BF16],
           quant=["int8", "float8_e4m3fn"], values="zeros"),
    *_over(Tier.BENCH, "{shape} {dtype} {quant} by {group}", shape=(4096, 8192), dtype=[F16, BF16], group=128,
           quant="float8_e4m3fn"),
)  # fmt: skip

_BOUND = 1.3


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """input: (M, N), weight: (N,), epsilon, quant_dtype, group_size, scale_ub, residual: (M, N) or None, the flag."""
    x, weight, residual = norm_inputs(case, rng)
    group = case.size("group")
    return (
        x, weight, case.number("epsilon"), getattr(torch, case.word("quant")), [group, group], bound(case, _BOUND),
        residual, case.claim("transposed"),
    )  # fmt: skip


def reference(
    input: torch.Tensor,
    weight: torch.Tensor,
    epsilon: float,
    quant_dtype: torch.dtype,
    group_size: list[int],
    scale_ub: torch.Tensor | None = None,
    residual: torch.Tensor | None = None,
    is_scale_transposed: bool = False,
) -> tuple[torch.Tensor, ...]:
    """The levels, the scales and, where there is one, the final residual; in float64."""
    y, total = normalised(input, residual, weight, epsilon, torch.float64)
    scales = scales_of(y, group_size[1], quant_dtype, scale_ub)
    q = quantised_groups(y, scales, group_size[1], quant_dtype)
    return (q, scales.float()) if residual is None else (q, scales.float(), total.to(residual.dtype))


def eager(
    input: torch.Tensor,
    weight: torch.Tensor,
    epsilon: float,
    quant_dtype: torch.dtype,
    group_size: list[int],
    scale_ub: torch.Tensor | None = None,
    residual: torch.Tensor | None = None,
    is_scale_transposed: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The same in float32."""
    y, total = normalised(input, residual, weight, epsilon, torch.float32)
    if residual is not None:
        residual.copy_(total)
    scales = scales_of(y, group_size[1], quant_dtype, scale_ub)
    q = quantised_groups(y, scales, group_size[1], quant_dtype)
    return q, scales.T.contiguous().T if is_scale_transposed else scales


def cost(case: Case) -> Cost:
    """Six operations per element: square, sum, two products, quotient, maximum; and the sum with a residual."""
    rows, columns = case.shape("shape")
    elements, moved = rows * columns, rows * columns * case.dtype.bytes
    with_residual = case.claim("residual")
    return Cost(
        flops=(6 + with_residual) * elements,
        bytes_read=moved * (1 + with_residual) + columns * case.dtype.bytes,
        bytes_written=elements + 4 * elements // case.size("group") + moved * with_residual,
    )


PROBLEM = ProblemDefinition(
    name="vllm::rms_norm_per_block_quant",
    entry="rms_norm_per_block_quant",
    signature=(
        "rms_norm_per_block_quant(input: Tensor, weight: Tensor, epsilon: float, quant_dtype: dtype, "
        "group_size: list[int], scale_ub: Tensor | None = None, residual: Tensor | None = None, "
        "is_scale_transposed: bool = False) -> tuple[Tensor, Tensor]"
    ),
    summary="RMS norm + quantisation with one scale per group of columns",
    category=Category.NORMALISATION_QUANTISED,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    returns=2,
    mutates=("residual",),
    compare=compare,
    cannot_reject=NOT_QUANTISED,
)
