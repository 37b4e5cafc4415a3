"""Input values depend on the generator alone, and are never of one kind only."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from engine.model import DType
from problems.kit import (
    BF16,
    F16,
    F32,
    FLOATS,
    SPECIAL_VALUES,
    Special,
    distinct,
    integers,
    mixed,
    normal,
    scattered,
    special_pairs,
    special_rows,
    torch_dtype,
)


def seeded() -> torch.Generator:
    return torch.Generator().manual_seed(7)


@pytest.mark.parametrize("dtype", DType)
def test_every_dtype_has_torch_dtype_of_same_name(dtype: DType) -> None:
    assert str(torch_dtype(dtype)) == f"torch.{dtype.value}"
    assert torch_dtype(dtype).itemsize == dtype.bytes


@pytest.mark.parametrize("dtype", [F32, F16, BF16])
def test_the_same_generator_state_gives_the_same_values(dtype: DType) -> None:
    assert torch.equal(normal((9, 7), dtype, seeded()), normal((9, 7), dtype, seeded()))
    assert torch.equal(mixed((9, 7), dtype, seeded()), mixed((9, 7), dtype, seeded()))
    assert normal((9, 7), dtype, seeded()).dtype == mixed((9, 7), dtype, seeded()).dtype == torch_dtype(dtype)


def test_normal_values_lie_on_both_sides_of_zero() -> None:
    values = normal((4000,), F32, seeded())
    assert abs(values.mean()) < 0.1
    assert abs(values.std() - 1) < 0.1


def test_rows_of_mixed_values_have_magnitudes_octaves_apart() -> None:
    magnitudes = mixed((60, 500), F32, seeded(), octaves=3).square().mean(-1).sqrt().log2().round()
    assert set(magnitudes.tolist()) == {-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0}


def test_mixed_values_around_other_mean_have_both_signs() -> None:
    values = mixed((4000,), F32, seeded(), octaves=0, mean=1.0)
    assert abs(values.mean() - 1) < 0.1
    assert values.min() < 0


def test_mixed_vector_has_magnitude_per_element() -> None:
    assert mixed((4000,), F32, seeded(), octaves=6).abs().max() > 64


def test_mixed_values_may_be_of_any_shape() -> None:
    assert [mixed(shape, F32, seeded()).shape for shape in ((), (0,), (0, 5), (5, 0))] == [(), (0,), (0, 5), (5, 0)]


def test_integers_reach_both_ends_inclusively() -> None:
    values = integers((1000,), DType.INT32, seeded(), low=-2, high=3)
    assert values.dtype == torch.int32
    assert set(values.tolist()) == {-2, -1, 0, 1, 2}


def test_distinct_numbers_are_all_different() -> None:
    assert sorted(distinct(10, 10, seeded()).tolist()) == list(range(10))
    assert len(set(distinct(5, 1000, seeded()).tolist())) == 5


def test_distinct_numbers_have_no_readable_memory_behind() -> None:
    assert distinct(5, 1000, seeded()).untyped_storage().nbytes() == 5 * DType.INT64.bytes


@pytest.mark.parametrize("dtype", FLOATS)
def test_each_scattered_value_occurs_twice(dtype: DType) -> None:
    values = scattered(torch.ones(100, dtype=torch_dtype(dtype)), seeded())
    limits = torch.finfo(values.dtype)
    assert int(values.isnan().sum()) == 2
    assert [int((values == value).sum()) for value in (float("inf"), float("-inf"))] == [2, 2]
    assert int(((values == 0) & values.signbit()).sum()) == 2
    large = values[values.isfinite() & (values.abs() > 2)]
    assert sorted(large.sign().tolist()) == [-1.0, 1.0]
    assert (large * 4).isinf().all()
    subnormal = values[(values != 0) & (values.abs() < limits.tiny)]
    assert sorted(subnormal.sign().tolist()) == [-1.0, 1.0]
    assert int((values == 1).sum()) == 100 - 2 * len(SPECIAL_VALUES)


def test_scattered_keeps_tensor_and_fits_small_ones() -> None:
    tensor = torch.ones(3)
    assert int(scattered(tensor, seeded()).isnan().sum()) == 2
    assert torch.equal(tensor, torch.ones(3))
    assert scattered(torch.ones(0, 4), seeded()).shape == (0, 4)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("dim", [0, 1])
def test_special_rows_have_the_sums_of_their_names(dtype: DType, dim: int) -> None:
    rows = [
        Special.NAN,
        Special.INF,
        Special.NEGATIVE_INF,
        Special.BOTH_INF,
        Special.TWO_NANS,
        Special.OVERFLOW,
        Special.ALL_NEGATIVE_INF,
        Special.ALL_NEGATIVE_ZERO,
        Special.DETOUR,
    ]
    tensor = torch.ones((10, 40) if dim else (40, 10), dtype=torch_dtype(dtype))
    made = special_rows(tensor, seeded(), rows=rows, dim=dim)
    sums = made.double().sum(dim).to(tensor.dtype).tolist()
    assert str(sums) == "[nan, inf, -inf, nan, nan, inf, -inf, 0.0, 24.0, 40.0]"
    assert made.shape == tensor.shape
    assert int((tensor != 1).sum()) == 0


@pytest.mark.parametrize("seed", range(5))
def test_special_rows_have_nan_and_infinity_in_order(seed: int) -> None:
    rows = [Special.NAN_BEFORE_INF, Special.INF_BEFORE_NAN]
    made = special_rows(torch.ones(2, 7), torch.Generator().manual_seed(seed), rows=rows)
    orders = [[str(value) for value in line.tolist() if value != 1] for line in made]
    assert orders == [["nan", "inf"], ["inf", "nan"]]


def test_detour_overflows_float16_only_in_intermediate_sums() -> None:
    made = special_rows(torch.ones(1, 40).half(), seeded(), rows=[Special.DETOUR])
    assert made.cumsum(1).isinf().any()
    assert made.float().sum() == 24


def test_special_pairs_cover_all_combinations() -> None:
    left, right = special_pairs(torch.ones(8, 9), torch.ones(8, 9))
    kinds = {
        (str(one), str(other)) for one, other in zip(left.flatten().tolist(), right.flatten().tolist(), strict=True)
    }
    values = {str(value) for value in left[:, 0].tolist()[:7]}
    assert len(values) == 7
    assert {(one, other) for one in values for other in values} <= kinds
    assert torch.equal(left[7:], torch.ones(1, 9))


def test_more_special_rows_than_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="3 special rows requested, the tensor"):
        special_rows(torch.ones(2, 5), seeded(), rows=[Special.NAN] * 3)


@pytest.mark.parametrize("dtype", [DType.FLOAT64, DType.COMPLEX64, DType.COMPLEX128])
@pytest.mark.parametrize("drawn", [normal, mixed])
def test_double_and_complex_values_use_all_bits(drawn: Any, dtype: DType) -> None:
    values = drawn((64, 3), dtype, seeded())
    parts = torch.view_as_real(values) if values.is_complex() else values
    narrower = torch.float32 if parts.dtype == torch.float64 else torch.bfloat16
    assert (parts.to(narrower).to(parts.dtype) != parts).double().mean() > 0.9
