"""A new dimension of size 1: y[..., 0, ...] = self[...].

Any rank, any strides, any dtype; dim counts in the result and may be negative.  The answer may share memory with self.
Overload: unsqueeze is the only one.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, Determinism, ProblemDefinition, Tier
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, torch
from problems.kit.movement import EVERY_DTYPE, case_values, count, exact
from problems.kit.views import LAYOUTS, VIEW, over, picked, steps, written_out

_NAME = "{shape} dim {dim} {dtype}"

CASES = (
    *over(Tier.SMOKE, _NAME, shape=(9, 33), dim=1, dtype=[F32, BF16]),
    *over(Tier.SMOKE, _NAME, shape=(4, 9, 5), dim=-1, dtype=F32),
    *over(Tier.FULL, _NAME, shape=(), dim=[0, -1], dtype=F32),
    *over(Tier.FULL, _NAME, shape=[(1,), (0,), (127,), (128,), (129,)], dim=[0, 1], dtype=F32),
    *over(Tier.FULL, _NAME, shape=(2, 3), dim=[-3, -1, 0, 1, 2], dtype=F32),
    *over(Tier.FULL, _NAME, shape=(70, 129), dim=1, dtype=F32),
    *over(Tier.FULL, _NAME, shape=(3, 4, 5, 2, 7), dim=[0, 3, -1], dtype=F32),
    *over(Tier.FULL, _NAME, shape=(9, 40), dim=1, dtype=EVERY_DTYPE),
    *over(Tier.FULL, f"{_NAME} {{layout}}", shape=(13, 65), dim=1, dtype=[F32, BF16], layout=LAYOUTS),
    *over(Tier.FULL, f"{_NAME} {{layout}}", shape=(3, 7, 5, 3), dim=2, dtype=F16, layout=Layout.IRREGULAR),
    *over(Tier.FULL, f"{_NAME} {{values}}", shape=(7, 33), dim=0, dtype=FLOATS, values="special"),
    *over(Tier.BENCH, _NAME, shape=(4096, 4096), dim=[0, 1], dtype=BF16),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, dim."""
    return case_values(case, rng), case.size("dim")


def reference(x: torch.Tensor, dim: int) -> torch.Tensor:
    """The shape of self with one more dimension, by coordinates."""
    dim %= x.dim() + 1
    sizes = [*x.shape[:dim], 1, *x.shape[dim:]]
    return picked(x, sizes, {axis: steps(sizes, axis + (axis >= dim), x.device) for axis in range(x.dim())})


def eager(x: torch.Tensor, dim: int) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.unsqueeze(x, dim)


def cost(case: Case) -> Cost:
    """Cost of copying all elements."""
    elements = count(case.shape("shape"))
    return written_out(case, read=elements, written=elements)


PROBLEM = ProblemDefinition(
    name="aten::unsqueeze",
    entry="unsqueeze",
    signature="unsqueeze(self: Tensor, dim: int) -> Tensor",
    summary="Insert a dim of size 1",
    category=Category.VIEW,
    second_oracle="PyTorch's unsqueeze, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    framework=VIEW,
    determinism=Determinism.EXACT,
)
