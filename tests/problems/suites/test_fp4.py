"""Bytes of fp4 values, two in each: their order, and how many may be a step off."""

from __future__ import annotations

import pytest
import torch

from engine.model import CalledCase, Case, DType, Tier, Tolerance
from problems.suites.fp4 import by_steps, comparer, levels

CASE = Case(name="c", dtype=DType.FLOAT32, tier=Tier.SMOKE, params={})
VALUES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


def octets(*codes: int) -> torch.Tensor:
    return torch.tensor(codes, dtype=torch.uint8)


def test_low_bits_are_first_value() -> None:
    assert levels(octets(0x21, 0xF7)).tolist() == [[1, 2], [7, -7]]


def test_levels_follow_the_sixteen_values() -> None:
    """Neighbouring values differ by one, and both zeros are one value."""
    found = levels(torch.arange(16, dtype=torch.uint8))[:, 0].tolist()
    values = [*VALUES, *(-value for value in VALUES)]
    distinct = sorted(set(values))
    assert [distinct.index(value) - distinct.index(0.0) for value in values] == found


def test_minus_zero_is_zero() -> None:
    match = by_steps(octets(0x80), octets(0x00), 0.0)
    assert (match.wrong.tolist(), match.error) == ([False], 0.0)


def test_two_steps_are_wrong_in_their_byte() -> None:
    match = by_steps(octets(0x00, 0x20), octets(0x00, 0x00), 1.0)
    assert match.wrong.tolist() == [False, True]
    assert match.message == "1 of 4 values are more than a step off"


@pytest.mark.parametrize(("off", "is_wrong"), [(6, False), (7, True)], ids=["few", "many"])
def test_one_step_is_permitted_for_few(off: int, is_wrong: bool) -> None:
    wanted = torch.zeros(500, dtype=torch.uint8)
    got = wanted.clone()
    got[:off] = 1
    match = by_steps(got, wanted, 0.002)
    assert int(match.wrong.sum()) == (off if is_wrong else 0)


@pytest.mark.parametrize(
    ("dtype", "has_fp4_inputs", "wrong"),
    [(torch.float32, False, 40), (torch.bfloat16, False, 0), (torch.float32, True, 0)],
    ids=["float32", "bfloat16", "fp4"],
)
def test_coarse_inputs_permit_more_ties(dtype: torch.dtype, has_fp4_inputs: bool, wrong: int) -> None:
    wanted = torch.zeros(500, dtype=torch.uint8)
    got = wanted.clone()
    got[:40] = 1
    compare = comparer((True,), lambda case: Tolerance(relative=0.0, absolute=0.0), has_fp4_inputs=has_fp4_inputs)
    arguments = (torch.ones(3, dtype=dtype), torch.zeros(3, dtype=torch.float16))
    call = CalledCase(case=CASE, arguments=arguments, outputs=(got,), expected=(wanted,))
    assert int(compare(call)[0].wrong.sum()) == wrong


def test_other_outputs_keep_tolerance_of_case() -> None:
    compare = comparer((False,), lambda case: Tolerance(relative=0.1, absolute=0.0))
    got, wanted = torch.tensor([1.05, 1.2]), torch.tensor([1.0, 1.0])
    call = CalledCase(case=CASE, arguments=(), outputs=(got,), expected=(wanted,))
    assert compare(call)[0].wrong.tolist() == [False, True]
