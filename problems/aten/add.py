"""Addition: y = self + alpha * other, with broadcasting.

Up to four dimensions, any strides.  Both tensors have one dtype; type promotion is outside of the contract.  NaN and
infinities follow IEEE arithmetic, also for alpha = 0: 0 * NaN is NaN.  Subnormal values may be flushed to zero.
float64 is outside of the contract.
"""

from __future__ import annotations

import math
from functools import partial

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import (
    BF16,
    F16,
    F32,
    FLOATS,
    Arguments,
    Layout,
    Special,
    cancelling,
    cases_over,
    integers,
    laid_out,
    mixed,
    normal,
    scattered,
    special_pairs,
    torch,
)

_over = partial(cases_over, alpha=1, layout=Layout.CONTIGUOUS, other_layout=Layout.CONTIGUOUS, values="mixed")

CASES = (
    *_over(Tier.SMOKE, "{shape} {dtype}", shape=(1000,), other=(1000,), dtype=[F32, BF16]),
    *_over(Tier.SMOKE, "{shape} + {other} {dtype} alpha {alpha}", shape=(9, 65), other=(65,), dtype=F32, alpha=-0.999),
    *_over(Tier.FULL, "{shape} {dtype}", shape=(1,), other=(1,), dtype=FLOATS),
    *_over(Tier.FULL, "{shape} {dtype}", shape=(0, 7), other=(0, 7), dtype=F32),
    *_over(Tier.FULL, "{shape} {dtype}", shape=(127,), other=(127,), dtype=F16),
    *_over(Tier.FULL, "{shape} {dtype}", shape=(1023,), other=(1023,), dtype=F32),
    *_over(Tier.FULL, "{shape} {dtype}", shape=(1025,), other=(1025,), dtype=F32),
    *_over(Tier.FULL, "{shape} {dtype}", shape=(16, 7, 57), other=(16, 7, 57), dtype=FLOATS),
    *_over(Tier.FULL, "{shape} {dtype} alpha {alpha}", shape=(64, 257), other=(64, 257), dtype=FLOATS,
           alpha=[0, 0.001, 100.001]),
    *_over(Tier.FULL, "{shape} + {other} {dtype}", shape=[(33, 1), (65,)], other=(33, 65), dtype=[F32, BF16]),
    *_over(Tier.FULL, "{shape} + {other} {dtype}", shape=(20, 1, 15), other=(32, 1), dtype=F32),
    *_over(Tier.FULL, "{shape} + {other} {dtype}", shape=(5, 4, 3, 6), other=(5, 1, 3, 1), dtype=[F32, BF16]),
    *_over(Tier.FULL, "{shape} + {other} {dtype}", shape=(5, 1, 3, 1), other=(5, 4, 3, 6), dtype=F32),
    *_over(Tier.FULL, "{shape} + {other} {dtype}", shape=(200, 33), other=(33,), dtype=F32, alpha=-3),
    *_over(Tier.FULL, "{shape} + {other} {dtype}", shape=(40, 31), other=(), dtype=F32, alpha=0.5),
    *_over(Tier.FULL, "{shape} {dtype} {layout}", shape=(33, 65), other=(33, 65), dtype=[F32, BF16],
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET]),
    *_over(Tier.FULL, "{shape} {dtype} other {other_layout}", shape=(33, 65), other=(33, 65), dtype=F32,
           other_layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.PADDED]),
    *_over(Tier.FULL, "{shape} {dtype} {layout}", shape=(5, 7, 9), other=(5, 7, 9), dtype=F32,
           layout=[Layout.TRANSPOSED, Layout.PADDED]),
    *_over(Tier.FULL, "{shape} {dtype} other {other_layout}", shape=(5, 7, 9), other=(5, 7, 9), dtype=F32,
           other_layout=[Layout.TRANSPOSED, Layout.PADDED]),
    *_over(Tier.FULL, "{shape} {dtype} alpha {alpha}", shape=(700,), other=(700,), alpha=[1, -16777217],
           dtype=[DType.INT32, DType.INT64]),
    *_over(Tier.FULL, "{shape} + {other} {dtype} both {layout}", shape=(3, 4, 5, 6), other=(3, 1, 5, 6), dtype=BF16,
           alpha=-3, layout=Layout.IRREGULAR, other_layout=Layout.IRREGULAR),
    *_over(Tier.FULL, "{shape} {dtype} alpha {alpha} {values}", shape=(10, 33), other=(10, 33), dtype=FLOATS,
           values="special"),
    *_over(Tier.FULL, "{shape} {dtype} alpha {alpha} {values}", shape=(10, 33), other=(10, 33), dtype=F32,
           alpha=[0, 1e30], values="special other"),
    *_over(Tier.BENCH, "{shape} {dtype}", shape=(1024, 1024), other=(1024, 1024), dtype=[F32, BF16]),
    *_over(Tier.BENCH, "{shape} {dtype}", shape=(16, 128, 64, 60), other=(16, 128, 64, 60), dtype=[F32, BF16]),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, other: `other`, which broadcast, each in its layout.

    In "special" every special value of self is paired with every one of other; in "special other" self has no special
    values.
    """
    left = _values(case.shape("shape"), case.dtype, rng)
    right = _values(case.shape("other"), case.dtype, rng, factor=abs(case.number("alpha")))
    if case.word("values") == "special":
        left, right = special_pairs(left, right)
    if case.word("values") == "special other":
        right = scattered(right, rng, values=(Special.NAN, Special.INF, Special.NEGATIVE_INF, Special.NEGATIVE_ZERO))
    alpha = case.number("alpha")
    alpha = int(alpha) if alpha.is_integer() and abs(alpha) < 2**53 else alpha
    return laid_out(left, case.word("layout")), laid_out(right, case.word("other_layout")), alpha


def reference(x: torch.Tensor, other: torch.Tensor, alpha: float = 1) -> torch.Tensor:
    """The broadcast shape; float64, integers in 64 bits."""
    wide = torch.float64 if x.is_floating_point() else torch.int64
    return (x.to(wide) + alpha * other.to(wide)).to(x.dtype)


def eager(x: torch.Tensor, other: torch.Tensor, alpha: float = 1) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.add(x, other, alpha=alpha)


def tolerance(case: Case) -> Tolerance:
    """The product may be rounded before the sum."""
    return cancelling(case.dtype)


def cost(case: Case) -> Cost:
    """One multiply-add per element; alpha = 1 needs no product."""
    outputs = math.prod(_broadcast(case))
    inputs = math.prod(case.shape("shape")) + math.prod(case.shape("other"))
    return Cost(
        flops=outputs if case.number("alpha") == 1 else 2 * outputs,
        bytes_read=inputs * case.dtype.bytes,
        bytes_written=outputs * case.dtype.bytes,
    )


def _values(shape: tuple[int, ...], dtype: DType, rng: torch.Generator, *, factor: float = 1) -> torch.Tensor:
    """Integers that do not overflow, times `factor` either; mixed magnitudes only if one rounding of them is small."""
    if dtype in FLOATS:
        return mixed(shape, dtype, rng) if dtype is F32 else normal(shape, dtype, rng)
    bound = 2**59 if dtype is DType.INT64 else 2**28  # beyond the exact integers of float64 and of float32
    bound = min(bound, 4 * bound // int(factor))
    return integers(shape, dtype, rng, low=-bound, high=bound)


def _broadcast(case: Case) -> tuple[int, ...]:
    """The shape of the output."""
    shape, other = case.shape("shape"), case.shape("other")
    rank = max(len(shape), len(other))
    pairs = zip((1,) * (rank - len(shape)) + shape, (1,) * (rank - len(other)) + other, strict=True)
    return tuple(b if a == 1 else a for a, b in pairs)


PROBLEM = ProblemDefinition(
    name="aten::add",
    entry="add",
    signature="add(self: Tensor, other: Tensor, alpha: float = 1) -> Tensor",
    summary="self + alpha*other",
    category=Category.POINTWISE_BINARY,
    second_oracle="numpy.add, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
