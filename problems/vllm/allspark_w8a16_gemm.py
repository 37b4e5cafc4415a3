"""Product with 8-bit weights: out[m, j] = sum_k a[m, k] * (q[k, j] - 128 - z[j]) * s[j] for the first n columns j.

b_qweight: (N, K), uint8, holds q in the interleaved layout n32k16, N being n rounded up to a multiple of 32: the
storage read as (N / 4, 4 K) has q[k, j] in the row 8 (j // 32) + j % 8 and the column 64 (k // 16) + 16 (k % 8 // 2) +
8 (j % 32 // 16) + 4 (j % 16 // 8) + 2 (k % 16 // 8) + k % 2.  b_scales: (1, N) has the scale of column j at 32 (j //
32) + 4 (j % 8) + j % 32 // 8, and so has b_qzeros: (1, N) its z, where has_zp is true; else b_qzeros is None and z is
0.  Weights in columns from n on are arbitrary.

a, the scales, z and the answer are float16 or bfloat16; a, scales and z in any strides, the weights contiguous or
strided.  A weight may be rounded to their dtype; sums are carried in float32 and rounded once.  NaN and infinities of a
and the scales follow IEEE arithmetic.  K and n are multiples of 16, group_size is -1 (one scale per column) and
n32k16_reorder True; sm_count, sm_version and CUBLAS_M_THRESHOLD select an algorithm and do not change the answer.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, ProblemDefinition, Tier, Tolerance
from problems.kit import BF16, F16, Arguments, Layout, cases_over, laid_out, normal, scattered, torch, torch_dtype
from problems.kit.inference.allspark import COLUMNS, from_interleaved, scale_places, to_interleaved
from problems.kit.inference.arguments import SPECIAL_FACTORS
from problems.kit.inference.packing import product_tolerance
from problems.kit.products import repeated_ends, with_detour

_over = partial(cases_over, zeros=False, values="normal", layout=Layout.CONTIGUOUS)
_SIZES = "{m}x{k}x{n} {dtype}"

CASES = (
    *_over(Tier.SMOKE, _SIZES, m=[1, 7], k=32, n=64, dtype=F16),
    *_over(Tier.SMOKE, f"{_SIZES} with zeros", m=4, k=48, n=32, dtype=BF16, zeros=True),
    *_over(Tier.FULL, _SIZES, m=[1, 17], k=[16, 112], n=64, dtype=[F16, BF16]),
    *_over(Tier.FULL, f"{_SIZES} zeros {{zeros}}", m=5, k=64, n=[16, 48], dtype=F16, zeros=[False, True]),
    *_over(Tier.FULL, _SIZES, m=0, k=32, n=32, dtype=F16),
    *_over(Tier.FULL, f"{_SIZES} {{layout}}", m=5, k=32, n=64, dtype=[F16, BF16], zeros=True,
           layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_SIZES} {{values}}", m=9, k=64, n=64, dtype=[F16, BF16], values="special"),
    *_over(Tier.FULL, f"{_SIZES} {{values}}", m=5, k=512, n=32, dtype=[F16, BF16], values="detour"),
    *_over(Tier.BENCH, _SIZES, m=[1, 64], k=4096, n=4096, dtype=[F16, BF16]),
)  # fmt: skip

_MIDDLE, _SM_COUNT, _SM_VERSION, _THRESHOLD = 128, 108, 80, 16


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """a: (M, K), b_qweight: (N, K), b_scales: (1, N), b_qzeros: (1, N) or None, n, and unused arguments.

    "special" a and scales have NaN and infinities; "detour" makes partial sums large, as
    `problems.kit.products.with_detour` says.
    """
    m, k, n = case.size("m"), case.size("k"), case.size("n")
    columns = -(-n // COLUMNS) * COLUMNS
    a = normal((m, k), case.dtype, rng)
    scales = (torch.rand(columns, generator=rng) * 0.01 + 0.001).to(torch_dtype(case.dtype))
    if case.word("values") == "special":
        a, scales = (scattered(tensor, rng, values=SPECIAL_FACTORS, each=1) for tensor in (a, scales))
    weights = torch.randint(0, 256, (k, columns), generator=rng, dtype=torch.uint8)
    if case.word("values") == "detour":
        a, weights = with_detour(a), repeated_ends(weights | _MIDDLE)  # none below 0
    weights = to_interleaved(weights)
    zeros = torch.randint(-16, 17, (columns,), generator=rng).to(torch_dtype(case.dtype))
    stored = [torch.empty_like(row).index_copy_(0, scale_places(columns), row).unsqueeze(0) for row in (scales, zeros)]
    a, weights, scales, zeros = (laid_out(tensor, case.word("layout")) for tensor in (a, weights, *stored))
    has_zeros = case.claim("zeros")
    return (
        a, weights, scales, zeros if has_zeros else None, n, -1, _SM_COUNT, _SM_VERSION, _THRESHOLD, has_zeros, True,
    )  # fmt: skip


def reference(
    a: torch.Tensor,
    b_qweight: torch.Tensor,
    b_scales: torch.Tensor,
    b_qzeros: torch.Tensor | None,
    n: int,
    *choices: int,
) -> torch.Tensor:
    """(M, K) -> (M, n) in float64."""
    zeros = None if b_qzeros is None else b_qzeros.double()
    return (a.double() @ _weights(b_qweight, b_scales.double(), zeros, n)).to(a.dtype)


def eager(
    a: torch.Tensor,
    b_qweight: torch.Tensor,
    b_scales: torch.Tensor,
    b_qzeros: torch.Tensor | None,
    n: int,
    *choices: int,
) -> torch.Tensor:
    """Weights in the dtype of a, then a product."""
    return a @ _weights(b_qweight, b_scales, b_qzeros, n)


def tolerance(case: Case) -> Tolerance:
    """A product over K with weights that may be rounded."""
    return product_tolerance(case.dtype, case.size("k"))


def cost(case: Case) -> Cost:
    """One multiply-add for each weight and row; every byte is read once."""
    m, k, n = case.size("m"), case.size("k"), case.size("n")
    element_bytes = case.dtype.bytes
    return Cost(
        flops=2 * m * k * n,
        bytes_read=m * k * element_bytes + k * n + n * element_bytes * (1 + case.claim("zeros")),
        bytes_written=m * n * element_bytes,
    )


def _weights(stored: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor | None, n: int) -> torch.Tensor:
    places = scale_places(scales.shape[1]).to(scales.device)
    values = (from_interleaved(stored).to(torch.int64) - _MIDDLE).to(scales.dtype)
    if zeros is not None:
        values = values - zeros[:, places]
    return (values * scales[:, places])[:, :n]


PROBLEM = ProblemDefinition(
    name="vllm::allspark_w8a16_gemm",
    entry="allspark_w8a16_gemm",
    signature=(
        "allspark_w8a16_gemm(a: Tensor, b_qweight: Tensor, b_scales: Tensor, b_qzeros: Tensor | None, n: int, "
        "group_size: int, sm_count: int, sm_version: int, CUBLAS_M_THRESHOLD: int, has_zp: bool, "
        "n32k16_reorder: bool) -> Tensor"
    ),
    summary="GEMM of 16-bit activations with 8-bit weights in the n32k16 layout",
    category=Category.QUANTISED_GEMM,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
