"""References with two operands against numpy and against Python's own arithmetic."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch

from tests.operators import definition

NUMBERS = (math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 0.1, 6.0, -6.0, 7.5, -2.0, 3.0, 0.5, 1e300)
WHOLE = (-128, -7, -2, -1, 0, 1, 2, 3, 100, 127)
OF_FLOATS: dict[str, Callable[[Any, Any], Any]] = {
    "mul": numpy.multiply,
    "div": numpy.divide,
    "floor_divide": numpy.floor_divide,
    "fmax": numpy.fmax,
    "logaddexp2": numpy.logaddexp2,
    "sub": numpy.subtract,
    "rsub": lambda x, other: other - x,
    "pow": numpy.power,
    "eq": numpy.equal,
    "gt": numpy.greater,
    "le": numpy.less_equal,
}
OF_INTEGERS: dict[str, Callable[[int, int], int]] = {
    "mul": operator.mul,
    "floor_divide": operator.floordiv,
    "fmax": max,
    "sub": operator.sub,
    "pow": operator.pow,
    "eq": operator.eq,
    "gt": operator.gt,
    "le": operator.le,
}


@pytest.mark.parametrize("name", OF_FLOATS)
def test_reference_of_every_float_pair_equals_numpy(name: str) -> None:
    left, right = (
        torch.tensor(side, dtype=torch.float64) for side in zip(*itertools.product(NUMBERS, NUMBERS), strict=True)
    )
    with numpy.errstate(all="ignore"):
        wanted = torch.from_numpy(OF_FLOATS[name](left.numpy(), right.numpy()))
    got = definition(f"aten::{name}").reference(left, right)
    assert torch.allclose(got.double(), wanted.double(), rtol=1e-15, atol=0, equal_nan=True)


@pytest.mark.parametrize("name", OF_INTEGERS)
def test_reference_of_small_integers_is_that_of_python(name: str) -> None:
    pairs = [(a, b) for a, b in itertools.product(WHOLE, WHOLE) if b > 0 or name not in ("floor_divide", "pow")]
    left, right = (torch.tensor(side, dtype=torch.int8) for side in zip(*pairs, strict=True))
    wanted = [OF_INTEGERS[name](a, b) for a, b in pairs]
    got = definition(f"aten::{name}").reference(left, right)
    assert got.tolist() == [value if got.dtype == torch.bool else (value + 128) % 256 - 128 for value in wanted]


@pytest.mark.parametrize(("mode", "quotients"), [("trunc", [-3, -3, 3, 3]), ("floor", [-4, -4, 3, 3])])
def test_integer_division_by_mode_equals_hand_computation(mode: str, quotients: list[int]) -> None:
    left, right = torch.tensor([-7, 7, -7, 7]), torch.tensor([2, -2, -2, 2])
    assert definition("aten::div").reference(left, right, mode).tolist() == quotients


def test_floor_division_rounds_the_exact_quotient_down() -> None:
    six, tenth = torch.tensor([6.0, -6.0]), torch.tensor([0.1, 0.1])
    assert definition("aten::floor_divide").reference(six, tenth).tolist() == [59.0, -60.0]
    assert definition("aten::div").reference(six, tenth, "trunc").tolist() == [60.0, -60.0]


def test_heaviside_has_values_at_zeros_and_nan() -> None:
    x = torch.tensor([math.nan, 0.0, -0.0, math.inf, -math.inf, 2.0])
    got = definition("aten::heaviside").reference(x, torch.tensor([5.0, 0.5, math.inf, 7.0, 7.0, 7.0]))
    assert got.tolist() == [0.0, 0.5, math.inf, 1.0, 0.0, 1.0]


@pytest.mark.parametrize("name", ["add_", "div_"])
def test_reference_in_place_equals_returning_operator(name: str) -> None:
    x, other = torch.tensor([1.0, -6.5], dtype=torch.float16), torch.tensor([2.0, 0.1])
    returned, written = definition(f"aten::{name}").reference(x, other)
    expected = {"add_": [3.0, -6.3984375], "div_": [0.5, -65.0]}[name]
    assert returned.tolist() == written.tolist() == expected
