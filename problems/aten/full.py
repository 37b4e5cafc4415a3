"""Constant: y[i] = fill_value.

Any number of dimensions, any dtype; without a dtype it is that of the value: bool, int64, float32 or complex64.  A
value is cast by the rules for elements: 3.7 becomes 3 in int32 and true in bool.  Values that the dtype cannot hold are
outside of the contract.  The answer is contiguous and on the given device.  Overloads: full is tested; .names and .out
compute the same.
"""

from __future__ import annotations

import math
from functools import partial

from engine.model import Case, Category, Cost, Determinism, DType, ProblemDefinition, Tier
from problems.kit import BF16, F32, Arguments, cases_over, torch
from problems.kit.factories import FILLS, SAME_FOR_ALL, device_of, filled, given_dtype, made
from problems.kit.movement import EVERY_DTYPE, equal, usual_number

_over = partial(cases_over, given=True, value="default")
_NAME = "{size} {dtype}"
_VALUED = f"{_NAME} of {{value}}"
_VALUES: dict[str, bool | float | complex] = {
    "nan": math.nan, "-inf": -math.inf, "true": True, "2": 2, "3.7": 3.7, "-1": -1, "1-2j": 1 - 2j,
}  # fmt: skip

CASES = (
    *_over(Tier.SMOKE, _NAME, size=(7, 65), dtype=[F32, BF16]),
    *_over(Tier.FULL, _NAME, size=[(), (1,), (0,), (0, 5), (127,), (128,), (129,), (4099,)], dtype=F32),
    *_over(Tier.FULL, _NAME, size=[(31, 257), (3, 4, 5), (2, 3, 4, 2, 3)], dtype=F32),
    *_over(Tier.FULL, _NAME, size=(9, 40), dtype=EVERY_DTYPE),
    *_over(Tier.BENCH, _NAME, size=(4096, 4096), dtype=[F32, BF16]),
    *_over(Tier.FULL, f"{_VALUED} by default", size=(9, 40), dtype=F32, value=["3.7", "nan"], given=False),
    *_over(Tier.FULL, f"{_VALUED} by default", size=(9, 40), dtype=DType.INT64, value="2", given=False),
    *_over(Tier.FULL, f"{_VALUED} by default", size=(9, 40), dtype=DType.BOOL, value="true", given=False),
    *_over(Tier.FULL, f"{_VALUED} by default", size=(9, 40), dtype=DType.COMPLEX64, value="1-2j", given=False),
    *_over(Tier.FULL, _VALUED, size=(9, 40), dtype=DType.FLOAT64, value="3.7"),
    *_over(Tier.FULL, _VALUED, size=(9, 40), dtype=[F32, BF16], value=["nan", "-inf", "true"]),
    *_over(Tier.FULL, _VALUED, size=(9, 40), dtype=[DType.INT32, DType.INT8, DType.BOOL], value=["3.7", "-1"]),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """size, fill_value: given by the case, else `usual_number`, dtype or None, device."""
    return (
        list(case.shape("size")),
        _VALUES.get(case.word("value"), usual_number(case.dtype)),
        given_dtype(case),
        device_of(rng),
    )


def reference(
    size: list[int], fill_value: complex, dtype: torch.dtype | None = None, device: str | None = None
) -> torch.Tensor:
    """The shape `size`, one element repeated."""
    return filled(size, fill_value, dtype or torch.tensor(fill_value).dtype, device or "cpu")


def eager(
    size: list[int], fill_value: complex, dtype: torch.dtype | None = None, device: str | None = None
) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.full(size, fill_value, dtype=dtype, device=device)


def cost(case: Case) -> Cost:
    """Every element is written once."""
    return made(case, case.dtype)


PROBLEM = ProblemDefinition(
    name="aten::full",
    entry="full",
    signature=(
        "full(size: list[int], fill_value: complex, dtype: DType | None = None, device: str | None = None) -> Tensor"
    ),
    summary="Tensor filled with a number, dtype inferred or given",
    category=Category.FACTORY,
    second_oracle="PyTorch's full, in every smoke and full case",
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
