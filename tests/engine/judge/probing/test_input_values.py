"""Each variant has the values that its name says, and leaves shape, dtype and what is not finite alone."""

from __future__ import annotations

import math

import pytest
import torch

from engine.judge.probing.input_values import one_element, values_of
from engine.protocol import Variant

MADE = (
    Variant.PERMUTED,
    Variant.SCALED,
    Variant.EVEN,
    Variant.EQUAL,
    Variant.ORDERED,
    Variant.TINY,
    Variant.LARGE,
)


def seeded(seed: int = 1) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def drawn(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(shape, generator=seeded(5)).to(dtype)


def made(variant: Variant, tensor: torch.Tensor, seed: int = 1) -> torch.Tensor:
    return values_of(variant, tensor, seeded(seed))


@pytest.mark.parametrize("variant", MADE)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("shape", [(6, 40), (70,), (3, 4, 5), (1,), ()])
def test_shape_and_dtype_stay_and_values_are_finite(
    variant: Variant, dtype: torch.dtype, shape: tuple[int, ...]
) -> None:
    before = drawn(*shape, dtype=dtype)
    after = made(variant, before)
    assert (after.shape, after.dtype, bool(after.isfinite().all())) == (before.shape, dtype, True)


@pytest.mark.parametrize("variant", MADE)
def test_nonfinite_values_stay_in_place(variant: Variant) -> None:
    before = drawn(4, 8)
    before[1, 3], before[2, 0], before[3, 7] = -math.inf, math.nan, math.inf
    after = made(variant, before)
    assert torch.equal(after.isfinite(), before.isfinite())
    assert torch.equal(after[~after.isfinite()].nan_to_num(), before[~before.isfinite()].nan_to_num())


@pytest.mark.parametrize("shape", [(6, 40), (70,), (3, 4, 5)])
def test_another_order_has_the_same_values(shape: tuple[int, ...]) -> None:
    before = drawn(*shape)
    after = made(Variant.PERMUTED, before)
    assert not torch.equal(after, before)
    assert torch.equal(after.flatten().sort().values, before.flatten().sort().values)


def test_rows_are_scaled_by_powers_of_two() -> None:
    before = drawn(30, 8)
    ratio = made(Variant.SCALED, before) / before
    assert bool((ratio == ratio[:, :1]).all())
    assert bool((ratio[:, 0].abs().log2() % 1 == 0).all())
    assert len(set(ratio[:, 0].abs().tolist())) > 5
    assert len(set(ratio.sign().flatten().tolist())) == 1


def test_scaled_variant_draws_both_signs() -> None:
    before = drawn(4, 8).abs()
    assert {float(made(Variant.SCALED, before, seed).sign()[0, 0]) for seed in range(20)} == {-1.0, 1.0}


def test_some_rows_hold_their_mean_and_sums_stay() -> None:
    before = drawn(10, 8)
    after = made(Variant.EVEN, before)
    even = [bool((row == row[0]).all()) for row in after]
    assert True in even
    assert False in even
    assert torch.allclose(after.sum(1), before.sum(1), atol=1e-5)


def test_even_variant_makes_single_row_constant() -> None:
    after = made(Variant.EVEN, drawn(1, 8))
    assert bool((after == after[0, 0]).all())


def test_even_variant_makes_vector_blocks_constant() -> None:
    after = made(Variant.EVEN, drawn(300))
    assert any(bool((block == block[0]).all()) for block in after[:288].view(-1, 32))
    assert not bool((after == after[0]).all())


def test_one_value_throughout_is_one_of_the_values() -> None:
    before = drawn(5, 6)
    after = made(Variant.EQUAL, before)
    assert bool((after == after[0, 0]).all())
    assert float(after[0, 0]) in before.flatten().tolist()


def test_negative_values_fall_along_a_row() -> None:
    after = made(Variant.ORDERED, drawn(5, 6))
    assert bool((after <= 0).all())
    assert bool((after.diff(dim=1) <= 0).all())


@pytest.mark.parametrize(("dtype", "octaves"), [(torch.float32, 20), (torch.bfloat16, 20), (torch.float16, 4)])
def test_tiny_and_large_stay_far_from_type_limits(dtype: torch.dtype, octaves: int) -> None:
    before = drawn(5, 6, dtype=dtype)
    assert torch.equal(made(Variant.LARGE, before), before * 2.0**octaves)
    assert torch.equal(made(Variant.TINY, before), before / 2.0**octaves)


def test_changed_element_is_outside_plausible_sample() -> None:
    tensor = drawn(40, 100)
    flats = [
        row * 100 + column for row, column in (one_element(tensor, seeded(i), factor=1.0).index for i in range(200))
    ]
    assert min(flats) >= 250
    assert max(flats) < 3750
    assert not [flat for flat in flats for step in (2, 3, 4, 5, 7, 8, 10) if flat % step == 0]
    assert len(set(flats)) > 150


def test_changed_element_gets_opposite_sign_and_usual_size() -> None:
    tensor = torch.full((10, 10), 2.0)
    assert one_element(tensor, seeded(), factor=4.0).value == -8.0


def test_changed_element_of_all_zeros_is_nonzero() -> None:
    assert one_element(torch.zeros(10, 10), seeded(), factor=1.0).value == -1.0


def test_float8_values_keep_nonfinite_values() -> None:
    codes = torch.tensor([0x38, 0x7F, 0xFF, 0x01, 0x7E], dtype=torch.uint8).view(torch.float8_e4m3fn)
    answer = made(Variant.PERMUTED, codes)
    assert answer.dtype == codes.dtype
    assert answer.float().isnan().tolist() == [False, True, True, False, False]


def test_one_element_of_float8_gets_a_usual_size() -> None:
    ones = torch.ones(64).to(torch.float8_e4m3fn)
    assert one_element(ones, seeded(), factor=2.0).value == -2.0


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_one_element_near_the_limit_stays_finite(dtype: torch.dtype) -> None:
    limit = torch.finfo(dtype).max
    tensor = torch.full((10, 10), limit, dtype=dtype)
    place = one_element(tensor, seeded(), factor=64.0)
    tensor[place.index] = place.value
    assert float(tensor[place.index]) == -limit / 2
