"""One slice as a view: y[i, k] = self[i, index, k] for dim = 1, likewise for the others; the dimension is dropped.

Any rank from 1, any strides, any dtype; dim and index may be negative.  The answer may share memory with self.
Overloads: .int is tested; .Dimname and .t are for names and lists.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, Determinism, ProblemDefinition, Tier
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, torch
from problems.kit.movement import EVERY_DTYPE, case_values, count, exact
from problems.kit.views import LAYOUTS, VIEW, over, picked, steps, written_out

_NAME = "{shape} dim {dim} index {index} {dtype}"

CASES = (
    *over(Tier.SMOKE, _NAME, shape=(9, 33), dim=0, index=2, dtype=[F32, BF16]),
    *over(Tier.SMOKE, _NAME, shape=(4, 9, 5), dim=-2, index=-3, dtype=F32),
    *over(Tier.FULL, _NAME, shape=(1,), dim=0, index=[0, -1], dtype=F32),
    *over(Tier.FULL, _NAME, shape=(0, 5), dim=1, index=3, dtype=F32),
    *over(Tier.FULL, _NAME, shape=[(127, 3), (128, 3), (129, 3), (4099, 2)], dim=[0, 1], index=-2, dtype=F32),
    *over(Tier.FULL, _NAME, shape=(3, 4, 5, 2, 7), dim=[0, 2, -1], index=1, dtype=F32),
    *over(Tier.FULL, _NAME, shape=(9, 40), dim=1, index=31, dtype=EVERY_DTYPE),
    *over(Tier.FULL, f"{_NAME} {{layout}}", shape=(13, 65), dim=[0, 1], index=2, dtype=F32, layout=LAYOUTS),
    *over(Tier.FULL, f"{_NAME} {{layout}}", shape=(3, 7, 5, 3), dim=1, index=-2, dtype=F16, layout=Layout.IRREGULAR),
    *over(Tier.FULL, f"{_NAME} {{values}}", shape=(7, 33, 3), dim=2, index=1, dtype=FLOATS, values="special"),
    *over(Tier.BENCH, _NAME, shape=(16, 1024, 1024), dim=[0, 2], index=7, dtype=BF16),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, dim, index."""
    return case_values(case, rng), case.size("dim"), case.size("index")


def reference(x: torch.Tensor, dim: int, index: int) -> torch.Tensor:
    """The shape of self without the dim, by coordinates."""
    dim %= x.dim()
    sizes = [size for axis, size in enumerate(x.shape) if axis != dim]
    grid = {axis: steps(sizes, axis - (axis > dim), x.device) for axis in range(x.dim()) if axis != dim}
    return picked(x, sizes, grid | {dim: torch.tensor(index % x.shape[dim], device=x.device)})


def eager(x: torch.Tensor, dim: int, index: int) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.select(x, dim, index)


def cost(case: Case) -> Cost:
    """Cost of copying the slice."""
    shape = list(case.shape("shape"))
    del shape[case.size("dim")]
    return written_out(case, read=count(shape), written=count(shape))


PROBLEM = ProblemDefinition(
    name="aten::select",
    entry="select",
    signature="select(self: Tensor, dim: int, index: int) -> Tensor",
    summary="Drop a dim by fixing its index",
    category=Category.VIEW,
    second_oracle="PyTorch's select, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    framework=VIEW,
    determinism=Determinism.EXACT,
)
