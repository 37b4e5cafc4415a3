"""Outputs of every dtype are compared, and their errors explained."""

from __future__ import annotations

import pytest
import torch

from engine.judge.compare.compare import compare
from engine.judge.compare.quick import wrong_anywhere
from engine.judge.diagnosis.error_sizes import error_clues
from engine.judge.diagnosis.patterns import patterns
from engine.judge.diagnosis.wrong_output import WrongOutput
from engine.model import DType, Outcome, Tolerance
from engine.protocol.tensors import dtype_named

EXACT = Tolerance(relative=0.0, absolute=0.0)


def values(dtype: DType) -> torch.Tensor:
    """(3, 4), different from row to row."""
    numbers = torch.arange(12).view(3, 4)
    return (numbers % 3 == 0 if dtype is DType.BOOL else numbers).to(dtype_named(dtype))


@pytest.mark.parametrize("dtype", DType)
def test_equal_values_of_every_dtype_pass(dtype: DType) -> None:
    assert compare("x", values(dtype), values(dtype), EXACT, poison=0x7B).outcome is Outcome.PASS


@pytest.mark.parametrize("dtype", DType)
def test_one_wrong_value_of_every_dtype_is_explained(dtype: DType) -> None:
    expected, got = values(dtype), values(dtype)
    got[1, 2] = not got[1, 2] if dtype is DType.BOOL else 1
    report = compare("x", got, expected, EXACT, poison=0x7B)
    assert (report.outcome, report.mismatched, report.first_wrong) == (Outcome.WRONG_VALUE, 1, (1, 2))
    assert bool(wrong_anywhere(got, expected, EXACT))
    output = WrongOutput(name="x", got=got, expected=expected, tolerance=EXACT, poison=0x7B).on_host
    assert output.wrong_count == 1
    list(patterns(output))
    list(error_clues(output))


@pytest.mark.parametrize("value", [complex(float("nan"), 0), complex(float("inf"), 1), complex(0, -float("inf"))])
def test_special_complex_value_equals_only_itself(value: complex) -> None:
    expected = torch.tensor([value, 1 + 1j])
    assert compare("x", expected.clone(), expected, EXACT, poison=0x7B).outcome is Outcome.PASS
    assert compare("x", torch.tensor([0j, 1 + 1j]), expected, EXACT, poison=0x7B).outcome is not Outcome.PASS
