"""The quick answer is the answer of the full comparison, for every kind of value."""

from __future__ import annotations

import math

import pytest
import torch

from engine.judge.compare.compare import compare
from engine.judge.compare.counting import count_wrong
from engine.judge.compare.quick import wrong_among, wrong_anywhere
from engine.model import Outcome, Tolerance

EXACT = Tolerance(relative=0.0, absolute=0.0)
SIGNED = Tolerance(relative=0.0, absolute=0.0, signed_zeros=True)
LOOSE = Tolerance(relative=0.1, absolute=0.0)
SCALED = Tolerance(relative=0.0, absolute=0.1)
FLOORED = Tolerance(relative=0.0, absolute=0.1, least_scale=8.0)
NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("got", "expected", "tolerance"),
    [
        ([1.0, -2.0], [1.0, -2.0], EXACT),
        ([1.0, -2.0], [1.0, -2.0000002], EXACT),
        ([1.05, 20.0], [1.0, 21.0], LOOSE),
        ([1.2, 20.0], [1.0, 21.0], LOOSE),
        ([0.3, 10.0], [0.0, 10.0], SCALED),
        ([0.9, 10.0], [0.0, 10.0], SCALED),
        ([0.0, 0.0], [0.0, 0.0], SCALED),
        ([1e-30, 0.0], [0.0, 0.0], SCALED),
        ([NAN, INF], [NAN, INF], LOOSE),
        ([INF, 1.0], [-INF, 1.0], LOOSE),
        ([NAN, 1.0], [1.0, 1.0], LOOSE),
        ([1.0, 1.0], [NAN, 1.0], LOOSE),
        ([1.0, INF], [1.0, NAN], LOOSE),
        ([1.02, INF], [1.0, INF], SCALED),
        ([INF, NAN], [INF, NAN], SCALED),
        ([1.08, INF, INF, NAN], [1.0, INF, INF, NAN], SCALED),
        ([0.5], [0.0], FLOORED),
        ([1.0], [0.0], FLOORED),
        ([2.0, 10.0], [1.0, 100.0], FLOORED),
        ([0.0, 1.0], [-0.0, 1.0], EXACT),
        ([0.0, 1.0], [-0.0, 1.0], SIGNED),
        ([-0.0, 1.0], [-0.0, 1.0], SIGNED),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.complex64])
def test_quick_and_full_agree_on_floats(
    got: list[float], expected: list[float], tolerance: Tolerance, dtype: torch.dtype
) -> None:
    agree(torch.tensor(got, dtype=dtype), torch.tensor(expected, dtype=dtype), tolerance)


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (torch.tensor([2**60, 1]), torch.tensor([2**60, 1])),
        (torch.tensor([2**60 + 1, 1]), torch.tensor([2**60, 1])),
        (torch.tensor([True, False]), torch.tensor([True, False])),
        (torch.tensor([True, True]), torch.tensor([True, False])),
        (torch.tensor([2], dtype=torch.uint8).view(torch.bool), torch.tensor([True])),
        (torch.empty(0, 3), torch.empty(0, 3)),
        (torch.full((3,), 1e200, dtype=torch.float64), torch.full((3,), 1e200, dtype=torch.float64)),
        (torch.tensor([1e200, 0.0], dtype=torch.float64), torch.tensor([1e200, 1e199], dtype=torch.float64)),
    ],
)
@pytest.mark.parametrize("tolerance", [EXACT, SCALED])
def test_quick_and_full_agree_on_other_dtypes(got: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance) -> None:
    agree(got, expected, tolerance)


def test_tensors_that_are_not_contiguous() -> None:
    plane = torch.arange(12.0).view(3, 4)
    agree(plane.T, plane.T.clone(), EXACT)
    agree(plane[:, ::2], plane[:, 1::2], EXACT)


def test_each_of_several_outputs_uses_its_own_scale() -> None:
    expected = torch.tensor([[0.0, 10.0], [0.0, 1.0], [NAN, 1.0], [0.0, 10.0]], dtype=torch.bfloat16)
    got = torch.tensor([[0.3, 10.0], [0.3, 1.0], [NAN, 1.0], [NAN, 10.0]], dtype=torch.bfloat16)
    assert wrong_among(got, expected, SCALED).tolist() == [False, True, False, True]
    assert wrong_among(torch.tensor([[1], [2]]), torch.tensor([[1], [3]]), EXACT).tolist() == [False, True]


def agree(got: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance) -> None:
    report = compare("return", got, expected, tolerance, poison=0x7B)
    assert bool(wrong_anywhere(got, expected, tolerance)) is (report.outcome is not Outcome.PASS)
    assert count_wrong(got, expected, tolerance) == report.mismatched
