"""The element of a tensor that has one, as item returns it: y = self[0].

self has one element, of any rank and at any position of its storage, of any dtype.  The answer is a Python bool for
bool, an int for integers, a complex for complex dtypes and a float for the rest, equal to the element; NaN, infinities
and subnormal values included.  Overload: _local_scalar_dense is the only one.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, Determinism, ProblemDefinition, Tier
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, torch
from problems.kit.movement import EVERY_DTYPE, case_values, exact
from problems.kit.scalars import CANNOT_TELL, READS, as_scalar, over, scalar_cost

_NAME = "{shape} {dtype}"

CASES = (
    *over(Tier.SMOKE, f"{_NAME} smoke", shape=(), dtype=[F32, BF16]),
    *over(Tier.FULL, _NAME, shape=[(), (1,), (1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1, 1)], dtype=EVERY_DTYPE),
    *over(Tier.FULL, f"{_NAME} {{layout}}", shape=[(1,), (1, 1)], dtype=[F32, F16], layout=[Layout.OFFSET,
          Layout.IRREGULAR]),
    *over(Tier.FULL, f"{_NAME} {{values}}", shape=(), dtype=FLOATS, values=["nan", "inf", "-inf", "-0.0", "1e-40"]),
    *over(Tier.BENCH, f"{_NAME} timed", shape=(1,), dtype=[F32, BF16]),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, one element, random or given by the case."""
    x = case_values(case, rng)
    return (x if case.word("values") == "mixed" else x.fill_(float(case.word("values"))),)


def reference(x: torch.Tensor) -> torch.Tensor:
    """The element, 0-d, in the dtype of the Python number."""
    return as_scalar(x)


def eager(x: torch.Tensor) -> bool | int | float | complex:
    """PyTorch's operator."""
    value: complex = torch.ops.aten._local_scalar_dense.default(x)
    return value


def cost(case: Case) -> Cost:
    """One element is read."""
    return scalar_cost(case)


PROBLEM = ProblemDefinition(
    name="aten::_local_scalar_dense",
    entry="_local_scalar_dense",
    signature="_local_scalar_dense(self: Tensor) -> complex",
    summary="Read the one element of a tensor as a Python number",
    category=Category.SCALAR_READ,
    second_oracle="PyTorch's _local_scalar_dense, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    returns_scalar=True,
    framework=READS,
    determinism=Determinism.EXACT,
    cannot_reject=CANNOT_TELL,
)
