"""Transpose of at most two dimensions: y[j, i] = self[i, j]; vectors and scalars are unchanged.

Any strides, any dtype.  The answer may share memory with self.  Overload: t is the only one.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, Determinism, ProblemDefinition, Tier
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, torch
from problems.kit.movement import EVERY_DTYPE, case_values, count, exact
from problems.kit.views import LAYOUTS, VIEW, over, picked, steps, written_out

_NAME = "{shape} {dtype}"

CASES = (
    *over(Tier.SMOKE, _NAME, shape=(9, 33), dtype=[F32, BF16]),
    *over(Tier.SMOKE, f"{_NAME} {{layout}}", shape=(5, 7), dtype=F32, layout=Layout.STRIDED),
    *over(Tier.FULL, _NAME, shape=[(), (1,), (0,), (33,), (1, 1), (0, 5), (5, 0), (1, 7)], dtype=F32),
    *over(Tier.FULL, _NAME, shape=[(127, 31), (128, 32), (129, 33), (2, 4099), (40, 40)], dtype=F32),
    *over(Tier.FULL, _NAME, shape=(9, 40), dtype=EVERY_DTYPE),
    *over(Tier.FULL, f"{_NAME} {{layout}}", shape=(13, 65), dtype=[F32, BF16], layout=[*LAYOUTS, Layout.PADDED]),
    *over(Tier.FULL, f"{_NAME} {{layout}}", shape=[(7, 5), (9,)], dtype=F16, layout=Layout.IRREGULAR),
    *over(Tier.FULL, f"{_NAME} {{values}}", shape=(7, 33), dtype=FLOATS, values="special"),
    *over(Tier.BENCH, _NAME, shape=[(4096, 4096), (512, 512)], dtype=BF16),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`."""
    return (case_values(case, rng),)


def reference(x: torch.Tensor) -> torch.Tensor:
    """The sizes of self in reverse order, by coordinates."""
    sizes = list(reversed(x.shape))
    last = x.dim() - 1
    return picked(x, sizes, {axis: steps(sizes, last - axis, x.device) for axis in range(x.dim())})


def eager(x: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.t(x)


def cost(case: Case) -> Cost:
    """Cost of copying all elements."""
    elements = count(case.shape("shape"))
    return written_out(case, read=elements, written=elements)


PROBLEM = ProblemDefinition(
    name="aten::t",
    entry="t",
    signature="t(self: Tensor) -> Tensor",
    summary="2-D transpose view",
    category=Category.VIEW,
    second_oracle="PyTorch's t, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    framework=VIEW,
    determinism=Determinism.EXACT,
)
