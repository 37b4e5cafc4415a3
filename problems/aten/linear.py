"""Linear layer: y[..., o] = sum_k input[..., k] * weight[o, k] + bias[o].

Any rank of input from 1, any strides of all tensors; the bias may be None.  NaN and infinities follow IEEE arithmetic;
products and partial sums that overflow are outside of the contract.  Sums are carried in float32 or better; the product
may be rounded to the dtype before the bias is added.  Subnormal values may be flushed to zero.  Overloads: linear is
tested; .out computes the same.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, cases_over, laid_out, normal, torch
from problems.kit.indexing.positions import wide_dtype
from problems.kit.movement import count
from problems.kit.products import operand, product, product_tolerance

_over = partial(
    cases_over, layout=Layout.CONTIGUOUS, weight_layout=Layout.CONTIGUOUS, bias_layout=Layout.CONTIGUOUS,
    values="mixed", bias=True,
)  # fmt: skip
_NAME = "{rows}x{k} to {n} {dtype} bias {bias}"

CASES = (
    *_over(Tier.SMOKE, _NAME, rows=(17,), k=65, n=20, dtype=[F32, BF16]),
    *_over(Tier.SMOKE, _NAME, rows=(2, 9), k=32, n=33, dtype=F32, bias=False),
    *_over(Tier.FULL, _NAME, rows=[(), (1,)], k=[1, 33], n=[1, 20], dtype=F32, bias=[True, False]),
    *_over(Tier.FULL, _NAME, rows=[(0,), (2, 0)], k=8, n=5, dtype=F32),
    *_over(Tier.FULL, _NAME, rows=(3,), k=0, n=5, dtype=F32),
    *_over(Tier.FULL, _NAME, rows=[(31,), (32,), (33,)], k=33, n=[63, 64, 65], dtype=F32),
    *_over(Tier.FULL, _NAME, rows=(5,), k=[127, 128, 129], n=17, dtype=FLOATS, bias=[True, False]),
    *_over(Tier.FULL, _NAME, rows=(15,), k=1024, n=24, dtype=FLOATS),
    *_over(Tier.FULL, _NAME, rows=[(2, 3, 4), (2, 3, 1, 4)], k=17, n=9, dtype=[F32, BF16]),
    *_over(Tier.FULL, _NAME, rows=(17,), k=33, n=20, dtype=[DType.FLOAT64, DType.COMPLEX64]),
    *_over(Tier.FULL, f"{_NAME} {{values}}", rows=(33,), k=200, n=17, dtype=FLOATS, values="integers"),
    *_over(Tier.FULL, f"{_NAME} {{values}}", rows=(9,), k=520, n=8, dtype=[F16, BF16], values="detour"),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", rows=(20,), k=31, n=24, dtype=[F32, BF16],
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET, Layout.PADDED]),
    *_over(Tier.FULL, f"{_NAME} weight {{weight_layout}}", rows=(20,), k=31, n=24, dtype=[F32, BF16],
           weight_layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.PADDED]),
    *_over(Tier.FULL, f"{_NAME} bias {{bias_layout}}", rows=(20,), k=31, n=24, dtype=F32,
           bias_layout=[Layout.STRIDED, Layout.EXPANDED]),
    *_over(Tier.FULL, f"{_NAME} all {{layout}}", rows=(3, 17), k=33, n=20, dtype=F16, layout=Layout.IRREGULAR,
           weight_layout=Layout.IRREGULAR, bias_layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_NAME} {{values}}", rows=(17,), k=33, n=20, dtype=FLOATS, values="special"),
    *_over(Tier.BENCH, _NAME, rows=(4096,), k=4096, n=4096, dtype=BF16),
    *_over(Tier.BENCH, _NAME, rows=(8, 128), k=1024, n=4096, dtype=[F32, BF16], bias=True),
    *_over(Tier.BENCH, _NAME, rows=(16,), k=4096, n=4096, dtype=BF16, bias=False),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """input: (*rows, K), weight: (N, K), bias: (N,) or None."""
    rows, k, n = case.shape("rows"), case.size("k"), case.size("n")
    x = operand(case, (*rows, k), rng, layout=case.word("layout"))
    weight = operand(case, (k, n), rng, layout=Layout.CONTIGUOUS, rows=False).T.contiguous()
    weight = laid_out(weight, case.word("weight_layout"))
    bias = laid_out(normal((n,), case.dtype, rng), case.word("bias_layout")) if case.claim("bias") else None
    return x, weight, bias


def reference(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """(..., K), (N, K), (N,) -> (..., N), computed in double precision."""
    total = product(x.unsqueeze(-2), weight.T).squeeze(-2)
    return (total if bias is None else total + bias.to(wide_dtype(x.dtype))).to(x.dtype)


def eager(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.nn.functional.linear(x, weight, bias)


def tolerance(case: Case) -> Tolerance:
    """Sums over K; the product may be rounded before the bias is added.  TensorFloat-32 is not float32."""
    outputs = count(case.shape("rows")) * case.size("n")
    return product_tolerance(case, case.size("k"), outputs=outputs, bias=case.claim("bias"))


def cost(case: Case) -> Cost:
    """One multiply-add for each row, output and K; the bias is read once."""
    rows, k, n = count(case.shape("rows")), case.size("k"), case.size("n")
    bias = n if case.claim("bias") else 0
    return Cost(
        flops=2 * rows * k * n,
        bytes_read=(rows * k + k * n + bias) * case.dtype.bytes,
        bytes_written=rows * n * case.dtype.bytes,
    )


PROBLEM = ProblemDefinition(
    name="aten::linear",
    entry="linear",
    signature="linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor",
    summary="x @ W^T + b",
    category=Category.MATMUL,
    second_oracle="numpy.matmul, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
