"""The short way to a report says what the long one does, and leaves to it whatever is not plainly right."""

from __future__ import annotations

import math

import pytest
import torch

from engine.judge.compare import pieces
from engine.judge.compare.compare import _report, compare_elements
from engine.judge.compare.passing import report_of_pass
from engine.model import Outcome, Tolerance

EXACT = Tolerance(relative=0.0, absolute=0.0)
LOOSE = Tolerance(relative=0.1, absolute=0.0)
SCALED = Tolerance(relative=0.0, absolute=0.1)
NAN, INF = math.nan, math.inf
FLOATS = (torch.float32, torch.float16, torch.bfloat16)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(
    ("got", "expected", "tolerance"),
    [
        ([1.0, -2.0], [1.0, -2.0], EXACT),
        ([1.05, -20.0], [1.0, -21.0], LOOSE),
        ([0.3, 9.8], [0.0, 10.0], SCALED),
        ([0.0, -0.0], [-0.0, 0.0], EXACT),
        ([0.0], [0.0], SCALED),
        ([-0.01, 0.01], [0.01, -0.01], SCALED),
    ],
)
def test_passing_floats_match_the_full_comparison(
    got: list[float], expected: list[float], tolerance: Tolerance, dtype: torch.dtype
) -> None:
    sides = torch.tensor([*got, 5.0], dtype=dtype), torch.tensor([*expected, 5.0], dtype=dtype)
    report = report_of_pass("x", *sides, tolerance)
    assert report is not None
    assert report == _report("x", *sides, compare_elements(*sides, tolerance), 0x7B)


@pytest.mark.parametrize("wrong", [0.0, 2.0, NAN, INF], ids=str)
def test_large_output_compared_in_pieces_matches_the_whole(monkeypatch: pytest.MonkeyPatch, wrong: float) -> None:
    expected = torch.linspace(-3.0, 5.0, 41).reshape(41, 1).expand(41, 2)
    got = expected * 1.01
    got[-1, -1] += wrong
    whole = report_of_pass("x", got, expected, SCALED)
    monkeypatch.setattr(pieces, "_PIECE_ELEMENTS", 4)
    parts = report_of_pass("x", got, expected, SCALED)
    assert (parts is None) == bool(wrong)
    assert parts == whole


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int8, torch.uint8, torch.bool], ids=str)
@pytest.mark.parametrize("values", [[0, 1, 1], [0, 0, 0]])
def test_equal_integers_match_the_full_comparison(values: list[int], dtype: torch.dtype) -> None:
    sides = torch.tensor(values, dtype=dtype), torch.tensor(values, dtype=dtype)
    report = report_of_pass("x", *sides, LOOSE)
    assert report is not None
    assert report == _report("x", *sides, compare_elements(*sides, LOOSE), 0x7B)


def test_noncontiguous_values_are_compared_by_index() -> None:
    plane = torch.arange(12.0).view(3, 4)
    report = report_of_pass("x", plane.T, plane.T.clone(), EXACT)
    assert report is not None
    assert (report.outcome, report.shape, report.total) == (Outcome.PASS, (4, 3), 12)
    assert report_of_pass("x", plane[:, ::2], plane[:, 1::2], EXACT) is None


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(
    ("got", "expected", "tolerance"),
    [
        ([1.2, 1.0], [1.0, 1.0], LOOSE),
        ([1e-6, 1.0], [0.0, 1.0], LOOSE),
        ([1e-6, 0.0], [0.0, 0.0], SCALED),
        ([NAN, 1.0], [1.0, 1.0], LOOSE),
        ([1.0, 1.0], [NAN, 1.0], LOOSE),
        ([NAN, 1.0], [NAN, 1.0], LOOSE),
        ([INF, 1.0], [INF, 1.0], LOOSE),
        ([INF, 1.0], [-INF, 1.0], SCALED),
        ([1.0, 1.0], [INF, 1.0], LOOSE),
        ([1.0, 1.0], [-INF, 1.0], SCALED),
        ([INF, 1.0], [1.0, 1.0], SCALED),
    ],
)
def test_wrong_or_nonfinite_values_need_full_comparison(
    got: list[float], expected: list[float], tolerance: Tolerance, dtype: torch.dtype
) -> None:
    sides = torch.tensor(got, dtype=dtype), torch.tensor(expected, dtype=dtype)
    assert report_of_pass("x", *sides, tolerance) is None


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex64], ids=str)
def test_types_with_own_rules_need_full_comparison(dtype: torch.dtype) -> None:
    assert report_of_pass("x", torch.ones(2).to(dtype), torch.ones(2).to(dtype), LOOSE) is None


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8], ids=str)
def test_differing_integers_need_full_comparison(dtype: torch.dtype) -> None:
    assert report_of_pass("x", torch.tensor([100, 7], dtype=dtype), torch.tensor([100, 8], dtype=dtype), LOOSE) is None


def test_boolean_with_other_byte_needs_full_comparison() -> None:
    poisoned = torch.tensor([2], dtype=torch.uint8).view(torch.bool)
    assert report_of_pass("x", poisoned, torch.tensor([True]), EXACT) is None
