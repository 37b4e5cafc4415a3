"""Each common mistake, made on a small operator, gets its own diagnosis."""

from __future__ import annotations

import math

import pytest
import torch

from engine.judge.diagnosis.explain import Explainer
from tests.engine.judge.diagnosis.mistakes import (
    ADD,
    AFFINE,
    CUMSUM,
    INTEGERS,
    MEAN,
    MM,
    QUOTIENT,
    SILU,
    SOFTMAX,
    SUM,
    K,
    compared,
    kinds,
    normal,
    operator,
)


def test_memory_holding_poison_was_never_written():
    x = normal(1000)
    got = SILU.reference(x)
    got[768:] = math.nan
    got.view(torch.int32)[768:] = -1
    assert kinds(SILU, (x,), got) == [K.UNWRITTEN_OUTPUT, K.TAIL_MASK]


def test_argument_with_unchanged_content_was_never_written():
    x = normal(9, 40)
    assert kinds(SILU, (x,), x.clone(), before=x)[0] is K.UNWRITTEN_OUTPUT


def test_poison_accumulated_is_uninitialized_memory():
    x = torch.arange(200, dtype=torch.int32).view(5, 40)
    assert kinds(INTEGERS, (x,), INTEGERS.reference(x) - 1)[0] is K.UNWRITTEN_OUTPUT


def test_constant_that_is_one_too_small_is_not_uninitialized_memory():
    fill = operator("x, value", lambda x, value: torch.full_like(x, value))
    x = torch.zeros(9, 40, dtype=torch.int64)
    assert kinds(fill, (x, 7), torch.full_like(x, 6)) == [K.MISSING_SCALE, K.MISSING_BIAS]


def test_large_constant_through_a_float_is_precision_loss():
    fill = operator("x, value", lambda x, value: torch.full_like(x, value))
    x = torch.zeros(9, 40, dtype=torch.int64)
    assert kinds(fill, (x, 2**53 + 1), torch.full_like(x, 2**53)) == [K.PRECISION]


def test_wrong_values_after_last_full_block_are_tail():
    x = normal(5, 81)
    got = SILU.reference(x)
    got[:, 64:] = normal(5, 17, seed=4)
    found = Explainer().diagnoses(SILU, (x,), 0, compared(SILU, (x,), got))
    assert [one.kind for one in found] == [K.TAIL_MASK]
    assert found[0].sentence.startswith("only the end of dimension 1 is wrong, from 64 on, a multiple of 64")


def test_tail_of_reduced_dimension_is_found_by_omission():
    x = normal(7, 257) + 1
    got = SUM.reference(x[:, :256])
    assert kinds(SUM, (x,), got) == [K.TAIL_MASK]


def test_tail_counted_by_argument_names_the_argument():
    """In a buffer of BLAS the tail of the inner dimension is no end of a dimension."""
    problem = operator("a, b, k", lambda a, b, k: (a.double().view(20, 65).narrow(1, 0, k) @ b[:k].double()).float())
    a, b = normal(1300), normal(65, seed=4)
    comparison = compared(problem, (a, b, 65), problem.reference(a, b, 64))
    found = Explainer().diagnoses(problem, (a, b, 65), 0, comparison)[0]
    assert (found.kind, found.sentence) == (
        K.TAIL_MASK,
        "elements from 64 on are left out, although k is 65: the tail after the last whole block of 64",
    )


def test_remainder_of_split_row_is_tail():
    x = normal(3, 1001)
    found = Explainer().diagnoses(SUM, (x,), 0, compared(SUM, (x,), SUM.reference(x[:, :-5])))[0]
    assert (found.kind, found.sentence.partition(":")[0]) == (
        K.TAIL_MASK,
        "the last 5 elements of dimension 1 of x are left out",
    )


def test_partial_factor_multiplying_everything_is_reported():
    x, y = normal(40, 9), normal(40, 9, seed=4)
    found = Explainer().diagnoses(ADD, (x, y, -0.75), 0, compared(ADD, (x, y, -0.75), (x + y) * -0.75))[0]
    assert (found.kind, found.sentence) == (
        K.MISSING_SCALE,
        "everything is multiplied by alpha, which applies to one term only",
    )


def test_only_last_block_counting_is_race():
    x = normal(7, 300) + 1
    assert kinds(SUM, (x,), SUM.reference(x[:, 256:])) == [K.RACE]


def test_overwriting_loop_is_named_beside_similar_race():
    a, b = normal(33, 65), normal(65, 40, seed=4)
    got = MM.reference(a[:, 64:], b[64:])
    found = Explainer().diagnoses(MM, (a, b), 0, compared(MM, (a, b), got))[0]
    assert (found.kind, found.sentence.partition(": ")[2]) == (
        K.RACE,
        "programs overwrite each other's part, or a loop assigns where it should add",
    )


def test_different_output_on_same_input_is_race():
    x = normal(7, 30)
    right, got = SILU.reference(x), SILU.reference(x)
    got[2, 3] += 1
    assert kinds(SILU, (x,), got, earlier=right, same_input=True)[0] is K.RACE


def test_output_of_previous_call_is_stale():
    x, before = normal(7, 30), SILU.reference(normal(7, 30, seed=9))
    assert kinds(SILU, (x,), before.clone(), earlier=before) == [K.KEPT_ANSWER]


def test_output_holding_transpose_is_transposed_index():
    a, b = normal(17, 9), normal(9, 23)
    got = MM.reference(a, b).T.contiguous().view(17, 23)
    assert kinds(MM, (a, b), got) == [K.TRANSPOSED_INDEX]


def test_operand_read_across_rows_is_transposed():
    a, b = normal(16, 16), normal(16, 23)
    assert kinds(MM, (a, b), MM.reference(a.T, b)) == [K.TRANSPOSED_INDEX]


@pytest.mark.parametrize("strides", [(1, 33), (1, 20)], ids=["laid out by columns", "own strides swapped"])
def test_wide_operand_read_across_rows_is_transposed(strides):
    a, b = normal(9, 33), normal(40, 20)[:33]
    assert kinds(MM, (a, b), MM.reference(a, b.as_strided((33, 20), strides))) == [K.TRANSPOSED_INDEX]


def test_ignored_strides_are_wrong_strides():
    x = normal(9, 40)[:, ::2]
    got = SILU.reference(x.as_strided((9, 20), (20, 1)))
    found = Explainer().diagnoses(SILU, (x,), 0, compared(SILU, (x,), got))
    assert found[0].kind is K.WRONG_STRIDE
    assert found[0].sentence == "x treated as contiguous: strides (40, 2) ignored"


def test_every_second_element_is_a_wrong_stride():
    x = normal(128)
    right = SILU.reference(x)
    got = right.clone()
    got[:64] = right[::2]
    assert kinds(SILU, (x,), got)[0] is K.WRONG_STRIDE


def test_unused_weight_is_missing_scale():
    x, weight, bias = normal(9, 40), normal(40, seed=4), normal(40, seed=5)
    assert kinds(AFFINE, (x, weight, bias), AFFINE.reference(x, torch.ones(40), bias))[0] is K.MISSING_SCALE


def test_constant_factor_is_missing_scale_with_value():
    x = normal(9, 40)
    (found,) = Explainer().diagnoses(SILU, (x,), 0, compared(SILU, (x,), 0.125 * SILU.reference(x)))
    assert (found.kind, found.sentence) == (K.MISSING_SCALE, "output is 0.125 times the expected value")


def test_unused_bias_is_missing_bias():
    x, weight, bias = normal(9, 40), normal(40, seed=4), normal(40, seed=5)
    assert kinds(AFFINE, (x, weight, bias), AFFINE.reference(x, weight, torch.zeros(40)))[0] is K.MISSING_BIAS


def test_output_fitting_another_scalar_is_ignored_argument():
    x, y = normal(9, 40), normal(9, 40, seed=4)
    assert kinds(ADD, (x, y, 0.3), ADD.reference(x, y, -0.3)) == [K.IGNORED_ARGUMENT]


def test_padding_in_reduction_is_wrong_identity():
    x = normal(9, 33)
    got = SOFTMAX.reference(torch.nn.functional.pad(x, (0, 31)))[:, :33]
    assert kinds(SOFTMAX, (x,), got)[0] is K.REDUCTION_IDENTITY


@pytest.mark.parametrize("rows", [1, 9])
def test_mean_over_padded_length_is_wrong_divisor(rows):
    x = normal(rows, 65)
    found = Explainer().diagnoses(MEAN, (x,), 0, compared(MEAN, (x,), MEAN.reference(x) * 65 / 128))
    assert (found[0].kind, found[0].sentence) == (K.MISSING_SCALE, "divided by the padded length 128 instead of 65")


def test_rms_over_padded_length_is_missing_scale():
    norm = operator("x", lambda x: (x.double() * x.double().square().mean(-1, keepdim=True).rsqrt()).to(x.dtype))
    x = normal(5, 497)
    assert kinds(norm, (x,), norm.reference(x) * math.sqrt(512 / 497))[0] is K.MISSING_SCALE


@pytest.mark.parametrize("kind", [torch.int16, torch.int32, torch.int64])
def test_integer_division_dropping_fraction_rounds_toward_zero(kind):
    generator = torch.Generator().manual_seed(3)
    most = torch.iinfo(kind).max
    x = torch.randint(-most, most, (334,), generator=generator, dtype=kind)
    y = torch.randint(2, 9, (334,), generator=generator, dtype=kind)
    got = torch.div(x, y, rounding_mode="trunc")
    assert kinds(QUOTIENT, (x, y), got) == [K.ROUNDING_MODE]


def test_quotients_all_larger_by_one_are_not_rounding():
    x = -torch.arange(2, 40)
    y = torch.full((38,), 3)
    assert K.ROUNDING_MODE not in kinds(QUOTIENT, (x, y), QUOTIENT.reference(x, y) + 1)


def test_nan_in_negative_lines_is_maximum_from_zero():
    x = normal(8, 30) + 1000.0 * (torch.arange(8) % 2 * 2 - 1)[:, None]
    got = SOFTMAX.reference(x).where(x > 0, math.nan)
    assert kinds(SOFTMAX, (x,), got)[0] is K.REDUCTION_IDENTITY


def test_nan_above_exp_range_is_overflow():
    x = normal(8, 30) + 1000.0 * (torch.arange(8) % 2)[:, None]
    got = SOFTMAX.reference(x).where(x < 500, math.nan)
    assert kinds(SOFTMAX, (x,), got)[0] is K.OVERFLOW


def test_sums_by_running_maximum_are_lost_rescale():
    x = normal(6, 64) * 3
    first, second = x.split(32, -1)
    top, so_far = x.amax(-1, keepdim=True), first.amax(-1, keepdim=True)
    total = (first - so_far).exp().sum(-1, keepdim=True) + (second - top).exp().sum(-1, keepdim=True)
    assert kinds(SOFTMAX, (x,), (x - top).exp() / total)[0] is K.LOST_RESCALE


def test_restarted_blocks_are_a_lost_carry():
    x = normal(5, 200)
    got = torch.cat([CUMSUM.reference(part) for part in x.split(64, -1)], -1)
    assert kinds(CUMSUM, (x,), got)[0] is K.LOST_RESCALE


def test_integers_that_wrap_are_an_overflow():
    x = torch.full((5, 40), 3000, dtype=torch.int32)
    assert kinds(INTEGERS, (x,), INTEGERS.reference(x).to(torch.int16).long())[0] is K.OVERFLOW


def test_squares_beyond_half_precision_are_an_overflow():
    root = operator("x", lambda x: (x.double() / x.double().square().mean(-1, keepdim=True).sqrt()).to(x.dtype))
    x = (normal(5, 40) * 1000).half()
    assert kinds(root, (x,), torch.zeros_like(x))[0] is K.OVERFLOW


def test_products_of_rounded_operands_are_precision_loss():
    a, b = normal(17, 40), normal(40, 23)
    assert kinds(MM, (a, b), MM.reference(a.bfloat16().float(), b.bfloat16().float())) == [K.PRECISION]


def test_noise_of_narrow_type_is_precision_loss():
    x = normal(9, 40)
    right = SILU.reference(x)
    noise = normal(9, 40, seed=8) * 3e-4
    assert kinds(SILU, (x,), right + noise) == [K.PRECISION]


def test_noise_of_no_pattern_is_not_explained():
    x = normal(9, 40)
    assert kinds(SILU, (x,), normal(9, 40, seed=8)) == []


def test_single_wrong_element_is_not_explained_by_chance():
    x = (normal(1, 300) + 1).bfloat16()
    got = SUM.reference(x) * torch.tensor([1.3], dtype=torch.bfloat16)
    assert kinds(SUM, (x,), got) == []


@pytest.mark.parametrize("dtype", [torch.bool, torch.complex64])
def test_unordered_dtypes_are_diagnosed_without_error(dtype):
    flip = operator("x", lambda x: ~x if x.dtype == torch.bool else -x)
    x = (normal(9, 40) > 0).to(dtype)
    assert isinstance(kinds(flip, (x,), x.clone()), list)


def test_case_without_dimension_is_examined():
    x = torch.tensor(2.0)
    assert kinds(SILU, (x,), torch.tensor(7.0)) == []
