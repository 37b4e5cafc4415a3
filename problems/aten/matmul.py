"""Matrix product: y[..., i, j] = sum_k self[..., i, k] * other[..., k, j], with the dimensions in front broadcast.

Any rank from 1 to 5, any strides of both.  A vector on the left is a row, one on the right a column, and its dimension
is dropped from the result; two vectors give a scalar.  NaN and infinities follow IEEE arithmetic; products and partial
sums that overflow are outside of the contract.  Sums are carried in float32 or better, in float64 for float64.
Subnormal values may be flushed to zero.  Overloads: matmul is tested; .out computes the same.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, cases_over, torch
from problems.kit.movement import count
from problems.kit.products import operand, product, product_tolerance

_over = partial(cases_over, layout=Layout.CONTIGUOUS, other_layout=Layout.CONTIGUOUS, values="mixed")
_NAME = "{left} @ {right} {dtype}"

CASES = (
    *_over(Tier.SMOKE, _NAME, left=(17, 65), right=(65, 20), dtype=[F32, BF16]),
    *_over(Tier.SMOKE, _NAME, left=(2, 1, 9, 17), right=(3, 17, 8), dtype=F32),
    *_over(Tier.FULL, _NAME, left=(1,), right=(1,), dtype=F32),
    *_over(Tier.FULL, _NAME, left=(129,), right=[(129,), (129, 7), (2, 129, 7), (2, 3, 129, 4)], dtype=FLOATS),
    *_over(Tier.FULL, _NAME, left=[(7, 65), (2, 7, 65), (2, 3, 4, 65)], right=(65,), dtype=[F32, BF16]),
    *_over(Tier.FULL, _NAME, left=(31, 33), right=[(33, 63), (33, 64), (33, 65), (2, 33, 5), (1, 3, 33, 5)], dtype=F32),
    *_over(Tier.FULL, _NAME, left=(2, 7, 33), right=[(33, 5), (2, 33, 5), (1, 33, 5), (3, 1, 33, 5)], dtype=FLOATS),
    *_over(Tier.FULL, _NAME, left=(2, 3, 1, 7, 9), right=[(9,), (9, 5), (4, 9, 5), (1, 3, 4, 9, 5)], dtype=[F32, BF16]),
    *_over(Tier.FULL, _NAME, left=(2, 1, 5, 9), right=(3, 2, 1, 9, 4), dtype=F32),
    *_over(Tier.FULL, _NAME, left=(15, 1024), right=(1024, 24), dtype=FLOATS),
    *_over(Tier.FULL, _NAME, left=(3, 0), right=(0, 5), dtype=F32),
    *_over(Tier.FULL, _NAME, left=(2, 0, 8), right=(8, 5), dtype=F32),
    *_over(Tier.FULL, _NAME, left=(0,), right=(0,), dtype=F32),
    *_over(Tier.FULL, _NAME, left=(2, 17, 33), right=(33, 20), dtype=[DType.FLOAT64, DType.COMPLEX64]),
    *_over(Tier.FULL, f"{_NAME} {{values}}", left=(2, 33, 200), right=(200, 17), dtype=FLOATS, values="integers"),
    *_over(Tier.FULL, f"{_NAME} {{values}}", left=(9, 520), right=(520, 8), dtype=[F16, BF16], values="detour"),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", left=(20, 31), right=(3, 31, 24), dtype=[F32, BF16],
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET, Layout.PADDED]),
    *_over(Tier.FULL, f"{_NAME} other {{other_layout}}", left=(3, 20, 31), right=(31, 24), dtype=[F32, BF16],
           other_layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.PADDED]),
    *_over(Tier.FULL, f"{_NAME} other {{other_layout}}", left=(3, 20, 31), right=(31,), dtype=F32,
           other_layout=[Layout.STRIDED, Layout.OFFSET]),
    *_over(Tier.FULL, f"{_NAME} both {{layout}}", left=(2, 3, 17, 9), right=(3, 9, 5), dtype=F16,
           layout=Layout.IRREGULAR, other_layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_NAME} {{values}}", left=(2, 17, 33), right=(33, 20), dtype=FLOATS, values="special"),
    *_over(Tier.BENCH, _NAME, left=(4096, 4096), right=(4096, 4096), dtype=BF16),
    *_over(Tier.BENCH, _NAME, left=(8, 16, 512, 64), right=(8, 16, 64, 512), dtype=BF16),
    *_over(Tier.BENCH, _NAME, left=(32, 256, 1024), right=(1024, 1024), dtype=F32),
    *_over(Tier.BENCH, _NAME, left=(4096, 4096), right=(4096,), dtype=BF16),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `left`, other: `right`."""
    right = case.shape("right")
    x = operand(case, case.shape("left"), rng, layout=case.word("layout"))
    if len(right) > 1:
        return x, operand(case, right, rng, layout=case.word("other_layout"), rows=False)
    return x, operand(case, right, rng, layout=case.word("other_layout"))


def reference(x: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """The broadcast dimensions, then M and N where there are matrices, computed in double precision."""
    left = x.unsqueeze(0) if x.dim() == 1 else x
    right = other.unsqueeze(1) if other.dim() == 1 else other
    total = product(left, right)
    if other.dim() == 1:
        total = total.squeeze(-1)
    if x.dim() == 1:
        total = total.squeeze(-1 if other.dim() == 1 else -2)
    return total.to(x.dtype)


def eager(x: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.matmul(x, other)


def tolerance(case: Case) -> Tolerance:
    """One rounding, and sums over K.  TensorFloat-32 is not float32."""
    left, right = case.shape("left"), case.shape("right")
    return product_tolerance(case, left[-1], outputs=_outputs(left, right))


def cost(case: Case) -> Cost:
    """One multiply-add for each output and K."""
    left, right = case.shape("left"), case.shape("right")
    outputs = _outputs(left, right)
    return Cost(
        flops=2 * outputs * left[-1],
        bytes_read=(count(left) + count(right)) * case.dtype.bytes,
        bytes_written=outputs * case.dtype.bytes,
    )


def _outputs(left: tuple[int, ...], right: tuple[int, ...]) -> int:
    """The number of elements of the result; of two sizes to be broadcast the one that is not 1."""
    front = [(1,) * (5 - len(shape)) + shape for shape in (left[:-2], right[:-2])]
    batch = count(a if b == 1 else b for a, b in zip(*front, strict=True))
    return batch * (left[-2] if len(left) > 1 else 1) * (right[-1] if len(right) > 1 else 1)


PROBLEM = ProblemDefinition(
    name="aten::matmul",
    entry="matmul",
    signature="matmul(self: Tensor, other: Tensor) -> Tensor",
    summary="Matrix product of all ranks with broadcasting",
    category=Category.MATMUL,
    second_oracle="numpy.matmul, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
