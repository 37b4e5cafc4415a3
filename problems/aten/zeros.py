"""Zeros: y[i] = 0.

Any number of dimensions, any dtype; without a dtype the answer is float32, the default of PyTorch.  The answer is
contiguous and on the given device.  layout and pin_memory are left out.  Overloads: zeros is tested; .names and .out
compute the same.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, Determinism, ProblemDefinition, Tier
from problems.kit import BF16, F32, Arguments, cases_over, torch
from problems.kit.factories import CONSTANT, FILLS, SAME_FOR_ALL, device_of, filled, given_dtype, made
from problems.kit.movement import EVERY_DTYPE, exact

_over = partial(cases_over, given=True)
_NAME = "{size} {dtype}"

CASES = (
    *_over(Tier.SMOKE, _NAME, size=(7, 65), dtype=[F32, BF16]),
    *_over(Tier.FULL, _NAME, size=[(), (1,), (0,), (0, 5), (127,), (128,), (129,), (4099,)], dtype=F32),
    *_over(Tier.FULL, _NAME, size=[(31, 257), (3, 4, 5), (2, 3, 4, 2, 3)], dtype=F32),
    *_over(Tier.FULL, _NAME, size=(9, 40), dtype=EVERY_DTYPE),
    *_over(Tier.BENCH, _NAME, size=(4096, 4096), dtype=[F32, BF16]),
    *_over(Tier.FULL, f"{_NAME} by default", size=[(9, 40), ()], dtype=F32, given=False),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """size, dtype or None, device."""
    return list(case.shape("size")), given_dtype(case), device_of(rng)


def reference(size: list[int], dtype: torch.dtype | None = None, device: str | None = None) -> torch.Tensor:
    """The shape `size`, one element repeated."""
    return filled(size, 0, dtype or torch.float32, device or "cpu")


def eager(size: list[int], dtype: torch.dtype | None = None, device: str | None = None) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.zeros(size, dtype=dtype, device=device)


def cost(case: Case) -> Cost:
    """Every element is written once."""
    return made(case, case.dtype)


PROBLEM = ProblemDefinition(
    name="aten::zeros",
    entry="zeros",
    signature="zeros(size: list[int], dtype: DType | None = None, device: str | None = None) -> Tensor",
    summary="Zero tensor of a size and dtype",
    category=Category.FACTORY,
    second_oracle="PyTorch's zeros, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    framework=FILLS,
    determinism=Determinism.EXACT,
    cannot_reject={**SAME_FOR_ALL, "zeros": CONSTANT},
)
