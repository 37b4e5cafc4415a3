"""Elementwise references against mpmath with 40 digits, an implementation that shares nothing with torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import pytest
import torch

from tests.operators import definition
from tests.problems.oracles.functions import ELEMENTARY

REAL = (-2.75, -1.5, -0.96875, -0.25, -0.0078125, 0.0078125, 0.375, 0.96875, 1.25, 2.5, 7.75, 11.5)
COMPLEX = (0.5 + 0.25j, -1.5 + 0.75j, 2.25 - 3.5j, -0.125 - 0.5j)
FUNCTIONS: dict[str, Callable[[Any], Any]] = {**ELEMENTARY, "logit": lambda x: mpmath.log(x / (1 - x))}
OF_COMPLEX = ("acosh", "asin", "cos", "cosh", "log10", "neg", "rsqrt", "sgn", "sin", "square")


def real(value: Any) -> float:
    """NaN where the function has no real value."""
    return float(mpmath.re(value)) if mpmath.im(value) == 0 else float("nan")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_reference_of_real_numbers_is_that_of_mpmath(name: str) -> None:
    with mpmath.workdps(40):
        wanted = torch.tensor([real(FUNCTIONS[name](mpmath.mpf(x))) for x in REAL], dtype=torch.float64)
    got = definition(f"aten::{name}").reference(torch.tensor(REAL, dtype=torch.float64))
    assert torch.allclose(got, wanted, rtol=1e-12, atol=1e-300, equal_nan=True)


@pytest.mark.parametrize("name", OF_COMPLEX)
def test_reference_of_complex_numbers_is_that_of_mpmath(name: str) -> None:
    with mpmath.workdps(40):
        wanted = torch.tensor([complex(FUNCTIONS[name](mpmath.mpc(z))) for z in COMPLEX], dtype=torch.complex128)
    got = definition(f"aten::{name}").reference(torch.tensor(COMPLEX, dtype=torch.complex128))
    assert torch.allclose(got, wanted, rtol=1e-12, atol=0)


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_reference_of_polygamma_is_that_of_mpmath(order: int) -> None:
    numbers = (0.25, 0.9375, 1.0, 2.5, 7.75, 100.0) + ((-0.375, -3.5) if order == 0 else ())
    with mpmath.workdps(40):
        wanted = torch.tensor([float(mpmath.psi(order, x)) for x in numbers], dtype=torch.float64)
    got = definition("aten::polygamma").reference(order, torch.tensor(numbers, dtype=torch.float64))
    assert torch.allclose(got, wanted, rtol=1e-12, atol=0)


def test_bitwise_not_of_integers_is_that_of_python() -> None:
    numbers = [-128, -1, 0, 1, 127]
    got = definition("aten::bitwise_not").reference(torch.tensor(numbers, dtype=torch.int8))
    assert got.tolist() == [~number for number in numbers]


def test_logit_with_eps_clamps_before_the_logarithm() -> None:
    x = torch.tensor([-1.0, 0.0, 0.5, 1.0, float("inf"), float("nan")], dtype=torch.float64)
    got = definition("aten::logit").reference(x, 0.125)
    ends = float(mpmath.log(7))
    assert torch.allclose(got, torch.tensor([-ends, -ends, 0, ends, ends, float("nan")]).double(), equal_nan=True)
