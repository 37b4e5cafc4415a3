"""A slice as a view: y[..., i, ...] = self[..., start + i, ...] for 0 <= i < length along one dimension.

Any rank from 1, any strides, any dtype; dim and start may be negative.  The answer may share memory with self.
Overloads: narrow is tested; .Tensor reads start from a 0-d tensor.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, Determinism, ProblemDefinition, Tier
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, torch
from problems.kit.movement import EVERY_DTYPE, case_values, count, exact
from problems.kit.views import LAYOUTS, VIEW, over, picked, steps, written_out

_NAME = "{shape} dim {dim} start {start} length {length} {dtype}"

CASES = (
    *over(Tier.SMOKE, _NAME, shape=(9, 33), dim=0, start=2, length=5, dtype=[F32, BF16]),
    *over(Tier.SMOKE, _NAME, shape=(4, 9, 5), dim=-1, start=-3, length=2, dtype=F32),
    *over(Tier.FULL, _NAME, shape=(1,), dim=0, start=0, length=[0, 1], dtype=F32),
    *over(Tier.FULL, _NAME, shape=(0, 5), dim=1, start=1, length=3, dtype=F32),
    *over(Tier.FULL, _NAME, shape=(300,), dim=0, start=[0, 31, -129], length=[0, 127, 128, 129], dtype=F32),
    *over(Tier.FULL, _NAME, shape=(70, 129), dim=1, start=2, length=97, dtype=F32),
    *over(Tier.FULL, _NAME, shape=(3, 4, 5, 2, 7), dim=[2, 4], start=1, length=3, dtype=F32),
    *over(Tier.FULL, _NAME, shape=(9, 40), dim=1, start=3, length=31, dtype=EVERY_DTYPE),
    *over(Tier.FULL, f"{_NAME} {{layout}}", shape=(13, 65), dim=[0, 1], start=2, length=7, dtype=F32, layout=LAYOUTS),
    *over(Tier.FULL, f"{_NAME} {{layout}}", shape=(3, 7, 5, 3), dim=1, start=2, length=4, dtype=F16,
          layout=Layout.IRREGULAR),
    *over(Tier.FULL, f"{_NAME} {{values}}", shape=(7, 33), dim=1, start=1, length=31, dtype=FLOATS, values="special"),
    *over(Tier.BENCH, _NAME, shape=(4096, 4096), dim=[0, 1], start=100, length=2048, dtype=BF16),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, dim, start, length."""
    return case_values(case, rng), case.size("dim"), case.size("start"), case.size("length")


def reference(x: torch.Tensor, dim: int, start: int, length: int) -> torch.Tensor:
    """The shape of self with `length` along the dim, by coordinates."""
    dim %= x.dim()
    sizes = [length if axis == dim else size for axis, size in enumerate(x.shape)]
    shift = {dim: start % x.shape[dim] if start < 0 else start}
    return picked(x, sizes, {axis: steps(sizes, axis, x.device) + shift.get(axis, 0) for axis in range(x.dim())})


def eager(x: torch.Tensor, dim: int, start: int, length: int) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.narrow(x, dim, start, length)


def cost(case: Case) -> Cost:
    """Cost of copying the slice."""
    shape = list(case.shape("shape"))
    shape[case.size("dim")] = case.size("length")
    return written_out(case, read=count(shape), written=count(shape))


PROBLEM = ProblemDefinition(
    name="aten::narrow",
    entry="narrow",
    signature="narrow(self: Tensor, dim: int, start: int, length: int) -> Tensor",
    summary="View of a slice of given length along a dim",
    category=Category.VIEW,
    second_oracle="PyTorch's narrow, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    framework=VIEW,
    determinism=Determinism.EXACT,
    cannot_reject={"unchanged_input": "where nothing is cut off self is the answer"},
)
