"""Broadcast view: y[o] = self[i] where i has 0 in every dimension of size 1 that is expanded.

Any rank, any strides, any dtype; new dimensions come in front, and -1 keeps a size.  `implicit` changes nothing.  The
answer may share memory with self.  Overload: expand is the only one.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, Determinism, ProblemDefinition, Tier
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, torch
from problems.kit.movement import EVERY_DTYPE, case_values, count, exact
from problems.kit.views import VIEW, broadcast, over, written_out

_NAME = "{shape} to {size} {dtype}"

CASES = (
    *over(Tier.SMOKE, _NAME, shape=(9, 1), size=(9, 33), dtype=[F32, BF16]),
    *over(Tier.SMOKE, _NAME, shape=(4, 1, 5), size=(2, -1, 3, -1), dtype=F32),
    *over(Tier.FULL, _NAME, shape=(), size=[(), (1,), (3, 4), (0,)], dtype=F32),
    *over(Tier.FULL, _NAME, shape=(1,), size=[(1,), (127,), (128,), (129,), (2, -1), (0,)], dtype=F32),
    *over(Tier.FULL, _NAME, shape=(7, 1, 3), size=[(7, 1, 3), (-1, -1, -1), (7, 4, 3), (2, 7, 5, 3)], dtype=F32),
    *over(Tier.FULL, _NAME, shape=(0, 1), size=[(0, 5), (3, 0, 1)], dtype=F32),
    *over(Tier.FULL, _NAME, shape=(3, 1, 5, 2), size=[(3, 4, 5, 2), (-1, -1, -1, -1)], dtype=F32),
    *over(Tier.FULL, _NAME, shape=(2, 1, 3, 1, 2), size=[(2, 4, 3, 5, 2), (-1, 2, -1, -1, -1)], dtype=F32),
    *over(Tier.FULL, _NAME, shape=(9, 1), size=(3, 9, 4), dtype=EVERY_DTYPE),
    *over(Tier.FULL, f"{_NAME} {{layout}}", shape=(1, 13, 65), size=(3, 13, 65), dtype=F32,
          layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.OFFSET]),
    *over(Tier.FULL, f"{_NAME} {{layout}}", shape=(3, 1, 5), size=(2, 3, 4, 5), dtype=F16, layout=Layout.IRREGULAR),
    *over(Tier.FULL, f"{_NAME} {{values}}", shape=(7, 1, 33), size=(7, 2, 33), dtype=FLOATS, values="special"),
    *over(Tier.BENCH, _NAME, shape=(4096, 1), size=(4096, 4096), dtype=BF16),
    *over(Tier.BENCH, _NAME, shape=(1, 512, 512), size=(64, 512, 512), dtype=F32),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, size, implicit: False."""
    return case_values(case, rng), list(case.shape("size")), False


def reference(x: torch.Tensor, size: list[int], implicit: bool = False) -> torch.Tensor:
    """The shape `size`, by coordinates."""
    new = len(size) - x.dim()
    sizes = [x.shape[axis - new] if wanted == -1 else wanted for axis, wanted in enumerate(size)]
    return broadcast(x, sizes)


def eager(x: torch.Tensor, size: list[int], implicit: bool = False) -> torch.Tensor:
    """PyTorch's operator."""
    return x.expand(size)


def cost(case: Case) -> Cost:
    """Cost of copying all elements."""
    shape, size = case.shape("shape"), case.shape("size")
    new = len(size) - len(shape)
    written = count(shape[axis - new] if wanted == -1 else wanted for axis, wanted in enumerate(size))
    return written_out(case, read=count(shape), written=written)


PROBLEM = ProblemDefinition(
    name="aten::expand",
    entry="expand",
    signature="expand(self: Tensor, size: list[int], implicit: bool = False) -> Tensor",
    summary="Broadcast view to a larger shape",
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
    cannot_reject={"unchanged_input": "where no size changes self is the answer"},
)
