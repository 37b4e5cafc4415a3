"""Product with 2:4 sparse Marlin weights: out[m, n] = sum_k a[m, k] * w[k, n], w = (q - 2 ** (bits - 1)) * s or 0.

Of every four neighbours along K, two are kept.  b_q_weight: (K / 32, N * bits / 2), int32, holds the (K / 2, N) values
q of the kept ones in tiles of 16 x 16, four adjacent ones a group of 1024 in the order of the 32 lanes of a warp;
b_meta: (K / 32, 2 N), int16, their positions.  Both orders are stated in problems/kit/inference/sparse_marlin.py.
b_q_type gives the number of bits, "uint4b8" or "uint8b128".  b_scales: (groups, N) holds s of group k // (K / groups),
with the columns of every 8 in the order 0, 4, 1, 5, 2, 6, 3, 7, or unchanged where there is one group only.

a and the scales are float16, any strides; a weight may be rounded to float16, sums are carried in float32 and rounded
once.  NaN and infinities of the scales and, but for weights that are not kept, of a follow IEEE arithmetic; the product
of an infinity or NaN of a with a weight that is not kept is unspecified.  workspace, int32, is zero before the call and
must be zero after it.  size_m, size_n, size_k are M, N and K; K is a multiple of 32, N of 64.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, ProblemDefinition, Tier, Tolerance
from problems.kit import F16, Arguments, Layout, cases_over, laid_out, normal, scattered, torch
from problems.kit.inference.arguments import SPECIAL_FACTORS
from problems.kit.inference.marlin import from_tiles, permuted_scales, restored_scales, to_tiles
from problems.kit.inference.packing import product_tolerance, rows_by_group
from problems.kit.inference.sparse_marlin import from_meta, sparse_order, sparse_scale_order, spread, to_meta
from problems.kit.products import with_detour

_over = partial(cases_over, dtype=F16, group=32, type="uint4b8", values="normal", layout=Layout.CONTIGUOUS)
_SIZES = "{m}x{k}x{n} {type} by {group}"

CASES = (
    *_over(Tier.SMOKE, _SIZES, m=[1, 5], k=64, n=64),
    *_over(Tier.FULL, _SIZES, m=[1, 16, 33], k=128, n=64, group=[64, 128]),
    *_over(Tier.FULL, _SIZES, m=5, k=96, n=[64, 192], type=["uint4b8", "uint8b128"]),
    *_over(Tier.FULL, _SIZES, m=0, k=32, n=64),
    *_over(Tier.FULL, f"{_SIZES} {{layout}}", m=5, k=64, n=64, layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_SIZES} {{values}}", m=9, k=64, n=64, values="special"),
    *_over(Tier.FULL, f"{_SIZES} {{values}}", m=5, k=512, n=64, values="detour"),
    *_over(Tier.BENCH, _SIZES, m=[1, 64], k=4096, n=4096, group=128),
)

_BITS = {"uint4b8": 4, "uint8b128": 8}


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """a: (M, K), b_q_weight, b_meta, b_scales: (groups, N), workspace: (N,) zeros, the type and the sizes.

    The two kept elements of every four are drawn separately for each column.  "special" scales have NaN and infinities;
    "detour" makes partial sums large, as `problems.kit.products.with_detour` says.
    """
    m, k, n, bits = case.size("m"), case.size("k"), case.size("n"), _BITS[case.word("type")]
    groups = k // case.size("group")
    a = normal((m, k), F16, rng)
    scales = ((torch.rand((groups, n), generator=rng) * 0.1 + 0.01) * 16 / 2**bits).half()
    if case.word("values") == "special":
        scales = scattered(scales, rng, values=SPECIAL_FACTORS, each=1)
    positions = torch.rand((k // 4, 4, n), generator=rng).argsort(1)[:, :2].sort(1).values
    kept = torch.randint(0, 2**bits, (k // 2, n), generator=rng)
    if case.word("values") == "detour":
        a, scales[-1], kept = with_detour(a), scales[0], kept | 1 << bits - 1  # weights from 0 up
        positions[-2:], kept[-4:] = positions[:2], kept[:4]
    tensors = (
        a, to_tiles(kept, bits, sparse_order()), to_meta(positions),
        permuted_scales(scales, sparse_scale_order(groups)), torch.zeros(n, dtype=torch.int32),
    )  # fmt: skip
    return *(laid_out(tensor, case.word("layout")) for tensor in tensors), case.word("type"), m, n, k


def reference(
    a: torch.Tensor,
    b_q_weight: torch.Tensor,
    b_meta: torch.Tensor,
    b_scales: torch.Tensor,
    workspace: torch.Tensor,
    b_q_type: str,
    size_m: int,
    size_n: int,
    size_k: int,
) -> torch.Tensor:
    """(M, K) -> (M, N) in float64."""
    return (a.double() @ _weights(b_q_weight, b_meta, b_scales.double(), _BITS[b_q_type])).to(a.dtype)


def eager(
    a: torch.Tensor,
    b_q_weight: torch.Tensor,
    b_meta: torch.Tensor,
    b_scales: torch.Tensor,
    workspace: torch.Tensor,
    b_q_type: str,
    size_m: int,
    size_n: int,
    size_k: int,
) -> torch.Tensor:
    """Weights in the dtype of a, then a product."""
    return a @ _weights(b_q_weight, b_meta, b_scales, _BITS[b_q_type])


def tolerance(case: Case) -> Tolerance:
    """A product over the kept half of K with weights that may be rounded."""
    return product_tolerance(F16, case.size("k") // 2)


def cost(case: Case) -> Cost:
    """One multiply-add for each kept weight and row; every word is read once."""
    m, k, n, bits = case.size("m"), case.size("k"), case.size("n"), _BITS[case.word("type")]
    groups = k // case.size("group")
    return Cost(
        flops=m * k * n,
        bytes_read=2 * m * k + k * n * bits // 16 + k * n // 8 + 2 * groups * n,
        bytes_written=2 * m * n,
    )


def _weights(words: torch.Tensor, meta: torch.Tensor, scales: torch.Tensor, bits: int) -> torch.Tensor:
    """(K, N) in the dtype of the scales; zeros for elements that are not kept, also if the scale is NaN or infinite."""
    kept = from_tiles(words, bits, scales.shape[1], sparse_order()) - (1 << bits - 1)
    restored = restored_scales(scales, sparse_scale_order(len(scales)))
    groups = rows_by_group(2 * len(kept), len(scales), scales.device)[::2]
    return spread(kept.to(scales.dtype) * restored[groups], from_meta(meta))


PROBLEM = ProblemDefinition(
    name="vllm::gptq_marlin_24_gemm",
    entry="gptq_marlin_24_gemm",
    signature=(
        "gptq_marlin_24_gemm(a: Tensor, b_q_weight: Tensor, b_meta: Tensor, b_scales: Tensor, workspace: Tensor, "
        "b_q_type: str, size_m: int, size_n: int, size_k: int) -> Tensor"
    ),
    summary="GEMM with 2:4-sparse 4-bit or 8-bit Marlin weights made by marlin_24_quantize",
    category=Category.QUANTISED_GEMM,
    second_oracle="products worked out by hand, of weights at known places",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    cannot_reject={
        "infinities_clamped": "an infinite scale makes a column infinite in float16, as the largest one does"
    },
)
