"""Zero in place: self[i] = 0.

Any rank, any strides, any dtype; memory between the elements stays as it is.  The content before does not matter, NaN
and infinities included.  Returns self.  Overload: zero_ is the only one.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, Determinism, ProblemDefinition, ReturnedMemory, Tier
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, cases_over, torch
from problems.kit.movement import EVERY_DTYPE, case_values, copied, count, exact

_over = partial(cases_over, layout=Layout.CONTIGUOUS, values="mixed")
_ALIKE = (
    "zeros",
    "mean",
    "backwards",
    "answer_to_other_inputs",
    "answer_of_another_case",
    "bfloat16_arithmetic",
    "tensorfloat32_arithmetic",
    "single_arithmetic",
    "integers_in_single",
    "nan_dropped",
    "infinities_clamped",
)  # lies that equal a right answer of this operator

CASES = (
    *_over(Tier.SMOKE, "{shape} {dtype}", shape=(7, 65), dtype=[F32, BF16]),
    *_over(Tier.FULL, "{shape} {dtype}", shape=[(), (1,), (0, 5), (127,), (128,), (129,), (4099,)], dtype=F32),
    *_over(Tier.FULL, "{shape} {dtype}", shape=[(31, 257), (8, 7, 9)], dtype=FLOATS),
    *_over(Tier.FULL, "{shape} {dtype}", shape=(9, 40), dtype=EVERY_DTYPE),
    *_over(Tier.FULL, "{shape} {dtype} {layout}", shape=(33, 65), dtype=[F32, BF16],
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.OFFSET, Layout.PADDED]),
    *_over(Tier.FULL, "{shape} {dtype} {layout}", shape=[(3, 7, 2, 3), (2, 3, 4, 2, 3)], dtype=F16,
           layout=Layout.IRREGULAR),
    *_over(Tier.FULL, "{shape} {dtype} {values}", shape=(7, 33), dtype=FLOATS, values="special"),
    *_over(Tier.BENCH, "{shape} {dtype}", shape=(4096, 4096), dtype=[F32, BF16]),
    *_over(Tier.BENCH, "{shape} {dtype} {layout}", shape=(4096, 2048), dtype=F32, layout=Layout.TRANSPOSED),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`; "special" values are half NaN and extremes."""
    return (case_values(case, rng),)


def reference(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """self twice: the returned and the written tensor."""
    zeros = torch.zeros(x.shape, dtype=x.dtype, device=x.device)
    return zeros, zeros


def eager(x: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    return x.zero_()


def cost(case: Case) -> Cost:
    """Written only."""
    return copied(case, read=0, written=count(case.shape("shape")))


PROBLEM = ProblemDefinition(
    name="aten::zero_",
    entry="zero_",
    signature="zero_(self: Tensor) -> Tensor",
    summary="Set all elements to zero in place",
    category=Category.FILL,
    second_oracle="PyTorch's zero_, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    determinism=Determinism.EXACT,
    mutates=("self",),
    returned_memory=ReturnedMemory.WRITTEN,
    written_only=("self",),
    cannot_reject=dict.fromkeys(_ALIKE, "every element of the answer is 0, whatever self holds"),
)
