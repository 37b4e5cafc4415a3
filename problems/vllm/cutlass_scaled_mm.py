"""Product of quantised matrices: out[m, n] = scale_a[m] * scale_b[n] * sum_k a[m, k] * b[k, n] + bias[n].

a: (M, K), b: (K, N), both int8 or both e4m3fn, in any strides; vLLM requires a row-major and b column-major.  scale_a:
(1, 1) or (M, 1), scale_b: (1, 1) or (1, N), float32; bias: (N,) of out_dtype or None.  out_dtype is float16 or
bfloat16. Sums of int8 products are exact, as they are below 2 ** 31; those of fp8 are carried in float32.  The rest is
float32, rounded once.  NaN and infinities of scales and bias follow IEEE arithmetic.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import BF16, F16, Arguments, Layout, cases_over, laid_out, normal, rounded, scattered, torch
from problems.kit.inference.arguments import SPECIAL_FACTORS
from problems.kit.inference.quantised_products import detour_operands, factor, operand

_over = partial(
    cases_over, kind="int8", scales="scalars", bias=False, values="normal", layout=Layout.CONTIGUOUS,
    b_layout=Layout.TRANSPOSED,
)  # fmt: skip
_SIZES = "{m}x{k}x{n} {kind} {dtype}"

CASES = (
    *_over(Tier.SMOKE, _SIZES, m=7, k=64, n=33, dtype=[F16, BF16]),
    *_over(Tier.SMOKE, f"{_SIZES} {{scales}} bias", m=5, k=32, n=24, dtype=F16, scales="vectors", bias=True),
    *_over(Tier.FULL, f"{_SIZES} {{scales}} bias {{bias}}", m=[1, 17], k=128, n=48, dtype=[F16, BF16],
           scales=["scalars", "vectors"], bias=[False, True]),
    *_over(Tier.FULL, f"{_SIZES} {{scales}}", m=9, k=[16, 129], n=[2, 127], dtype=F16, scales="vectors"),
    *_over(Tier.FULL, f"{_SIZES} {{scales}}", m=0, k=32, n=16, dtype=F16),
    *_over(Tier.FULL, f"{_SIZES} {{scales}} bias", m=17, k=96, n=40, dtype=[F16, BF16], kind="float8_e4m3fn",
           scales="vectors", bias=True),
    *_over(Tier.FULL, f"{_SIZES} {{scales}} {{layout}}", m=5, k=33, n=9, dtype=[F16, BF16], scales="vectors",
           bias=True, layout=Layout.IRREGULAR, b_layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_SIZES} {{values}}", m=9, k=32, n=24, dtype=[F16, BF16], scales="vectors", bias=True,
           values="special"),
    *_over(Tier.FULL, f"{_SIZES} {{values}}", m=9, k=512, n=24, dtype=[F16, BF16], kind=["int8", "float8_e4m3fn"],
           scales="vectors", values="detour"),
    *_over(Tier.BENCH, _SIZES, m=1024, k=4096, n=4096, dtype=[F16, BF16]),
    *_over(Tier.BENCH, f"{_SIZES} {{scales}}", m=1024, k=4096, n=4096, dtype=BF16, kind="float8_e4m3fn",
           scales="vectors"),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """a, b, scale_a, scale_b, out_dtype, bias; "special" scales and bias have NaN and infinities.

    "detour" operands are `detour_operands`.
    """
    m, k, n = case.size("m"), case.size("k"), case.size("n")
    a, b = operand((m, k), case.word("kind"), rng), operand((k, n), case.word("kind"), rng)
    if case.word("values") == "detour":
        a, b = detour_operands(a, b)
    has_rows = case.word("scales") == "vectors"
    scale_a, scale_b = factor((m if has_rows else 1, 1), rng), factor((1, n if has_rows else 1), rng)
    bias = normal((n,), case.dtype, rng)
    if case.word("values") == "special":
        scale_a, scale_b, bias = (
            scattered(tensor, rng, values=SPECIAL_FACTORS, each=1) for tensor in (scale_a, scale_b, bias)
        )
    a, scale_a, scale_b, bias = (laid_out(tensor, case.word("layout")) for tensor in (a, scale_a, scale_b, bias))
    b = laid_out(b, case.word("b_layout"))
    return a, b, scale_a, scale_b, bias.dtype, bias if case.claim("bias") else None


def reference(
    a: torch.Tensor,
    b: torch.Tensor,
    scale_a: torch.Tensor,
    scale_b: torch.Tensor,
    out_dtype: torch.dtype,
    bias: torch.Tensor | None = None,
) -> torch.Tensor:
    """(M, K), (K, N) -> (M, N) in float64, in which the sums are exact."""
    out = (a.double() @ b.double()) * (scale_a.double() * scale_b.double())
    return (out if bias is None else out + bias.double()).to(out_dtype)


def eager(
    a: torch.Tensor,
    b: torch.Tensor,
    scale_a: torch.Tensor,
    scale_b: torch.Tensor,
    out_dtype: torch.dtype,
    bias: torch.Tensor | None = None,
) -> torch.Tensor:
    """A product in float32, which holds sums of int8 products up to 2 ** 24."""
    out = (a.float() @ b.float()) * (scale_a * scale_b)
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
        bytes_read=(m * k + k * n) * DType.INT8.bytes + with_bias + scales,
        bytes_written=m * n * case.dtype.bytes,
    )


PROBLEM = ProblemDefinition(
    name="vllm::cutlass_scaled_mm",
    entry="cutlass_scaled_mm",
    signature=(
        "cutlass_scaled_mm(a: Tensor, b: Tensor, scale_a: Tensor, scale_b: Tensor, out_dtype: dtype, "
        "bias: Tensor | None = None) -> Tensor"
    ),
    summary="Integer or FP8 GEMM with per-tensor or per-row/column dequantisation and optional bias",
    category=Category.QUANTISED_GEMM,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
