"""Shared cases, inputs and cost of elementwise operators with one tensor.

The parameter `values` of a case is "usual", the operator's function `draw` applied to mixed magnitudes; "special", the
same with NaN, infinities, -0.0, extremes and the operator's `edges` added; or a word that the operator defines.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from engine.model import Case, Cost, DType, Tier
from problems.kit.cases import BF16, F32, FLOATS, cases_over
from problems.kit.deferred import torch
from problems.kit.layouts import Layout, laid_out
from problems.kit.promotion import is_integral
from problems.kit.values import SPECIAL_VALUES, Special, integers, mixed, scattered, torch_dtype

SUBNORMAL_FREE = tuple(value for value in SPECIAL_VALUES if value is not Special.SUBNORMAL)
"""For operators whose result changes if a subnormal value is flushed to zero: 1 / x, log(x)."""

NON_FINITE = (Special.NAN, Special.INF, Special.NEGATIVE_INF, Special.NEGATIVE_ZERO)
"""For operators whose result for very large numbers is unspecified."""

_LAYOUTS = [Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET]


def unary_cases(*, dtype: Sequence[DType]) -> tuple[Case, ...]:
    """The cases of an operator of any rank; those over sizes and layouts have the first dtype of `dtype`.

    Every 16-bit and 32-bit float dtype has cases with special values; each other dtype has a vector.
    """
    over = partial(cases_over, layout=Layout.CONTIGUOUS, values="usual")
    first = dtype[0]
    second = BF16 if BF16 in dtype else first
    floats, others = [d for d in dtype if d in FLOATS], [d for d in dtype if d not in FLOATS]
    narrow = [d for d in floats if d is not F32]
    return (
        *over(Tier.SMOKE, "{shape} {dtype}", shape=(1000,), dtype=list(dict.fromkeys((first, second)))),
        *over(Tier.SMOKE, "{shape} {dtype} {layout}", shape=(9, 65), dtype=first, layout=Layout.TRANSPOSED),
        *over(Tier.FULL, "{shape} {dtype}", shape=[(), (1,), (0,), (127,), (128,), (129,), (1025,), (3, 5, 4, 7)],
              dtype=first),
        *over(Tier.FULL, "{shape} {dtype}", shape=(2049,), dtype=narrow),
        *over(Tier.FULL, "{shape} {dtype}", shape=(8, 7, 57), dtype=floats),
        *over(Tier.FULL, "{shape} {dtype} {layout}", shape=(33, 65), dtype=first, layout=_LAYOUTS),
        *over(Tier.FULL, "{shape} {dtype} {layout}", shape=(5, 7, 9), dtype=second, layout=Layout.PADDED),
        *over(Tier.FULL, "{shape} {dtype} {layout}", shape=(2, 3, 4, 5, 6), dtype=second, layout=Layout.IRREGULAR),
        *over(Tier.FULL, "{shape} {dtype} {values}", shape=(7, 33), dtype=floats, values="special"),
        *over(Tier.FULL, "{shape} {dtype}", shape=(333,), dtype=[d for d in others if d is not first]),
        *over(Tier.BENCH, "{shape} {dtype}", shape=[(1024, 1024), (16, 128, 64, 60)],
              dtype=list(dict.fromkeys((first, second)))),
    )  # fmt: skip


def drawn(
    shape: tuple[int, ...],
    dtype: DType,
    rng: torch.Generator,
    *,
    draw: Callable[[torch.Tensor], torch.Tensor] | None = None,
    low: int | None = None,
    high: int | None = None,
) -> torch.Tensor:
    """Values of any dtype: floats of mixed magnitudes through `draw`, integers from `low` up to `high`.

    Without bounds integers cover the whole range of their dtype, both limits included. The parts of complex numbers are
    drawn separately.
    """
    kind = torch_dtype(dtype)
    if kind.is_complex:
        real, imaginary = (drawn(shape, F32, rng, draw=draw) for _ in range(2))
        return torch.complex(real, imaginary).to(kind)
    if is_integral(dtype):
        return _whole(shape, dtype, rng, low=low, high=high)
    x = mixed(shape, dtype if dtype is DType.FLOAT64 else F32, rng)
    return (x if draw is None else draw(x)).to(kind)


def unary_values(
    case: Case,
    rng: torch.Generator,
    *,
    draw: Callable[[torch.Tensor], torch.Tensor] | None = None,
    edges: Sequence[float] = (),
    special: Sequence[Special] = SPECIAL_VALUES,
    low: int | None = None,
    high: int | None = None,
) -> torch.Tensor:
    """The tensor of a case of `unary_cases` in its layout; contains `special` and `edges` if `values` requests them."""
    x = drawn(case.shape("shape"), case.dtype, rng, draw=draw, low=low, high=high)
    if case.word("values") == "special":
        x = with_edges(x, rng, edges=edges, special=special)
    return laid_out(x, case.word("layout"))


def with_edges(
    x: torch.Tensor, rng: torch.Generator, *, edges: Sequence[float], special: Sequence[Special] = SPECIAL_VALUES
) -> torch.Tensor:
    """A copy of the float tensor `x` with special values, and with `edges` among the remaining elements."""
    made = scattered(x, rng, values=special)
    flat = made.flatten()
    free = torch.nonzero(flat == x.flatten()).flatten()
    places = free[torch.randperm(len(free), generator=rng)[: len(edges)]]
    flat[places] = torch.tensor(edges[: len(places)], dtype=x.dtype, device=x.device)
    return flat.view(x.shape)


def unary_cost(case: Case, *, operations: int, result: DType | None = None) -> Cost:
    """`operations` per element; each is read once, and written once in the dtype `result` (default: the input's)."""
    elements = math.prod(case.shape("shape"))
    written = result or case.dtype
    return Cost(
        flops=operations * elements, bytes_read=elements * case.dtype.bytes, bytes_written=elements * written.bytes
    )


def in_double(function: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    """`function` of x in float64 or complex128, rounded once to the dtype of x; float32 of integers and booleans.

    Integers are rounded to float32 first, as PyTorch converts them before it computes.
    """
    kind = x.dtype if x.is_complex() or x.is_floating_point() else torch.float32
    wide = torch.complex128 if x.is_complex() else torch.float64
    return function(x.to(kind).to(wide)).to(kind)


def _whole(
    shape: tuple[int, ...], dtype: DType, rng: torch.Generator, *, low: int | None, high: int | None
) -> torch.Tensor:
    """Integers or booleans within their dtype; without bounds both limits of the dtype come first."""
    if dtype is DType.BOOL:
        return integers(shape, dtype, rng, low=0, high=2)
    limits = torch.iinfo(torch_dtype(dtype))
    least = limits.min if low is None else max(low, limits.min)
    most = limits.max if high is None else min(high, limits.max)
    x = torch.randint(least, most, shape, generator=rng, dtype=torch_dtype(dtype))
    if low is None and x.numel() > 1:
        x.view(-1)[:2] = torch.tensor([limits.min, limits.max], dtype=x.dtype, device=x.device)
    return x
