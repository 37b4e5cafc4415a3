"""A copy: y[i] = self[i].

Any rank, any strides, any dtype; NaN and infinities are copied unchanged.  The answer shares no memory with self.
Values are compared, not strides: PyTorch keeps those of a dense self.  memory_format is left out.  Overloads: clone is
tested; .out computes the same.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, Determinism, ProblemDefinition, ReturnedMemory, Tier
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, cases_over, torch
from problems.kit.casts import COPIES, cast, copy_cost, elements
from problems.kit.movement import EVERY_DTYPE, case_values, exact

_over = partial(cases_over, layout=Layout.CONTIGUOUS, values="mixed", result="same")
_NAME = "{shape} {dtype}"

CASES = (
    *_over(Tier.SMOKE, _NAME, shape=(7, 65), dtype=[F32, BF16]),
    *_over(Tier.FULL, _NAME, shape=[(), (1,), (0, 5), (127,), (128,), (129,), (4099,)], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=[(31, 257), (8, 7, 9), (2, 3, 4, 2, 3)], dtype=FLOATS),
    *_over(Tier.FULL, _NAME, shape=(9, 40), dtype=EVERY_DTYPE),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", shape=(33, 65), dtype=[F32, BF16],
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET, Layout.PADDED]),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", shape=[(3, 7, 2, 3), (9,)], dtype=F16, layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_NAME} {{values}}", shape=(7, 33), dtype=FLOATS, values="special"),
    *_over(Tier.BENCH, _NAME, shape=(4096, 4096), dtype=[F32, BF16]),
    *_over(Tier.BENCH, f"{_NAME} {{layout}}", shape=(4096, 2048), dtype=F32, layout=Layout.TRANSPOSED),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`."""
    return (case_values(case, rng),)


def reference(x: torch.Tensor) -> torch.Tensor:
    """The shape of self, new memory."""
    return cast(x, x.dtype)


def eager(x: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    return x.clone()


def cost(case: Case) -> Cost:
    """Every element is read and written once."""
    return copy_cost(case, read=elements(case), written=elements(case))


PROBLEM = ProblemDefinition(
    name="aten::clone",
    entry="clone",
    signature="clone(self: Tensor) -> Tensor",
    summary="Deep copy",
    category=Category.COPY_CAST,
    second_oracle="PyTorch's clone, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    returned_memory=ReturnedMemory.NEW,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    framework=COPIES,
    determinism=Determinism.EXACT,
    cannot_reject={"unchanged_input": "the answer is a copy of self"},
)
