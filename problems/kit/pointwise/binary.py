"""Shared cases, inputs and cost of elementwise operators with two operands.

`other` is a tensor that broadcasts with self, or a Python number if the case has one as `scalar`. In "special" cases
every special number of self is paired with every one of other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from engine.model import Case, Cost, DType, Parameter, Tier
from problems.kit.cases import BF16, F16, F32, FLOATS, cases_over
from problems.kit.deferred import torch
from problems.kit.layouts import Layout, laid_out
from problems.kit.pointwise.unary import drawn
from problems.kit.promotion import is_integral, promoted, with_scalar

NO_SCALAR = "none"
_PAIRS = (
    (F32, F16), (F16, BF16), (DType.INT32, F32), (BF16, DType.INT64), (DType.FLOAT64, F32), (DType.BOOL, DType.INT32),
    (DType.UINT8, DType.INT8), (DType.INT64, DType.INT32), (DType.COMPLEX64, F32),
)  # fmt: skip
_NUMBERS = (math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0)
_LARGE = 0.75  # share of the largest number: a sum of two overflows with any rounding

_EXACT = 100  # every float dtype represents integers up to 256 exactly

binary_over = partial(
    cases_over, other_dtype="same", layout=Layout.CONTIGUOUS, other_layout=Layout.CONTIGUOUS, values="usual",
    scalar=NO_SCALAR,
)  # fmt: skip


def binary_cases(*, dtype: Sequence[DType], scalars: Sequence[float] = (), **options: Parameter) -> tuple[Case, ...]:
    """The cases of an operator of any rank; those over sizes and layouts have the first dtype of `dtype`.

    Mixed dtypes are the pairs of a fixed table in which both dtypes are in `dtype`; all cases have the same `options`.
    """
    over = partial(binary_over, **options)
    floats = [d for d in dtype if d in FLOATS]
    first, second = dtype[0], BF16 if BF16 in dtype else dtype[0]
    both = list(dict.fromkeys((first, second)))
    table = "{shape} with {other} {dtype}"
    return (
        *over(Tier.SMOKE, "{shape} {dtype}", shape=(1000,), other=(1000,), dtype=both),
        *over(Tier.SMOKE, table, shape=(9, 65), other=(65,), dtype=first),
        *over(Tier.FULL, "{shape} {dtype}", shape=(127,), other=(127,), dtype=first),
        *over(Tier.FULL, "{shape} {dtype}", shape=(1025,), other=(1025,), dtype=first),
        *over(Tier.FULL, "{shape} {dtype}", shape=(8, 7, 57), other=(8, 7, 57), dtype=floats),
        *over(Tier.FULL, table, shape=[(), (1,), (0, 7), (40, 31)], other=(), dtype=first),
        *over(Tier.FULL, table, shape=[(33, 1), (65,)], other=(33, 65), dtype=both),
        *over(Tier.FULL, table, shape=(20, 1, 15), other=(32, 1), dtype=first),
        *over(Tier.FULL, table, shape=(3, 5, 4, 7), other=[(3, 5, 4, 7), (5, 1, 7)], dtype=first),
        *over(Tier.FULL, "{shape} {dtype} {layout}", shape=(33, 65), other=(33, 65), dtype=first,
              layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET]),
        *over(Tier.FULL, "{shape} {dtype} other {other_layout}", shape=(5, 7, 9), other=(5, 7, 9), dtype=first,
              other_layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.PADDED]),
        *over(Tier.FULL, "{shape} with {other} {dtype} both {layout}", shape=(2, 3, 4, 5, 6), other=(2, 1, 4, 1, 6),
              dtype=second, layout=Layout.IRREGULAR, other_layout=Layout.IRREGULAR),
        *over(Tier.FULL, "{shape} {dtype} {values}", shape=(16, 33), other=(16, 33), dtype=floats, values="special"),
        *over(Tier.FULL, "{shape} {dtype}", shape=(334,), other=(334,),
              dtype=[d for d in dtype if d not in FLOATS and d is not first]),
        *(case for left, right in _PAIRS if left in dtype and right in dtype
          for case in over(Tier.FULL, "{shape} {dtype} with {other} {other_dtype}", shape=(33, 9), other=(9,),
                           dtype=left, other_dtype=right.value)),
        *over(Tier.FULL, "{shape} {dtype} number {scalar}", shape=(13, 33), other=(), scalar=list(scalars),
              dtype=[d for d in (*FLOATS, DType.INT32) if d in dtype]),
        *over(Tier.BENCH, "{shape} {dtype}", shape=(1024, 1024), other=(1024, 1024), dtype=both),
        *over(Tier.BENCH, table, shape=(16, 128, 64, 60), other=(64, 60), dtype=both),
    )  # fmt: skip


def inplace_cases(*, dtype: Sequence[DType], scalars: Sequence[float] = (), **options: Parameter) -> tuple[Case, ...]:
    """Those of `binary_cases` whose result has the shape and category of self, with a self that has no overlap."""
    return tuple(
        case
        for case in binary_cases(dtype=dtype, scalars=scalars, **options)
        if broadcast_shape(case) == case.shape("shape")
        and case.params["layout"] != Layout.EXPANDED
        and (is_integral(case.dtype), case.dtype.is_complex)
        == (is_integral(binary_result(case)), binary_result(case).is_complex)
    )


def binary_values(
    case: Case,
    rng: torch.Generator,
    *,
    draw: Callable[[torch.Tensor], torch.Tensor] | None = None,
    other_draw: Callable[[torch.Tensor], torch.Tensor] | None = None,
    low: int | None = None,
    high: int | None = None,
    edges: Sequence[float] = (),
) -> tuple[torch.Tensor, torch.Tensor]:
    """self and other of a case, both contiguous; `edges` are further special numbers, integers are within the bounds.

    If the dtypes differ, integers without bounds are exact in every float dtype.
    """
    if other_dtype(case) is not case.dtype:
        low, high = (-_EXACT, _EXACT) if low is None else (low, high)
    left = drawn(case.shape("shape"), case.dtype, rng, draw=draw, low=low, high=high)
    right = drawn(case.shape("other"), other_dtype(case), rng, draw=other_draw or draw, low=low, high=high)
    return special_grid(left, right, edges=edges) if case.word("values") == "special" else (left, right)


def binary_arguments(case: Case, left: torch.Tensor, right: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | float]:
    """Both in the layouts of the case, or self and the case's number in place of other."""
    x = laid_out(left, case.word("layout"))
    scalar = scalar_of(case)
    return (x, laid_out(right, case.word("other_layout"))) if scalar is None else (x, scalar)


def special_grid(
    left: torch.Tensor, right: torch.Tensor, *, edges: Sequence[float] = ()
) -> tuple[torch.Tensor, torch.Tensor]:
    """Copies of two float matrices of one shape; the first rows and columns pair every special number with every other.

    The numbers are NaN, both infinities, both zeros, 1, -1, plus and minus three quarters of the largest number, and
    `edges`.
    """
    large = _LARGE * torch.finfo(left.dtype).max
    numbers = torch.tensor([*_NUMBERS, large, -large, *edges], dtype=left.dtype, device=left.device)
    size = len(numbers)
    left, right = left.clone(), right.clone()
    left[:size, :size] = numbers.unsqueeze(1)
    right[:size, :size] = numbers
    return left, right


def without_zero(x: torch.Tensor) -> torch.Tensor:
    """For integers values from 2 to 40, every third negative if the dtype is signed; other values unchanged."""
    if x.is_floating_point() or x.is_complex():
        return x
    size = 2 + x.long().abs() % 39
    return torch.where(size % 3 == 0, -size, size).to(x.dtype) if x.dtype != torch.uint8 else size.to(x.dtype)


def widened(x: torch.Tensor | float, other: torch.Tensor | float) -> tuple[torch.Tensor, torch.Tensor, torch.dtype]:
    """Both operands rounded to the dtype of the result, widened to float64, complex128 or int64; and that dtype."""
    kind = torch.result_type(x, other)
    wide = torch.complex128 if kind.is_complex else torch.float64 if kind.is_floating_point else torch.int64
    device = next(value.device for value in (x, other) if isinstance(value, torch.Tensor))
    left, right = (torch.as_tensor(value, device=device).to(kind).to(wide) for value in (x, other))
    return left, right, kind


def binary_cost(case: Case, *, operations: int = 1, result: DType | None = None) -> Cost:
    """`operations` per element of the broadcast shape; both operands are read once."""
    outputs = math.prod(broadcast_shape(case))
    read = math.prod(case.shape("shape")) * case.dtype.bytes
    if scalar_of(case) is None:
        read += math.prod(case.shape("other")) * other_dtype(case).bytes
    return Cost(
        flops=operations * outputs, bytes_read=read, bytes_written=outputs * (result or binary_result(case)).bytes
    )


def binary_result(case: Case) -> DType:
    """The dtype of the result by PyTorch's promotion."""
    scalar = scalar_of(case)
    return promoted(case.dtype, other_dtype(case)) if scalar is None else with_scalar(case.dtype, scalar)


def other_dtype(case: Case) -> DType:
    """The dtype of other."""
    word = case.word("other_dtype")
    return case.dtype if word == "same" else DType(word)


def scalar_of(case: Case) -> int | float | None:
    """The number in place of other; None if other is a tensor."""
    scalar = case.params["scalar"]
    return scalar if isinstance(scalar, int | float) else None


def broadcast_shape(case: Case) -> tuple[int, ...]:
    """The shape of the output."""
    shape, other = case.shape("shape"), case.shape("other")
    rank = max(len(shape), len(other))
    pairs = zip((1,) * (rank - len(shape)) + shape, (1,) * (rank - len(other)) + other, strict=True)
    return tuple(b if a == 1 else a for a, b in pairs)
