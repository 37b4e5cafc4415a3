"""Batched matrix product: y[b, i, j] = sum_k self[b, i, k] * mat2[b, k, j].

Three dimensions each, any strides of both.  NaN and infinities follow IEEE arithmetic; products and partial sums that
overflow are outside of the contract.  Sums are carried in float32 or better, in float64 for float64.  Subnormal values
may be flushed to zero.  Overloads: bmm is tested; .out computes the same, .dtype another result type.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, cases_over, torch
from problems.kit.products import operand, product, product_tolerance

_over = partial(cases_over, layout=Layout.CONTIGUOUS, mat2_layout=Layout.CONTIGUOUS, values="mixed")
_NAME = "{b}x{m}x{k}x{n} {dtype}"

CASES = (
    *_over(Tier.SMOKE, _NAME, b=3, m=17, k=33, n=20, dtype=[F32, BF16]),
    *_over(Tier.SMOKE, f"{_NAME} mat2 {{mat2_layout}}", b=2, m=16, k=32, n=32, dtype=F32,
           mat2_layout=Layout.TRANSPOSED),
    *_over(Tier.FULL, _NAME, b=1, m=1, k=[0, 1, 32, 497], n=[1, 71], dtype=F32),
    *_over(Tier.FULL, _NAME, b=[0, 3], m=0, k=8, n=5, dtype=F32),
    *_over(Tier.FULL, _NAME, b=0, m=3, k=8, n=5, dtype=F32),
    *_over(Tier.FULL, _NAME, b=2, m=[31, 32, 33], k=33, n=[63, 64, 65], dtype=F32),
    *_over(Tier.FULL, _NAME, b=3, m=5, k=[127, 128, 129], n=17, dtype=FLOATS),
    *_over(Tier.FULL, _NAME, b=4, m=15, k=1024, n=8, dtype=FLOATS),
    *_over(Tier.FULL, _NAME, b=65, m=7, k=9, n=5, dtype=F32),
    *_over(Tier.FULL, _NAME, b=3, m=17, k=33, n=20, dtype=[DType.FLOAT64, DType.COMPLEX64]),
    *_over(Tier.FULL, f"{_NAME} {{values}}", b=2, m=33, k=200, n=17, dtype=FLOATS, values="integers"),
    *_over(Tier.FULL, f"{_NAME} {{values}}", b=2, m=9, k=520, n=8, dtype=[F16, BF16], values="detour"),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", b=3, m=20, k=31, n=24, dtype=[F32, BF16],
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET, Layout.PADDED]),
    *_over(Tier.FULL, f"{_NAME} mat2 {{mat2_layout}}", b=3, m=20, k=31, n=24, dtype=[F32, BF16],
           mat2_layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.PADDED]),
    *_over(Tier.FULL, f"{_NAME} both {{layout}}", b=3, m=17, k=33, n=20, dtype=F16, layout=Layout.IRREGULAR,
           mat2_layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_NAME} {{values}}", b=2, m=17, k=33, n=20, dtype=FLOATS, values="special"),
    *_over(Tier.BENCH, _NAME, b=4, m=1024, k=1024, n=1024, dtype=[F32, BF16]),
    *_over(Tier.BENCH, f"{_NAME} mat2 {{mat2_layout}}", b=64, m=512, k=128, n=512, dtype=BF16,
           mat2_layout=Layout.TRANSPOSED),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: (B, M, K), mat2: (B, K, N)."""
    b, m, k, n = (case.size(key) for key in "bmkn")
    left = operand(case, (b, m, k), rng, layout=case.word("layout"))
    return left, operand(case, (b, k, n), rng, layout=case.word("mat2_layout"), rows=False)


def reference(x: torch.Tensor, mat2: torch.Tensor) -> torch.Tensor:
    """(B, M, K), (B, K, N) -> (B, M, N), computed in double precision."""
    return product(x, mat2).to(x.dtype)


def eager(x: torch.Tensor, mat2: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.bmm(x, mat2)


def tolerance(case: Case) -> Tolerance:
    """One rounding, and sums over K.  TensorFloat-32 is not float32."""
    b, m, n = (case.size(key) for key in "bmn")
    return product_tolerance(case, case.size("k"), outputs=b * m * n)


def cost(case: Case) -> Cost:
    """One multiply-add for each of B * M * N * K."""
    b, m, k, n = (case.size(key) for key in "bmkn")
    return Cost(
        flops=2 * b * m * k * n,
        bytes_read=b * (m * k + k * n) * case.dtype.bytes,
        bytes_written=b * m * n * case.dtype.bytes,
    )


PROBLEM = ProblemDefinition(
    name="aten::bmm",
    entry="bmm",
    signature="bmm(self: Tensor, mat2: Tensor) -> Tensor",
    summary="Batched matrix product",
    category=Category.MATMUL,
    second_oracle="numpy.matmul, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
