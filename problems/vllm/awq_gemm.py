"""Product with AWQ weights: out[m, n] = sum_k input[m, k] * (q[k, n] - z[g, n]) * scales[g, n], g = k // (K / groups).

q and z have 4 bits: place i (bits 4 i to 4 i + 3) of word w of qweight[k] is column 8 w + (0, 2, 4, 6, 1, 3, 5, 7)[i],
and qzeros[g] likewise.  input and scales are float16, words int32, in any strides; K is a multiple of the groups, N of
8. split_k_iters, at least 1, may be used to split K; the answer is the same.  A weight may be rounded to float16; sums
are carried in float32 and rounded once.  NaN and infinities of input and scales follow IEEE arithmetic.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, ProblemDefinition, Tier, Tolerance
from problems.kit import F16, Arguments, Layout, cases_over, normal, scattered, torch
from problems.kit.inference.arguments import SPECIAL_FACTORS, arranged
from problems.kit.inference.packing import (
    EVEN_BEFORE_ODD,
    FINE_SCALES,
    dequantised,
    drawn_scales,
    drawn_words,
    product_tolerance,
    rows_by_group,
    unpack,
)
from problems.kit.products import repeated_ends, with_detour

_over = partial(cases_over, dtype=F16, group=32, split=1, values="normal", layout=Layout.CONTIGUOUS)
_SIZES = "{m}x{k}x{n} by {group}"

CASES = (
    *_over(Tier.SMOKE, _SIZES, m=[1, 16], k=64, n=32),
    *_over(Tier.FULL, _SIZES, m=[1, 3, 16, 33], k=128, n=64, group=[64, 128]),
    *_over(Tier.FULL, _SIZES, m=5, k=96, n=[8, 40, 136]),
    *_over(Tier.FULL, f"{_SIZES} {{values}}", m=[1, 4], k=256, n=8, values=FINE_SCALES),
    *_over(Tier.FULL, f"{_SIZES} split {{split}}", m=7, k=256, n=32, split=[2, 8]),
    *_over(Tier.FULL, f"{_SIZES} split {{split}} {{values}}", m=5, k=512, n=8, split=4, values="detour"),
    *_over(Tier.FULL, _SIZES, m=0, k=64, n=32),
    *_over(Tier.FULL, f"{_SIZES} {{layout}}", m=5, k=64, n=24, layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_SIZES} {{values}}", m=9, k=64, n=40, values="special"),
    *_over(Tier.BENCH, _SIZES, m=[1, 64], k=4096, n=4096, group=128),
    *_over(Tier.BENCH, _SIZES, m=1, k=4096, n=11008, group=128),
)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """input: (M, K), qweight: (K, N / 8), scales: (groups, N), qzeros: (groups, N / 8), split_k_iters.

    "special" inputs and scales have NaN and infinities; "detour" makes partial sums large, as
    `problems.kit.products.with_detour` says.
    """
    m, k, n = case.size("m"), case.size("k"), case.size("n")
    groups = k // case.size("group")
    x, scales = normal((m, k), F16, rng), drawn_scales(case, (groups, n), rng, bits=4)
    if case.word("values") == "special":
        x, scales = (scattered(tensor, rng, values=SPECIAL_FACTORS, each=1) for tensor in (x, scales))
    qweight, qzeros = drawn_words((k, n // 8), rng), drawn_words((groups, n // 8), rng)
    if case.word("values") == "detour":
        x, qweight = with_detour(x), repeated_ends(qweight)
        qzeros, scales[-1] = torch.zeros_like(qzeros), scales[0]
    return *arranged(case, x, qweight, scales, qzeros), case.size("split")


def reference(
    input: torch.Tensor, qweight: torch.Tensor, scales: torch.Tensor, qzeros: torch.Tensor, split_k_iters: int
) -> torch.Tensor:
    """(M, K) -> (M, N) in float64."""
    return (input.double() @ _weights(qweight, scales.double(), qzeros)).to(input.dtype)


def eager(
    input: torch.Tensor, qweight: torch.Tensor, scales: torch.Tensor, qzeros: torch.Tensor, split_k_iters: int
) -> torch.Tensor:
    """Weights in the dtype of the input, then a product."""
    return input @ _weights(qweight, scales, qzeros).to(input.dtype)


def tolerance(case: Case) -> Tolerance:
    """A product over K with weights that may be rounded to float16, which changes only fine scales.

    The rounding of a weight is at most half a unit, of either sign: over a sum less than one unit of a typical output,
    and two are allowed, besides one rounding of the answer and one of the expected value.
    """
    return product_tolerance(F16, case.size("k"))


def cost(case: Case) -> Cost:
    """One multiply-add for each weight and row; every word is read once."""
    m, k, n = case.size("m"), case.size("k"), case.size("n")
    groups = k // case.size("group")
    return Cost(
        flops=2 * m * k * n,
        bytes_read=2 * m * k + k * n // 2 + groups * n * 5 // 2,
        bytes_written=2 * m * n,
    )


def _weights(qweight: torch.Tensor, scales: torch.Tensor, qzeros: torch.Tensor) -> torch.Tensor:
    values, zeros = (unpack(words, 4, order=EVEN_BEFORE_ODD) for words in (qweight, qzeros))
    return dequantised(values, zeros, scales, rows_by_group(len(values), len(scales), scales.device))


PROBLEM = ProblemDefinition(
    name="vllm::awq_gemm",
    entry="awq_gemm",
    signature=(
        "awq_gemm(input: Tensor, qweight: Tensor, scales: Tensor, qzeros: Tensor, split_k_iters: int) -> Tensor"
    ),
    summary="GEMM with AWQ 4-bit weights: (q-zero)*scale per group along K, AWQ nibble order along N",
    category=Category.QUANTISED_GEMM,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
