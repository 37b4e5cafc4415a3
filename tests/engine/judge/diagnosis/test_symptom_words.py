"""Sentences of diagnoses, and their evidence."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from engine.judge.diagnosis.explain import Explainer
from engine.model import Category, Tolerance
from tests.engine.judge.diagnosis.mistakes import (
    CHOOSE,
    FMAX,
    GREATER,
    MM,
    QUANTISE,
    SHIFTED,
    SILU,
    SOFTMAX,
    K,
    compared,
    first_words,
    kinds,
    normal,
    operator,
)


def test_numbers_in_the_place_of_nan_are_counted():
    x = normal(4, 50)
    x[0, 3], x[2, 7] = math.nan, math.nan
    got = torch.nn.functional.silu(x.nan_to_num(nan=-100.0))
    found, *_ = Explainer().diagnoses(SILU, (x,), 0, compared(SILU, (x,), got))
    assert found.kind is K.DROPPED_NAN
    assert found.sentence == "NaN is dropped at 2 elements: the kernel returns a number there"
    assert found.evidence == "2 of 2 wrong elements should be NaN and are not"


@pytest.mark.parametrize("has_nan", [False, True], ids=["no nan", "nan elsewhere"])
def test_numbers_where_infinity_gives_nan_are_missing_nan(has_nan):
    x = normal(4, 50)
    x[1, 9] = math.inf
    if has_nan:
        x[2, 9] = math.nan
    got = torch.where(x == math.inf, 1.0, torch.softmax(x, -1).nan_to_num(nan=0.0))
    got[2] = SOFTMAX.reference(x)[2]
    found, *_ = Explainer().diagnoses(SOFTMAX, (x,), 0, compared(SOFTMAX, (x,), got))
    assert found.kind is K.MISSING_NAN
    assert found.sentence == (
        "NaN is missing at 50 elements: no input is NaN there, but the result is, as that of inf - inf or 0 / 0"
    )
    assert found.evidence == "50 of 50 wrong elements should be NaN, with or without NaN in the inputs"


def test_region_that_must_stay_is_named_as_overwritten():
    before = normal(9, 9)
    lower = operator("x", lambda x: torch.where(torch.ones(9, 9).tril() > 0, 2 * x, x))
    found = Explainer().diagnoses(lower, (before,), 0, compared(lower, (before,), 3 * before, before=before))
    assert K.OLD_CONTENT not in [one.kind for one in found]  # half of it is another mistake
    assert kinds(lower, (before,), 2 * before, before=before) == [K.OLD_CONTENT]


def test_nan_that_is_to_be_ignored_is_named():
    x, y = normal(8, 9), normal(8, 9, seed=4)
    y[3:5, 2], y[6] = math.nan, -math.inf
    words = "NaN of y is propagated, although the operator ignores it there"
    assert first_words(FMAX, (x, y), torch.where(x > y, x, y)) == words


def test_comparison_of_equal_operands_is_named():
    x, y = normal(80).round(), normal(80, seed=4).round()
    assert kinds(GREATER, (x, y), x >= y)[0] is K.WRONG_COMPARISON


@pytest.mark.parametrize("dim", [0, 1, None])
def test_last_of_several_maxima_is_a_wrong_tie(dim):
    largest = operator("x", lambda x: x.argmax(dim))
    x = torch.randint(0, 4, (30, 40), generator=torch.Generator().manual_seed(3)).float()
    flat = x.reshape(-1, 1) if dim is None else x.movedim(dim, 0)
    last = len(flat) - 1 - flat.flip(0).argmax(0).reshape(largest.reference(x).shape)
    words = "wrong rule for ties: another one of the equal elements of x is chosen"
    assert first_words(largest, (x,), last) == words


def test_last_of_several_largest_is_a_wrong_tie():
    largest = operator("x", lambda x: x.sort(dim=1, descending=True, stable=True).indices[:, :3])
    x = torch.randint(0, 4, (30, 40), generator=torch.Generator().manual_seed(3)).float()
    last = 39 - x.flip(1).sort(dim=1, descending=True, stable=True).indices[:, :3]
    words = "wrong rule for ties: another one of the equal elements of x is chosen"
    assert first_words(largest, (x,), last) == words


@pytest.mark.parametrize(("negated", "found"), [(lambda x, y: ~(x <= y), "True"), (lambda x, y: x > y, "False")])
def test_negated_comparison_of_nan_is_named(negated, found):
    right = operator("x, y", (lambda x, y: x > y) if found == "True" else lambda x, y: ~(x <= y))
    x, y = normal(80), normal(80, seed=4)
    x[3:7], y[9] = math.nan, math.nan
    words = first_words(right, (x, y), negated(x, y))
    assert words.startswith(f"comparisons with NaN give {found}")


def test_argmax_ignoring_nan_is_diagnosed():
    largest = operator("x", lambda x: x.argmax(1))
    x = normal(30, 40)
    x[4, 7] = x[9, 0] = math.nan
    words = "NaN of x has the wrong place among the numbers: PyTorch orders it above all of them"
    assert first_words(largest, (x,), x.nan_to_num(-9.0).argmax(1)) == words


def test_equal_elements_sorted_backwards_are_a_wrong_tie():
    x = torch.randint(0, 4, (30, 40), generator=torch.Generator().manual_seed(3)).float()
    backwards = 39 - x.flip(1).sort(dim=1, stable=True).indices
    words = "wrong rule for ties: another one of the equal elements of x is chosen"
    order = replace(operator("x", lambda x: x.sort(dim=1, stable=True).indices), category=Category.SORT)
    assert first_words(order, (x,), backwards) == words


def test_nan_sorted_first_is_in_the_wrong_place():
    x = normal(30, 40)
    x[4, 7] = x[9, 0] = math.nan
    got = torch.where(x.isnan(), -math.inf, x).sort(1).values
    got[got == -math.inf] = math.nan
    values = replace(operator("x", lambda x: x.sort(1).values), category=Category.SORT)
    words = "NaN of x has the wrong place among the numbers: PyTorch orders it above all of them"
    assert first_words(values, (x,), got) == words


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_integers_compared_in_float32_are_rounded_inputs(dtype):
    x = torch.randint(2**29, 2**30, (80,), generator=torch.Generator().manual_seed(3), dtype=dtype)
    y = x + torch.arange(80, dtype=dtype) % 3 - 1
    words = "the inputs are rounded to float32 before they are used"
    assert first_words(GREATER, (x, y), x.float() > y.float()) == words


def test_missing_saturation_is_an_overflow():
    x = 400 * normal(300)
    got = torch.where(x.abs() > 448, math.nan, x).to(torch.float8_e4m3fn)
    words = "values beyond the range of float8_e4m3fn become NaN or infinite instead of +-448"
    assert first_words(QUANTISE, (x,), got) == words


def test_optional_tensor_left_out_is_named():
    inputs = (normal(50), normal(50, seed=4))
    words = "output equals the answer for bias = None instead of the tensor"
    assert first_words(SHIFTED, inputs, inputs[0].clone()) == words


def test_ignored_mask_is_named():
    inputs = (normal(50), normal(50, seed=4) > 0)
    words = "output equals the answer for mask = True everywhere instead of its elements"
    assert first_words(CHOOSE, inputs, inputs[0].clone()) == words


def test_conjugate_of_argument_is_named():
    x, y = torch.complex(normal(40), normal(40, seed=4)), torch.complex(normal(40, seed=5), normal(40, seed=6))
    product = operator("x, y", lambda x, y: x * y)
    words = "wrong conjugation of y: conjugated instead of plain, or vice versa"
    assert first_words(product, (x, y), x * y.conj()) == words


def test_operands_of_tensor_cores_are_rounded_to_tensorfloat():
    a, b = normal(20, 30), normal(30, 20, seed=4)
    rounded = [((one.view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32) for one in (a, b)]
    assert (
        first_words(MM, (a, b), MM.reference(*rounded))
        == "the inputs are rounded to TensorFloat-32 before they are used"
    )


def test_integers_with_some_large_errors_are_not_all_small():
    double = operator("x", lambda x: 2 * x)
    x = torch.arange(2**53 + 1, 2**53 + 81, 2)
    got = double.reference(x) + 2 * (-1) ** torch.arange(40)
    got[:5] -= 2**50
    found, *_ = Explainer().diagnoses(double, (x,), 0, compared(double, (x,), got))
    assert found.sentence == "most errors are small: rounding of values or sums in float64"
    assert found.evidence.startswith("35 of 40 wrong elements: the largest of their errors is 1.1e-16 of the output's")


def test_large_error_beside_rounding_is_not_called_small():
    x = normal(400).double()
    got = SILU.reference(x).float().double()
    got[7] += 0.02
    comparison = compared(SILU, (x,), got, tolerance=Tolerance(relative=0.0, absolute=1e-15))
    found = Explainer().diagnoses(SILU, (x,), 0, comparison)
    assert not [one for one in found if "all errors are small" in one.sentence]


def test_float64_with_float32_error_names_float32_rounding():
    x = normal(400).double()
    tight = Tolerance(relative=0.0, absolute=1e-15)
    got = SILU.reference(x).float().double()
    assert (
        first_words(SILU, (x,), got, tolerance=tight) == "all errors are small: rounding of values or sums in float32"
    )
