"""Counts of wrong elements, taken a piece at a time."""

from __future__ import annotations

import math

import pytest
import torch

from engine.judge.compare import pieces
from engine.judge.compare.compare import compare
from engine.judge.compare.counting import WrongCounts, count_wrong, count_wrong_each
from engine.model import Tolerance

EXACT = Tolerance(relative=0.0, absolute=0.0)
LOOSE = Tolerance(relative=0.1, absolute=0.0)


@pytest.mark.parametrize("got", [torch.ones(4, dtype=torch.float64), torch.ones(2, 2), torch.ones(1)])
def test_output_of_wrong_type_counts_every_element_wrong(got: torch.Tensor) -> None:
    assert count_wrong(got, torch.ones(4), LOOSE) == 4


@pytest.mark.parametrize("absolute", [0.0, 0.01])
def test_count_in_pieces_equals_the_report(monkeypatch: pytest.MonkeyPatch, absolute: float) -> None:
    monkeypatch.setattr(pieces, "_PIECE_ELEMENTS", 7)
    rng = torch.Generator().manual_seed(1)
    expected = torch.randn(20, 5, generator=rng) * torch.logspace(-4, 4, 20).unsqueeze(1)
    got = expected + 0.02 * torch.randn(20, 5, generator=rng)
    got[3, 2], expected[4, 1], expected[5, 0], got[5, 0] = math.nan, math.inf, math.nan, math.nan
    tolerance = Tolerance(relative=1e-3, absolute=absolute)
    mismatched = compare("return", got, expected, tolerance, poison=0).mismatched
    assert 1 < mismatched < 90
    assert count_wrong(got, expected, tolerance) == mismatched


def test_elements_wrong_in_all_chosen_values_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "_PIECE_ELEMENTS", 2)
    expected = torch.tensor([0.0, 1.0, 2.0, 0.0, 3.0])
    values = (torch.zeros(5), torch.full((5,), 2.0), torch.ones(5))
    assert count_wrong_each(values, expected, EXACT, together=(0, 1)) == WrongCounts(each=(3, 4, 4), of_all=2)


def test_output_without_elements_has_none_wrong() -> None:
    empty = torch.empty(0)
    assert count_wrong_each((empty, empty), empty, EXACT, together=(0,)) == WrongCounts(each=(0, 0), of_all=0)
