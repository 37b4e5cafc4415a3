"""Quantised outputs are compared in steps: one is allowed, and not everywhere."""

from __future__ import annotations

import torch

from engine.model import CalledCase, Case, DType, Tier
from problems.kit.inference.steps import compared, quantised

CASE = Case(name="c", dtype=DType.FLOAT32, tier=Tier.FULL, params={})
WANTED = torch.arange(-100, 100, dtype=torch.int8).reshape(10, 20)


def wrong(got: torch.Tensor, wanted: torch.Tensor = WANTED, **limits: float) -> int:
    called = CalledCase(case=CASE, arguments=(), outputs=(got,), expected=(wanted,))
    (match,) = compared(called, **{"share": 0.01, "scale_error": 1e-6, **limits})
    return int(match.wrong.sum())


def moved(count: int, steps: int) -> torch.Tensor:
    got = WANTED.clone()
    got.view(-1)[:count] += steps
    return got


def test_few_elements_may_be_a_step_off():
    assert wrong(moved(6, 1)) == 0


def test_many_elements_a_step_off_are_wrong():
    assert wrong(moved(7, 1)) == 7


def test_one_element_two_steps_off_is_wrong():
    assert wrong(moved(1, 2)) == 1


def test_rows_of_padding_are_not_compared():
    got = WANTED.clone()
    got[5:] = 0
    assert wrong(got, rows=5) == 0


def test_neighbouring_fp8_codes_are_one_step_apart():
    codes = torch.tensor([0x00, 0x80, 0x81, 0x7F], dtype=torch.uint8).view(torch.float8_e4m3fn)
    other = torch.tensor([0x01, 0x00, 0x01, 0xFF], dtype=torch.uint8).view(torch.float8_e4m3fn)
    assert wrong(codes, other) == 1


def test_scales_are_compared_by_their_relative_error():
    scale = torch.tensor([1.0, 2.0])
    assert wrong(scale * (1 + 1e-5), scale, scale_error=1e-6) == 2
    assert wrong(scale * (1 + 1e-5), scale, scale_error=1e-4) == 0


def test_int8_saturates_and_rounds_ties_to_even():
    assert quantised(torch.tensor([0.5, 1.5, -2.5, 300.0, -300.0]), torch.int8).tolist() == [0, 2, -2, 127, -128]
