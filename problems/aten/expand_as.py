"""Broadcast view to the shape of another tensor: y[o] = self[i] where i has 0 in every dimension that is expanded.

Any rank, any strides, any dtypes; of `other` only the shape counts.  The answer may share memory with self.  Overload:
expand_as is the only one.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, Determinism, ProblemDefinition, Tier
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, torch
from problems.kit.movement import EVERY_DTYPE, any_values, case_values, count, exact
from problems.kit.views import VIEW, broadcast, over, written_out

_over = partial(over, other_layout=Layout.CONTIGUOUS)
_NAME = "{shape} as {other} {dtype}"

CASES = (
    *_over(Tier.SMOKE, _NAME, shape=(9, 1), other=(9, 33), dtype=[F32, BF16]),
    *_over(Tier.SMOKE, _NAME, shape=(4, 1, 5), other=(2, 4, 3, 5), dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(), other=[(), (1,), (3, 4), (0,)], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(1,), other=[(1,), (127,), (128,), (129,), (2, 1), (0,)], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(7, 1, 3), other=[(7, 1, 3), (7, 4, 3), (2, 7, 5, 3)], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(2, 1, 3, 1, 2), other=[(2, 4, 3, 5, 2), (2, 2, 3, 1, 2)], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(2, 3, 1, 5, 1), other=(2, 3, 4, 5, 2), dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(9, 1), other=(3, 9, 4), dtype=EVERY_DTYPE),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", shape=(1, 13, 65), other=(3, 13, 65), dtype=F32,
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.OFFSET]),
    *_over(Tier.FULL, f"{_NAME} other {{other_layout}}", shape=(13, 1), other=(13, 65), dtype=F32,
           other_layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED]),
    *_over(Tier.FULL, f"{_NAME} both {{layout}}", shape=(3, 1, 5), other=(2, 3, 4, 5), dtype=F16,
           layout=Layout.IRREGULAR, other_layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_NAME} {{values}}", shape=(7, 1, 33), other=(7, 2, 33), dtype=FLOATS, values="special"),
    *_over(Tier.BENCH, _NAME, shape=(4096, 1), other=(4096, 4096), dtype=BF16),
    *_over(Tier.BENCH, _NAME, shape=(1, 512, 512), other=(64, 512, 512), dtype=F32),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, other: a tensor of shape `other`."""
    other = any_values(case.shape("other"), F32, rng, layout=case.word("other_layout"))
    return case_values(case, rng), other


def reference(x: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """The shape of other, by coordinates."""
    return broadcast(x, other.shape)


def eager(x: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    return x.expand_as(other)


def cost(case: Case) -> Cost:
    """Cost of copying all elements; other is not read."""
    return written_out(case, read=count(case.shape("shape")), written=count(case.shape("other")))


PROBLEM = ProblemDefinition(
    name="aten::expand_as",
    entry="expand_as",
    signature="expand_as(self: Tensor, other: Tensor) -> Tensor",
    summary="Broadcast view to the shape of another tensor",
    category=Category.VIEW,
    second_oracle="numpy.broadcast_to, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    framework=VIEW,
    determinism=Determinism.EXACT,
)
