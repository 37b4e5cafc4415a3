"""Product with a zero point: out[m, n] = scale_a[m] * scale_b[n] * (sum_k a[m, k] * b[k, n] - azp[m] * azp_adj[n]).

Plus bias[n], where there is one.  a: (M, K), b: (K, N), int8, in any strides; vLLM requires a row-major and b
column-major.  scale_a: (1, 1) or (M, 1), scale_b: (1, 1) or (1, N), float32; azp_adj: (N,), int32, any numbers, in vLLM
the sums of the columns of b; azp: (M,), int32, or None for 1; bias: (N,) of out_dtype or None.  out_dtype is float16 or
bfloat16.  The bracket is exact, in int32; the rest is float32, rounded once.  NaN and infinities of scales and bias
follow IEEE arithmetic.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, ProblemDefinition, Tier, Tolerance
from problems.kit import BF16, F16, Arguments, Layout, cases_over, laid_out, normal, rounded, scattered, torch
from problems.kit.inference.arguments import SPECIAL_FACTORS
from problems.kit.inference.quantised_products import detour_operands, factor, operand

_over = partial(
    cases_over, scales="vectors", azp=True, bias=False, values="normal", layout=Layout.CONTIGUOUS,
    b_layout=Layout.TRANSPOSED,
)  # fmt: skip
_SIZES = "{m}x{k}x{n} {dtype} azp {azp}"

CASES = (
    *_over(Tier.SMOKE, _SIZES, m=7, k=64, n=33, dtype=F16, azp=[True, False]),
    *_over(Tier.SMOKE, f"{_SIZES} bias", m=5, k=32, n=24, dtype=BF16, bias=True),
    *_over(Tier.FULL, f"{_SIZES} bias {{bias}}", m=[1, 17], k=128, n=48, dtype=[F16, BF16], azp=[True, False],
           bias=[False, True]),
    *_over(Tier.FULL, f"{_SIZES} {{scales}}", m=9, k=[16, 129], n=[2, 127], dtype=F16, scales="scalars"),
    *_over(Tier.FULL, _SIZES, m=0, k=32, n=16, dtype=F16),
    *_over(Tier.FULL, f"{_SIZES} {{layout}}", m=5, k=33, n=9, dtype=[F16, BF16], bias=True, layout=Layout.IRREGULAR,
           b_layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_SIZES} {{values}}", m=9, k=32, n=24, dtype=[F16, BF16], bias=True, values="special"),
    *_over(Tier.FULL, f"{_SIZES} {{values}}", m=9, k=512, n=24, dtype=[F16, BF16], values="detour"),
    *_over(Tier.BENCH, _SIZES, m=1024, k=4096, n=4096, dtype=[F16, BF16]),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """a, b, scale_a, scale_b, out_dtype, azp_adj, azp, bias; "special" scales and bias have NaN and infinities.

    "detour" operands are `detour_operands`, and azp is -1, 0 or 1.
    """
    m, k, n = case.size("m"), case.size("k"), case.size("n")
    a, b = operand((m, k), "int8", rng), operand((k, n), "int8", rng)
    if case.word("values") == "detour":
        a, b = detour_operands(a, b)
    has_rows = case.word("scales") == "vectors"
    scale_a, scale_b = factor((m if has_rows else 1, 1), rng), factor((1, n if has_rows else 1), rng)
    bias = normal((n,), case.dtype, rng)
    if case.word("values") == "special":
        scale_a, scale_b, bias = (
            scattered(tensor, rng, values=SPECIAL_FACTORS, each=1) for tensor in (scale_a, scale_b, bias)
        )
    most = 2 if case.word("values") == "detour" else 128
    azp = torch.randint(1 - most, most, (m,), generator=rng, dtype=torch.int32)
    adjustment = b.sum(0, dtype=torch.int32) * (1 if case.claim("azp") else 37)
    tensors = (a, scale_a, scale_b, adjustment, azp, bias)
    a, scale_a, scale_b, adjustment, azp, bias = (laid_out(tensor, case.word("layout")) for tensor in tensors)
    return (
        a, laid_out(b, case.word("b_layout")), scale_a, scale_b, bias.dtype, adjustment,
        azp if case.claim("azp") else None, bias if case.claim("bias") else None,
    )  # fmt: skip


def reference(
    a: torch.Tensor,
    b: torch.Tensor,
    scale_a: torch.Tensor,
    scale_b: torch.Tensor,
    out_dtype: torch.dtype,
    azp_adj: torch.Tensor,
    azp: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
) -> torch.Tensor:
    """(M, K), (K, N) -> (M, N) in float64, in which the bracket is exact."""
    adjustment = azp_adj.double() if azp is None else azp.double().unsqueeze(1) * azp_adj.double()
    out = (a.double() @ b.double() - adjustment) * (scale_a.double() * scale_b.double())
    return (out if bias is None else out + bias.double()).to(out_dtype)


def eager(
    a: torch.Tensor,
    b: torch.Tensor,
    scale_a: torch.Tensor,
    scale_b: torch.Tensor,
    out_dtype: torch.dtype,
    azp_adj: torch.Tensor,
    azp: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
) -> torch.Tensor:
    """A product in float32, which holds sums of int8 products up to 2 ** 24; the bracket in int32."""
    adjustment = azp_adj if azp is None else azp.unsqueeze(1) * azp_adj
    out = ((a.float() @ b.float()).int() - adjustment).float() * (scale_a * scale_b)
    return (out if bias is None else out + bias.float()).to(out_dtype)


def tolerance(case: Case) -> Tolerance:
    """A product and a sum in float32, or of numbers rounded to the dtype of the answer."""
    return rounded(case.dtype, roundings=2, terms=case.size("k"))


def cost(case: Case) -> Cost:
    """One multiply-add for each of M * N * K."""
    m, k, n = case.size("m"), case.size("k"), case.size("n")
    with_bias = n * case.dtype.bytes if case.claim("bias") else 0
    scales = 4 * (m + n) if case.word("scales") == "vectors" else 8
    return Cost(
        flops=2 * m * k * n,
        bytes_read=m * k + k * n + with_bias + scales + 4 * n + (4 * m if case.claim("azp") else 0),
        bytes_written=m * n * case.dtype.bytes,
    )


PROBLEM = ProblemDefinition(
    name="vllm::cutlass_scaled_mm_azp",
    entry="cutlass_scaled_mm_azp",
    signature=(
        "cutlass_scaled_mm_azp(a: Tensor, b: Tensor, scale_a: Tensor, scale_b: Tensor, out_dtype: dtype, "
        "azp_adj: Tensor, azp: Tensor | None = None, bias: Tensor | None = None) -> Tensor"
    ),
    summary="cutlass_scaled_mm with an activation zero-point correction: scale_a*scale_b*(acc - azp*azp_adj) + bias",
    category=Category.QUANTISED_GEMM,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
