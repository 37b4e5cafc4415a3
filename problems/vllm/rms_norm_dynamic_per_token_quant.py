"""Norm and quantisation of rows: q = round(y / s), y = x / sqrt(mean(x ** 2) + epsilon) * weight, s = max |y| / L.

Returns (q, s) with s: (T, 1), float32.  x is input, or input + residual, which then is stored to residual in its dtype.
quant_dtype is torch.int8, with L = 127 and s at least 2 ** -23, or torch.float8_e4m3fn, with L = 448 and s at least 1 /
(448 * 512).  With scale_ub, one float32, s is min(max |y|, scale_ub) / L.  q is rounded to the nearest and saturates.

input, weight and residual are float16, bfloat16 or float32, of any strides.  x and y may be rounded to that dtype
before the division by s, so a level may be off by one step if the quotient is near the middle between two levels.  NaN
and infinities are outside of the contract, and squares that overflow float32.
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

_over = partial(cases_over, quant="int8", residual=False, bound=False, epsilon=1e-6, layout=Layout.CONTIGUOUS,
                values="mixed")  # fmt: skip

CASES = (
    *_over(Tier.SMOKE, "{shape} {dtype} {quant}", shape=(5, 497), dtype=[F32, BF16]),
    *_over(Tier.SMOKE, "{shape} {dtype} {quant} residual", shape=(3, 130), dtype=F16, quant="float8_e4m3fn",
           residual=True),
    *_over(Tier.FULL, "{shape} {dtype} {quant} residual {residual}", shape=(9, 513), dtype=[F32, F16, BF16],
           quant=["int8", "float8_e4m3fn"], residual=[False, True]),
    *_over(Tier.FULL, "{shape} {dtype} {quant}", shape=[(0, 32), (1, 1), (7, 127), (7, 128), (7, 129)], dtype=F16),
    *_over(Tier.FULL, "{shape} {dtype} {quant} residual", shape=(2, 8192), dtype=F16, residual=True),
    *_over(Tier.FULL, "{shape} {dtype} {quant} epsilon {epsilon} bounded", shape=(9, 65), dtype=BF16,
           quant=["int8", "float8_e4m3fn"], epsilon=[1e-5, 0.5], bound=True),
    *_over(Tier.FULL, "{shape} {dtype} {quant} residual {layout}", shape=(5, 65), dtype=[F16, BF16], residual=True,
           bound=True, layout=Layout.IRREGULAR),
    *_over(Tier.FULL, "{shape} {dtype} {quant} {values}", shape=(5, 128), dtype=[F32, BF16],
           quant=["int8", "float8_e4m3fn"], values="zeros"),
    *_over(Tier.BENCH, "{shape} {dtype} {quant} residual {residual}", shape=(5333, 4096), dtype=BF16,
           residual=[False, True]),
    *_over(Tier.BENCH, "{shape} {dtype} {quant}", shape=(4096, 8192), dtype=F16, quant="float8_e4m3fn"),
)  # fmt: skip

_BOUND = 1.3


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """input: (T, H), weight: (H,), epsilon, quant_dtype, scale_ub: (1,) or None, residual: (T, H) or None."""
    x, weight, residual = norm_inputs(case, rng)
    return x, weight, case.number("epsilon"), getattr(torch, case.word("quant")), bound(case, _BOUND), residual


def reference(
    input: torch.Tensor,
    weight: torch.Tensor,
    epsilon: float,
    quant_dtype: torch.dtype,
    scale_ub: torch.Tensor | None = None,
    residual: torch.Tensor | None = None,
) -> tuple[torch.Tensor, ...]:
    """The levels, the scales and, where there is one, the final residual; in float64."""
    y, total = normalised(input, residual, weight, epsilon, torch.float64)
    scales = scales_of(y, y.shape[1], quant_dtype, scale_ub)
    q = quantised_groups(y, scales, y.shape[1], quant_dtype)
    return (q, scales.float()) if residual is None else (q, scales.float(), total.to(residual.dtype))


def eager(
    input: torch.Tensor,
    weight: torch.Tensor,
    epsilon: float,
    quant_dtype: torch.dtype,
    scale_ub: torch.Tensor | None = None,
    residual: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The same in float32."""
    y, total = normalised(input, residual, weight, epsilon, torch.float32)
    if residual is not None:
        residual.copy_(total)
    scales = scales_of(y, y.shape[1], quant_dtype, scale_ub)
    return quantised_groups(y, scales, y.shape[1], quant_dtype), scales


def cost(case: Case) -> Cost:
    """Six operations per element: square, sum, two products, quotient, maximum; and the sum with a residual."""
    rows, columns = case.shape("shape")
    elements, moved = rows * columns, rows * columns * case.dtype.bytes
    with_residual = case.claim("residual")
    return Cost(
        flops=(6 + with_residual) * elements,
        bytes_read=moved * (1 + with_residual) + columns * case.dtype.bytes,
        bytes_written=elements + 4 * rows + moved * with_residual,
    )


PROBLEM = ProblemDefinition(
    name="vllm::rms_norm_dynamic_per_token_quant",
    entry="rms_norm_dynamic_per_token_quant",
    signature=(
        "rms_norm_dynamic_per_token_quant(input: Tensor, weight: Tensor, epsilon: float, quant_dtype: dtype, "
        "scale_ub: Tensor | None = None, residual: Tensor | None = None) -> tuple[Tensor, Tensor]"
    ),
    summary="(Residual add +) RMS norm + per-row int8 or fp8 quantisation",
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
