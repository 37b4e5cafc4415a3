"""The same elements in another shape: y.flat[n] = self.flat[n], both in row-major order of their coordinates.

Any rank, any strides, any dtype; one size may be -1.  The answer may share memory with self where the strides allow it,
and is a copy where they do not.  Overload: reshape is the only one.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, Determinism, FrameworkWork, ProblemDefinition, Tier
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, torch
from problems.kit.movement import EVERY_DTYPE, case_values, count, exact
from problems.kit.views import LAYOUTS, VIEW, over, written_out

_NAME = "{shape} to {to} {dtype}"

CASES = (
    *over(Tier.SMOKE, _NAME, shape=(8, 33), to=(4, 66), dtype=[F32, BF16]),
    *over(Tier.SMOKE, f"{_NAME} {{layout}}", shape=(6, 10), to=(-1,), dtype=F32, layout=Layout.TRANSPOSED),
    *over(Tier.FULL, _NAME, shape=(), to=[(), (1,), (1, -1)], dtype=F32),
    *over(Tier.FULL, _NAME, shape=(1,), to=[(), (1, 1), (-1,)], dtype=F32),
    *over(Tier.FULL, _NAME, shape=(0, 5), to=[(5, 0), (0,), (3, 0, 2)], dtype=F32),
    *over(Tier.FULL, _NAME, shape=(2, 3), to=[(3, 2), (1, 6), (-1,), (2, 3), (6, 1, 1)], dtype=F32),
    *over(Tier.FULL, _NAME, shape=(4, 8, 129), to=[(32, 129), (4, -1), (129, 32), (2, 2, 8, 129)], dtype=F32),
    *over(Tier.FULL, _NAME, shape=(2, 3, 4, 5, 6), to=[(6, 20, -1), (720,), (6, 5, 4, 3, 2)], dtype=F32),
    *over(Tier.FULL, _NAME, shape=(9, 40), to=(40, 9), dtype=EVERY_DTYPE),
    *over(Tier.FULL, f"{_NAME} {{layout}}", shape=(12, 65), to=[(65, 12), (-1,), (3, 4, 65)], dtype=F32,
          layout=LAYOUTS),
    *over(Tier.FULL, f"{_NAME} {{layout}}", shape=(4, 7, 5, 3), to=[(28, 15), (2, 2, 105)], dtype=F16,
          layout=Layout.IRREGULAR),
    *over(Tier.FULL, f"{_NAME} {{values}}", shape=(7, 32), to=(14, 16), dtype=FLOATS, values="special"),
    *over(Tier.BENCH, _NAME, shape=(4096, 4096), to=(2048, 8192), dtype=BF16),
    *over(Tier.BENCH, f"{_NAME} {{layout}}", shape=(4096, 4096), to=(-1,), dtype=F32, layout=Layout.TRANSPOSED),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, shape: `to`."""
    return case_values(case, rng), list(case.shape("to"))


def reference(x: torch.Tensor, shape: list[int]) -> torch.Tensor:
    """The shape `shape` with -1 replaced, by positions in a contiguous copy."""
    known = count(size for size in shape if size != -1)
    sizes = [x.numel() // known if size == -1 else size for size in shape]
    flat = torch.arange(x.numel(), device=x.device).view(sizes)
    return torch.take(x.contiguous(), flat)


def eager(x: torch.Tensor, shape: list[int]) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.reshape(x, shape)


def cost(case: Case) -> Cost:
    """Cost of copying all elements."""
    elements = count(case.shape("shape"))
    return written_out(case, read=elements, written=elements)


PROBLEM = ProblemDefinition(
    name="aten::reshape",
    entry="reshape",
    signature="reshape(self: Tensor, shape: list[int]) -> Tensor",
    summary="New shape, a view when possible, else a copy",
    category=Category.VIEW,
    second_oracle="numpy.reshape, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    framework=(*VIEW, FrameworkWork.COPIES, FrameworkWork.ALLOCATION),
    determinism=Determinism.EXACT,
    cannot_reject={"unchanged_input": "where no size changes self is the answer"},
)
