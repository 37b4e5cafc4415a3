"""Product with GPTQ weights: out[m, n] = sum_k a[m, p[k]] * (q[k, n] - z[g[k], n]) * b_gptq_scales[g[k], n].

q and z have `bit` = 4 or 8 bits.  b_q_weight packs along K: place i of word [w, n] is row w * 32 / bit + i;
b_gptq_qzeros packs neighbours along N in their order.  z is the stored value, plus 1 unless use_v2_format, without
wrapping at 2 ** bit. Without use_exllama, p[k] = k and the group of row k is b_g_idx[k].  With it, b_q_weight is as
gptq_shuffle has made it: 4-bit places hold the rows 0, 2, 4, 6, 1, 3, 5, 7 of a word; g[k] = k // (K / groups), and p
is b_g_idx, or the identity where that is empty.  a and the scales are float16, all other tensors int32, in any strides.
A weight may be rounded to float16; sums are carried in float32 and rounded once.  NaN and infinities of a and the
scales follow IEEE arithmetic.
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
from problems.kit.products import with_detour

_over = partial(
    cases_over, dtype=F16, group=32, bit=4, exllama=True, v2=False, index="permuted", values="normal",
    layout=Layout.CONTIGUOUS,
)  # fmt: skip
_SIZES = "{m}x{k}x{n} {bit} bit by {group}"

CASES = (
    *_over(Tier.SMOKE, f"{_SIZES} exllama {{exllama}}", m=4, k=64, n=32, exllama=[True, False]),
    *_over(Tier.SMOKE, f"{_SIZES} {{index}}", m=1, k=64, n=16, index="no index"),
    *_over(Tier.FULL, f"{_SIZES} exllama {{exllama}}", m=[1, 17], k=128, n=64, group=128, exllama=[True, False]),
    *_over(Tier.FULL, f"{_SIZES} exllama {{exllama}} v2", m=5, k=96, n=[8, 72], v2=True, exllama=[True, False]),
    *_over(Tier.FULL, f"{_SIZES} exllama {{exllama}}", m=5, k=64, n=40, bit=8, exllama=[True, False]),
    *_over(Tier.FULL, f"{_SIZES} exllama {{exllama}} {{values}}", m=4, k=256, n=8, bit=[4, 8], exllama=[True, False],
           values=FINE_SCALES),
    *_over(Tier.FULL, _SIZES, m=0, k=64, n=32),
    *_over(Tier.FULL, f"{_SIZES} {{index}}", m=9, k=256, n=24, index="no index"),
    *_over(Tier.FULL, f"{_SIZES} exllama {{exllama}} {{layout}}", m=5, k=64, n=24, exllama=[True, False],
           layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_SIZES} {{values}}", m=9, k=64, n=40, values="special"),
    *_over(Tier.FULL, f"{_SIZES} {{values}}", m=5, k=512, n=16, index="no index", values="detour"),
    *_over(Tier.BENCH, f"{_SIZES} {{index}}", m=[1, 64], k=4096, n=4096, group=128, index="no index"),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """a: (M, K), b_q_weight: (K * bit / 32, N), b_gptq_qzeros: (groups, N * bit / 32), b_gptq_scales: (groups, N).

    b_g_idx: (K,) or, "no index", (0,); without exllama the groups are in random order.  "special" a and scales have NaN
    and infinities; "detour" makes partial sums large, as `problems.kit.products.with_detour` says.
    """
    m, k, n, bit = case.size("m"), case.size("k"), case.size("n"), case.size("bit")
    groups = k // case.size("group")
    a = normal((m, k), F16, rng)
    scales = drawn_scales(case, (groups, n), rng, bits=bit)
    if case.word("values") == "special":
        a, scales = (scattered(tensor, rng, values=SPECIAL_FACTORS, each=1) for tensor in (a, scales))
    words, zeros = drawn_words((k * bit // 32, n), rng), drawn_words((groups, n * bit // 32), rng)
    if case.word("values") == "detour":
        a, words[-1], zeros, scales[-1] = with_detour(a), words[0], torch.zeros_like(zeros), scales[0]
    order = torch.randperm(k, generator=rng)
    index = order if case.claim("exllama") else order // case.size("group")
    index = index[:0] if case.word("index") == "no index" else index
    tensors = arranged(case, a, words, zeros, scales, index.int())
    return *tensors, case.claim("exllama"), case.claim("v2"), bit


def reference(
    a: torch.Tensor,
    b_q_weight: torch.Tensor,
    b_gptq_qzeros: torch.Tensor,
    b_gptq_scales: torch.Tensor,
    b_g_idx: torch.Tensor,
    use_exllama: bool,
    use_v2_format: bool,
    bit: int,
) -> torch.Tensor:
    """(M, K) -> (M, N) in float64."""
    taken = a.double()[:, b_g_idx.long()] if use_exllama and len(b_g_idx) else a.double()
    packed = b_q_weight, b_gptq_qzeros, b_gptq_scales.double(), b_g_idx
    return (taken @ _weights(*packed, exllama=use_exllama, v2=use_v2_format, bit=bit)).to(a.dtype)


def eager(
    a: torch.Tensor,
    b_q_weight: torch.Tensor,
    b_gptq_qzeros: torch.Tensor,
    b_gptq_scales: torch.Tensor,
    b_g_idx: torch.Tensor,
    use_exllama: bool,
    use_v2_format: bool,
    bit: int,
) -> torch.Tensor:
    """Weights in the dtype of a, then a product."""
    taken = a[:, b_g_idx.long()] if use_exllama and len(b_g_idx) else a
    packed = b_q_weight, b_gptq_qzeros, b_gptq_scales, b_g_idx
    return taken @ _weights(*packed, exllama=use_exllama, v2=use_v2_format, bit=bit).to(a.dtype)


def tolerance(case: Case) -> Tolerance:
    """A product over K with weights that may be rounded to float16, which changes only fine scales.

    The rounding of a weight is at most half a unit, of either sign: over a sum less than one unit of a typical output,
    and two are allowed, besides one rounding of the answer and one of the expected value.
    """
    return product_tolerance(F16, case.size("k"))


def cost(case: Case) -> Cost:
    """One multiply-add for each weight and row; every word is read once."""
    m, k, n, bit = case.size("m"), case.size("k"), case.size("n"), case.size("bit")
    groups = k // case.size("group")
    listed = 0 if case.word("index") == "no index" else 4 * k
    return Cost(
        flops=2 * m * k * n,
        bytes_read=2 * m * k + k * n * bit // 8 + groups * n * (16 + bit) // 8 + listed,
        bytes_written=2 * m * n,
    )


def _weights(
    words: torch.Tensor,
    zero_words: torch.Tensor,
    scales: torch.Tensor,
    index: torch.Tensor,
    *,
    exllama: bool,
    v2: bool,
    bit: int,
) -> torch.Tensor:
    order = EVEN_BEFORE_ODD if exllama and bit == 4 else None
    values = unpack(words, bit, dim=0, order=order)
    zeros = unpack(zero_words, bit) + (not v2)
    groups = rows_by_group(len(values), len(scales), scales.device) if exllama else index.long()
    return dequantised(values, zeros, scales, groups)


PROBLEM = ProblemDefinition(
    name="vllm::gptq_gemm",
    entry="gptq_gemm",
    signature=(
        "gptq_gemm(a: Tensor, b_q_weight: Tensor, b_gptq_qzeros: Tensor, b_gptq_scales: Tensor, b_g_idx: Tensor, "
        "use_exllama: bool, use_v2_format: bool, bit: int) -> Tensor"
    ),
    summary="GEMM with GPTQ 4-bit or 8-bit weights",
    category=Category.QUANTISED_GEMM,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
