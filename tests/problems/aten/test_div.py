"""Quotients rounded down, at infinities: Python's // and PyTorch agree, the floor of a quotient differs."""

from __future__ import annotations

import math

import pytest
import torch

from problems.aten import div


@pytest.mark.parametrize(
    ("left", "right"), [(math.inf, 2.0), (-math.inf, 2.0), (math.inf, -math.inf), (1.0, math.inf), (-1.0, math.inf)]
)
def test_floor_of_infinite_quotient_is_that_of_python(left: float, right: float) -> None:
    expected = div.reference(torch.tensor([left]), torch.tensor([right]), "floor").item()
    assert expected == left // right or (math.isnan(expected) and math.isnan(left // right))


def test_floor_of_infinity_by_zero_is_infinite() -> None:
    assert div.reference(torch.tensor([math.inf]), torch.tensor([0.0]), "floor").item() == math.inf
