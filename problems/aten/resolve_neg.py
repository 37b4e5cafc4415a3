"""Materialise a lazy negation: y = -(stored values) where self has the negative bit, y = self where it has not.

Any rank, any strides, any dtype but bool.  PyTorch returns an argument without the bit itself.  The answer must not
have the negative bit; its values are compared, zeros of either sign, since 0 - x is a negation too.  The answer may
share memory with self if the bit is not set. Overload: resolve_neg is the only one.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, Determinism, DType, FrameworkWork, ProblemDefinition, Tier
from problems.kit import BF16, F32, FLOATS, Arguments, Layout, torch
from problems.kit.movement import case_values, count, equal
from problems.kit.views import VIEW, over, written_out

_over = partial(over, lazy=True)
_NAME = "{shape} {dtype} neg {lazy}"

CASES = (
    *_over(Tier.SMOKE, _NAME, shape=(9, 33), dtype=[F32, BF16]),
    *_over(Tier.SMOKE, _NAME, shape=(4, 9, 5), dtype=F32, lazy=False),
    *_over(Tier.FULL, _NAME, shape=[(), (1,), (0, 5), (127,), (128,), (129,), (3, 1025)], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(2, 3, 4, 2, 3), dtype=[F32, BF16], lazy=[True, False]),
    *_over(Tier.FULL, _NAME, shape=(9, 40), lazy=[True, False], dtype=[*FLOATS, DType.FLOAT64, DType.INT64,
           DType.INT32, DType.INT8, DType.COMPLEX64]),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", shape=(13, 65), dtype=F32, lazy=[True, False],
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET]),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", shape=(3, 7, 2, 3), dtype=BF16, layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_NAME} {{values}}", shape=(7, 33), dtype=[F32, BF16], values="special"),
    *_over(Tier.BENCH, _NAME, shape=(2048, 4096), dtype=[F32, BF16]),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, with the negative bit where `lazy`."""
    x = case_values(case, rng)
    return (torch._neg_view(x) if case.claim("lazy") else x,)


def reference(x: torch.Tensor) -> torch.Tensor:
    """The shape of self; the stored values times -1."""
    return torch._neg_view(x) * -1 if x.is_neg() else x.clone()


def eager(x: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator, which does nothing if the argument does not have the bit."""
    return torch.resolve_neg(x)


def cost(case: Case) -> Cost:
    """Cost of copying all elements."""
    elements = count(case.shape("shape"))
    return written_out(case, read=elements, written=elements)


PROBLEM = ProblemDefinition(
    name="aten::resolve_neg",
    entry="resolve_neg",
    signature="resolve_neg(self: Tensor) -> Tensor",
    summary="Materialise a lazily negated tensor",
    category=Category.VIEW,
    second_oracle="PyTorch's resolve_neg, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=equal,
    cost=cost,
    framework=(*VIEW, FrameworkWork.COPIES, FrameworkWork.ALLOCATION),
    determinism=Determinism.EXACT,
    materialises=True,
    cannot_reject={"unchanged_input": "an argument equals the answer in value: its negative bit is part of its value"},
)
