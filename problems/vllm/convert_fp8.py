"""Conversion to fp8 bytes: output[i, j] = e4m3fn code of saturate(input[i, j] / scale).

output: (M, N), uint8, overwritten; input: (M, N) of float16, bfloat16 or float32; any strides of both.  scale is a
positive number, kv_dtype "fp8" or "fp8_e4m3", which mean the same.  Quotients beyond 448, infinities too, become the
codes 0x7E and 0xFE; rounding is to the nearest, ties to even; -0.0 is 0x80.  The code of NaN is unspecified.  Quotients
of the cases are in the middle between two values only where the scale is a power of two, and otherwise not near it, so
that codes are compared to the bit.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, Determinism, DType, ProblemDefinition, Tier
from problems.kit import BF16, F16, F32, Arguments, Layout, Special, cases_over, integers, scattered, torch
from problems.kit.inference.arguments import arranged, exact
from problems.kit.inference.fp8 import cast_to_e4m3, e4m3_codes, off_the_ties, on_the_ties

_over = partial(cases_over, scale=1.0, kind="fp8", values="usual", layout=Layout.CONTIGUOUS)

CASES = (
    *_over(Tier.SMOKE, "{shape} {dtype} scale {scale}", shape=(5, 72), dtype=[F16, BF16], scale=0.5),
    *_over(Tier.SMOKE, "{shape} {dtype}", shape=(3, 33), dtype=F32),
    *_over(Tier.FULL, "{shape} {dtype}", shape=[(0, 8), (1, 1), (1, 32), (7, 127), (7, 128), (7, 129)], dtype=F16),
    *_over(Tier.FULL, "{shape} {dtype} scale {scale} {kind}", shape=(71, 65), dtype=[F16, BF16],
           scale=[0.25, 1.0, 0.0377], kind="fp8_e4m3"),
    *_over(Tier.FULL, "{shape} {dtype} scale {scale}", shape=(2, 8191), dtype=[F32, BF16], scale=3.7),
    *_over(Tier.FULL, "{shape} {dtype} {layout}", shape=(9, 65), dtype=[F16, BF16], layout=Layout.IRREGULAR),
    *_over(Tier.FULL, "{shape} {dtype} {values}", shape=(9, 65), dtype=[F16, BF16, F32], values="infinities"),
    *_over(Tier.FULL, "{shape} {dtype} scale {scale} {values}", shape=(9, 65), dtype=[F16, BF16, F32],
           scale=[1.0, 0.25], values="ties"),
    *_over(Tier.BENCH, "{shape} {dtype}", shape=[(1024, 4096), (5333, 8192)], dtype=[F16, BF16]),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """output: (M, N), overwritten, input: (M, N), scale, kv_dtype; some values saturate, "ties" are `on_the_ties`."""
    rows, columns = case.shape("shape")
    draw = on_the_ties if case.word("values") == "ties" else off_the_ties
    x = draw((rows, columns), case.dtype, rng, scale=case.number("scale"))
    if case.word("values") == "infinities":
        x = scattered(x, rng, values=[Special.INF, Special.NEGATIVE_INF, Special.NEGATIVE_ZERO])
    output = integers((rows, columns), DType.UINT8, rng, low=0, high=256)
    return *arranged(case, output, x), case.number("scale"), case.word("kind")


def reference(output: torch.Tensor, input: torch.Tensor, scale: float, kv_dtype: str) -> torch.Tensor:
    """The final output, from quotients in float64."""
    return e4m3_codes(input.double() / scale)


def eager(output: torch.Tensor, input: torch.Tensor, scale: float, kv_dtype: str) -> None:
    """PyTorch's conversion of float32 quotients."""
    output.copy_(cast_to_e4m3(input.float() / scale))


def cost(case: Case) -> Cost:
    """One division per element."""
    rows, columns = case.shape("shape")
    return Cost(flops=rows * columns, bytes_read=rows * columns * case.dtype.bytes, bytes_written=rows * columns)


PROBLEM = ProblemDefinition(
    name="vllm::convert_fp8",
    entry="convert_fp8",
    signature='convert_fp8(output: Tensor, input: Tensor, scale: float = 1.0, kv_dtype: str = "fp8") -> None',
    summary="Divide by scale and encode as FP8 e4m3 bytes",
    category=Category.QUANTISATION,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    determinism=Determinism.EXACT,
    returns=0,
    mutates=("output",),
    written_only=("output",),
    cannot_reject={
        "nan_dropped": "the quantised value of NaN is unspecified",
        "infinities_clamped": "an infinity and the largest number saturate alike",
        "bfloat16_arithmetic": "bfloat16 holds the ties, and no other quotient is near the middle between two values",
        "tensorfloat32_arithmetic": "TF32 holds the ties; no other quotient is near the middle between two values",
    },
)
