"""Product with Marlin weights: out[m, n] = sum_k a[m, perm[k]] * (q[k, n] - 2 ** (bits - 1)) * s[g_idx[k], n].

b_q_weight: (K / 16, N * bits / 2), int32, holds q as gptq_marlin_moe_repack lays out one expert; b_q_type gives the
number of bits, "uint4b8" or "uint8b128".  b_scales: (groups, N) holds s with the columns of every 64 in the order 0, 8,
16, ... 56, 1, 9, ..., 63; where there is one group only those of every 32 in the order 2 r + (0, 1, 8, 9, 16, 17, 24,
25) for r = 0 to 3. Without act-order g_idx and perm are empty: perm is the identity, and the group of row k is k // (K
/ groups); with it perm holds every row once and g_idx is ascending.  size_m, size_n, size_k are M, N and K; K is a
multiple of 16, N of 64.

a and the scales are float16, any strides; a weight may be rounded to float16, sums are carried in float32 and rounded
once.  NaN and infinities of a and the scales follow IEEE arithmetic.  workspace, int32, is zero before the call and
must be zero after it.  c, b_bias, a_scales, global_scale and b_zeros are None, is_k_full is True, is_zp_float False;
use_atomic_add and use_fp32_reduce select ways of summation with the same answer.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, ProblemDefinition, Tier, Tolerance
from problems.kit import F16, Arguments, Layout, cases_over, laid_out, normal, scattered, torch
from problems.kit.inference.arguments import SPECIAL_FACTORS
from problems.kit.inference.marlin import from_tiles, permuted_scales, restored_scales, scale_order, to_tiles
from problems.kit.inference.packing import product_tolerance, rows_by_group
from problems.kit.products import repeated_ends, with_detour

_over = partial(
    cases_over, dtype=F16, group=32, type="uint4b8", act_order=False, values="normal", layout=Layout.CONTIGUOUS
)
_SIZES = "{m}x{k}x{n} {type} by {group}"

CASES = (
    *_over(Tier.SMOKE, f"{_SIZES} act-order {{act_order}}", m=4, k=64, n=64, act_order=[False, True]),
    *_over(Tier.FULL, f"{_SIZES} act-order {{act_order}}", m=[1, 17], k=128, n=64, group=64, act_order=[False, True]),
    *_over(Tier.FULL, f"{_SIZES} one group", m=[3, 16], k=96, n=[64, 128], group=96),
    *_over(Tier.FULL, f"{_SIZES} act-order {{act_order}}", m=5, k=64, n=128, type="uint8b128",
           act_order=[False, True]),
    *_over(Tier.FULL, _SIZES, m=0, k=32, n=64),
    *_over(Tier.FULL, f"{_SIZES} {{layout}}", m=5, k=64, n=64, act_order=True, layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_SIZES} {{values}}", m=9, k=64, n=64, values="special"),
    *_over(Tier.FULL, f"{_SIZES} {{values}}", m=5, k=512, n=64, type=["uint4b8", "uint8b128"], values="detour"),
    *_over(Tier.BENCH, _SIZES, m=[1, 64], k=4096, n=4096, group=128),
)  # fmt: skip

_BITS = {"uint4b8": 4, "uint8b128": 8}


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """a: (M, K), b_q_weight, b_scales: (groups, N), g_idx and perm: (K,) or empty, workspace: (N,) zeros, the sizes.

    "special" a and scales have NaN and infinities; "detour" makes partial sums large, as
    `problems.kit.products.with_detour` says.
    """
    m, k, n, bits = case.size("m"), case.size("k"), case.size("n"), _BITS[case.word("type")]
    groups = k // case.size("group")
    a = normal((m, k), F16, rng)
    scales = ((torch.rand((groups, n), generator=rng) * 0.1 + 0.01) * 16 / 2**bits).half()
    if case.word("values") == "special":
        a, scales = (scattered(tensor, rng, values=SPECIAL_FACTORS, each=1) for tensor in (a, scales))
    values = torch.randint(0, 2**bits, (k, n), generator=rng)
    if case.word("values") == "detour":
        a, scales[-1], values = with_detour(a), scales[0], repeated_ends(values | 1 << bits - 1)  # weights from 0 up
    words = to_tiles(values, bits)
    count = k if case.claim("act_order") else 0
    perm = torch.randperm(k, generator=rng)[:count].int()
    index = torch.randint(0, groups, (k,), generator=rng).sort().values[:count].int()
    scales = permuted_scales(scales, scale_order(groups))
    tensors = (a, words, scales, index, perm, torch.zeros(n, dtype=torch.int32))
    a, words, scales, index, perm, workspace = (laid_out(tensor, case.word("layout")) for tensor in tensors)
    return (
        a, None, words, None, scales, None, None, None, index, perm, workspace, case.word("type"), m, n, k,
        True, False, False, False,
    )  # fmt: skip


def reference(
    a: torch.Tensor,
    c: None,
    b_q_weight: torch.Tensor,
    b_bias: None,
    b_scales: torch.Tensor,
    a_scales: None,
    global_scale: None,
    b_zeros: None,
    g_idx: torch.Tensor,
    perm: torch.Tensor,
    workspace: torch.Tensor,
    b_q_type: str,
    *sizes: int,
) -> torch.Tensor:
    """(M, K) -> (M, N) in float64."""
    taken = a.double()[:, perm.long()] if len(perm) else a.double()
    return (taken @ _weights(b_q_weight, b_scales.double(), g_idx, _BITS[b_q_type])).to(a.dtype)


def eager(
    a: torch.Tensor,
    c: None,
    b_q_weight: torch.Tensor,
    b_bias: None,
    b_scales: torch.Tensor,
    a_scales: None,
    global_scale: None,
    b_zeros: None,
    g_idx: torch.Tensor,
    perm: torch.Tensor,
    workspace: torch.Tensor,
    b_q_type: str,
    *sizes: int,
) -> torch.Tensor:
    """Weights in the dtype of a, then a product."""
    taken: torch.Tensor = a[:, perm.long()] if len(perm) else a
    return taken @ _weights(b_q_weight, b_scales, g_idx, _BITS[b_q_type])


def tolerance(case: Case) -> Tolerance:
    """A product over K with weights that may be rounded."""
    return product_tolerance(F16, case.size("k"))


def cost(case: Case) -> Cost:
    """One multiply-add for each weight and row; every word is read once."""
    m, k, n, bits = case.size("m"), case.size("k"), case.size("n"), _BITS[case.word("type")]
    groups, listed = k // case.size("group"), 8 * k if case.claim("act_order") else 0
    return Cost(
        flops=2 * m * k * n,
        bytes_read=2 * m * k + k * n * bits // 8 + 2 * groups * n + listed,
        bytes_written=2 * m * n,
    )


def _weights(words: torch.Tensor, scales: torch.Tensor, g_idx: torch.Tensor, bits: int) -> torch.Tensor:
    values = from_tiles(words, bits, scales.shape[1]) - (1 << bits - 1)
    restored = restored_scales(scales, scale_order(len(scales)))
    groups = g_idx.long() if len(g_idx) else rows_by_group(len(values), len(scales), scales.device)
    return values.to(scales.dtype) * restored[groups]


PROBLEM = ProblemDefinition(
    name="vllm::gptq_marlin_gemm",
    entry="gptq_marlin_gemm",
    signature=(
        "gptq_marlin_gemm(a: Tensor, c: Tensor | None, b_q_weight: Tensor, b_bias: Tensor | None, b_scales: Tensor, "
        "a_scales: Tensor | None, global_scale: Tensor | None, b_zeros: Tensor | None, g_idx: Tensor, perm: Tensor, "
        "workspace: Tensor, b_q_type: str, size_m: int, size_n: int, size_k: int, is_k_full: bool = True, "
        "use_atomic_add: bool = False, use_fp32_reduce: bool = False, is_zp_float: bool = False) -> Tensor"
    ),
    summary="GEMM with 4-bit or 8-bit Marlin-packed GPTQ weights, with and without act-order",
    category=Category.QUANTISED_GEMM,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
