"""Losses and gradients of elementwise functions: several tensors of one shape, and PyTorch's `reduction`.

`reduction` is 0 for none, 1 for the mean, 2 for the sum.  "special" cases have NaN, infinities and extremes in self.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from engine.model import Case, Cost, DType, Parameter, Tier, Tolerance
from problems.kit.cases import BF16, F16, F32, cases_over
from problems.kit.deferred import torch
from problems.kit.layouts import Layout, laid_out
from problems.kit.pointwise.unary import drawn, with_edges
from problems.kit.tolerances import cancelling, rounded
from problems.kit.values import SPECIAL_VALUES, Special

loss_over = partial(cases_over, layout=Layout.CONTIGUOUS, other_layout=Layout.CONTIGUOUS, values="usual", reduction=0)


def loss_cases(
    *, dtype: Sequence[DType], reductions: Sequence[int] = (0, 1, 2), **options: Parameter
) -> tuple[Case, ...]:
    """The cases of an operator of any rank over `dtype`, float32 and bfloat16 among them; all have `options`."""
    over = partial(loss_over, **options)
    last = reductions[-1]
    return (
        *over(Tier.SMOKE, "{shape} {dtype}", shape=(1000,), dtype=[F32, BF16]),
        *over(Tier.SMOKE, "{shape} {dtype} reduction {reduction}", shape=(9, 65), dtype=F32,
              reduction=reductions[:2][-1]),
        *over(Tier.FULL, "{shape} {dtype}", shape=[(), (1,), (0, 5), (127,), (128,), (129,), (1025,), (3, 5, 4, 7)],
              dtype=F32),
        *over(Tier.FULL, "{shape} {dtype} reduction {reduction}", shape=(8, 7, 57), dtype=list(dtype),
              reduction=list(reductions)),
        *over(Tier.FULL, "{shape} {dtype} {layout}", shape=(33, 65), dtype=F32,
              layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET]),
        *over(Tier.FULL, "{shape} {dtype} others {other_layout}", shape=(33, 65), dtype=F32,
              other_layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.PADDED]),
        *over(Tier.FULL, "{shape} {dtype} all {layout}", shape=(2, 3, 4, 5, 6), dtype=BF16, layout=Layout.IRREGULAR,
              other_layout=Layout.IRREGULAR),
        *over(Tier.FULL, "{shape} {dtype} all {layout} reduction {reduction}", shape=(13, 31), dtype=F32,
              layout=Layout.IRREGULAR, other_layout=Layout.IRREGULAR, reduction=last),
        *over(Tier.FULL, "{shape} {dtype} {values}", shape=(7, 33), dtype=list(dtype), values="special"),
        *over(Tier.FULL, "{shape} {dtype} {values} reduction {reduction}", shape=(7, 33), dtype=F32, values="special",
              reduction=[reduction for reduction in reductions if reduction]),
        *over(Tier.FULL, "{shape} {dtype} reduction {reduction}", shape=(0, 5), dtype=F32,
              reduction=[reduction for reduction in reductions if reduction]),
        *over(Tier.BENCH, "{shape} {dtype} reduction {reduction}", shape=(1024, 1024), dtype=F32,
              reduction=list(reductions[:2])),
        *over(Tier.BENCH, "{shape} {dtype} reduction {reduction}", shape=(16, 128, 64, 60), dtype=BF16, reduction=last),
    )  # fmt: skip


def loss_input(
    case: Case,
    rng: torch.Generator,
    *,
    draw: Callable[[torch.Tensor], torch.Tensor] | None = None,
    edges: Sequence[float] = (),
    special: Sequence[Special] = SPECIAL_VALUES,
) -> torch.Tensor:
    """The tensor self of a case, in its layout."""
    x = drawn(case.shape("shape"), case.dtype, rng, draw=draw)
    if case.word("values") == "special":
        x = with_edges(x, rng, edges=edges, special=special)
    return laid_out(x, case.word("layout"))


def loss_other(
    case: Case, rng: torch.Generator, *, draw: Callable[[torch.Tensor], torch.Tensor] | None = None
) -> torch.Tensor:
    """Another tensor with the shape and dtype of self, in the layout of the other arguments."""
    return laid_out(drawn(case.shape("shape"), case.dtype, rng, draw=draw), case.word("other_layout"))


_LARGE, _UNITS = 1028.0, 15  # a unit of 16 bits is largest relative to numbers just above a power of two


def one_large_cases(
    *, dtype: Sequence[DType] = (F16, BF16), elements: int = 65_536, **options: Parameter
) -> tuple[Case, ...]:
    """Means and sums of `one_large_losses` in 16-bit dtypes; all have `options`."""
    name = "{shape} {dtype} {values} reduction {reduction}"
    return loss_over(
        Tier.FULL, name, shape=(elements,), dtype=list(dtype), values="one large", reduction=[1, 2], **options
    )


def one_large_losses(case: Case, rng: torch.Generator, *, largest: float = _LARGE) -> torch.Tensor:
    """Losses in float64, of the shape of self, whose first one is nearly their sum.

    The others are random and together fifteen units of it in the last place: a sum that is rounded to the dtype of self
    after each block loses them.
    """
    shape = case.shape("shape")
    mean = largest * _UNITS * case.dtype.epsilon / math.prod(shape)
    losses = mean * (0.5 + torch.rand(shape, generator=rng).double())
    losses.view(-1)[0] = largest
    return losses


def logits_of(losses: torch.Tensor) -> torch.Tensor:
    """x with log(1 + exp(x)) = `losses`, which are above 0; float64."""
    return losses + torch.log(-torch.expm1(-losses))


def signs(x: torch.Tensor) -> torch.Tensor:
    """A tensor of 1 and -1: labels of two classes."""
    return torch.where(x < 0, -1.0, 1.0)


def reduced(loss: torch.Tensor, reduction: int, dtype: torch.dtype) -> torch.Tensor:
    """The whole `loss`, its mean or its sum, rounded to `dtype`; the mean of no elements is NaN."""
    if reduction == 0:
        return loss.to(dtype)
    return (loss.mean() if reduction == 1 else loss.sum()).to(dtype)


def loss_tolerance(case: Case) -> Tolerance:
    """Elements are sums of terms that may each be rounded; a mean or sum has as many terms as there are elements."""
    if case.size("reduction") == 0:
        return cancelling(case.dtype)
    return rounded(case.dtype, roundings=2, terms=math.prod(case.shape("shape")))


def loss_cost(case: Case, *, tensors: int, operations: int) -> Cost:
    """`operations` per element of `tensors` inputs of one shape, and one more if the loss is reduced."""
    elements = math.prod(case.shape("shape"))
    is_reduced = case.size("reduction") != 0
    return Cost(
        flops=(operations + is_reduced) * elements,
        bytes_read=tensors * elements * case.dtype.bytes,
        bytes_written=(1 if is_reduced else elements) * case.dtype.bytes,
    )
