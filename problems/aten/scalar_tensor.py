"""A 0-d tensor: y = s.

Any dtype; without a dtype the answer is float32, the default of PyTorch, whatever the type of s.  A number is cast by
the rules for elements; one that the dtype cannot hold is outside of the contract.  Overloads: scalar_tensor is tested;
.out computes the same.
"""

from __future__ import annotations

import math
from functools import partial

from engine.model import Case, Category, Cost, Determinism, DType, ProblemDefinition, Tier
from problems.kit import BF16, F32, Arguments, cases_over, torch
from problems.kit.factories import FILLS, SAME_FOR_ALL, device_of, filled, given_dtype, made
from problems.kit.movement import EVERY_DTYPE, equal, usual_number

_over = partial(cases_over, given=True, value="default", size=())
_NAME = "{dtype}"
_VALUED = "{value} {dtype}"
_VALUES: dict[str, bool | float] = {
    "nan": math.nan, "-inf": -math.inf, "true": True, "-7": -7, "12345": 12345, "3.14159": 3.14159, "-1.5": -1.5,
}  # fmt: skip

CASES = (
    *_over(Tier.SMOKE, _NAME, dtype=[F32, BF16]),
    *_over(Tier.FULL, f"{_NAME} full", dtype=EVERY_DTYPE),
    *_over(Tier.FULL, f"{_VALUED} by default", dtype=F32, value=["3.14159", "12345", "true"], given=False),
    *_over(Tier.FULL, _VALUED, dtype=[F32, BF16, DType.FLOAT16], value=["nan", "-inf", "true", "-7", "3.14159"]),
    *_over(Tier.FULL, _VALUED, dtype=DType.FLOAT64, value="3.14159"),
    *_over(Tier.FULL, _VALUED, dtype=[DType.INT32, DType.INT64, DType.BOOL], value=["-1.5", "12345"]),
    *_over(Tier.BENCH, f"{_NAME} timed", dtype=[F32, BF16]),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """s: given by the case, else `usual_number`, dtype or None, device."""
    return _VALUES.get(case.word("value"), usual_number(case.dtype)), given_dtype(case), device_of(rng)


def reference(s: complex, dtype: torch.dtype | None = None, device: str | None = None) -> torch.Tensor:
    """0-d, one element."""
    return filled([], s, dtype or torch.float32, device or "cpu")


def eager(s: complex, dtype: torch.dtype | None = None, device: str | None = None) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.scalar_tensor(s, dtype=dtype, device=device)


def cost(case: Case) -> Cost:
    """One element is written."""
    return made(case, case.dtype)


PROBLEM = ProblemDefinition(
    name="aten::scalar_tensor",
    entry="scalar_tensor",
    signature="scalar_tensor(s: complex, dtype: DType | None = None, device: str | None = None) -> Tensor",
    summary="0-d tensor from a Python number",
    category=Category.FACTORY,
    second_oracle="PyTorch's scalar_tensor, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=equal,
    cost=cost,
    framework=FILLS,
    determinism=Determinism.EXACT,
    cannot_reject=SAME_FOR_ALL,
)
