"""Rounding of bf16 and f8 against exact arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from engine.machine.ir import Scalar
from engine.machine.numerics import decode, encode, encode_toward_zero, round_to_tf32

TORCH = {
    Scalar.BF16: torch.bfloat16,
    Scalar.F8E4M3FN: torch.float8_e4m3fn,
    Scalar.F8E4M3FNUZ: torch.float8_e4m3fnuz,
    Scalar.F8E5M2: torch.float8_e5m2,
    Scalar.F8E5M2FNUZ: torch.float8_e5m2fnuz,
}


@pytest.mark.parametrize("scalar", TORCH, ids=lambda scalar: scalar.value)
def test_decode_of_every_pattern_equals_torch(scalar):
    bits = np.arange(1 << scalar.bits, dtype=np.uint16 if scalar.bits == 16 else np.uint8)
    expected = torch.from_numpy(bits.view(np.int16 if scalar.bits == 16 else np.uint8)).view(TORCH[scalar]).float()
    np.testing.assert_array_equal(decode(scalar, bits), expected.numpy())


@pytest.mark.parametrize("scalar", TORCH, ids=lambda scalar: scalar.value)
def test_encoding_rounds_each_value_to_nearest_even(scalar):
    values = decode(scalar, np.arange(1 << (scalar.bits - 1), dtype=np.uint16 if scalar.bits == 16 else np.uint8))
    finite = values[np.isfinite(values)].astype(np.float64)
    midpoints = (finite[1:] + finite[:-1]) / 2
    nudge = np.spacing(midpoints)
    numbers = np.concatenate([finite, midpoints, midpoints - nudge, midpoints + nudge])
    codes = np.arange(len(finite))
    even = np.where(codes[:-1] % 2 == 0, codes[:-1], codes[1:])
    expected = np.concatenate([codes, even, codes[:-1], codes[1:]])
    np.testing.assert_array_equal(encode(scalar, numbers), expected)


@pytest.mark.parametrize("scalar", [Scalar.F8E4M3FN, Scalar.F8E5M2], ids=lambda scalar: scalar.value)
def test_encode_to_f8_saturates_and_keeps_nan(scalar):
    largest = float(torch.finfo(TORCH[scalar]).max)
    coded = encode(scalar, np.array([1e9, -np.inf, np.nan, -0.0], np.float32))
    values = decode(scalar, coded)
    assert values[:2].tolist() == [largest, -largest]
    assert np.isnan(values[2])
    assert np.signbit(values[3])


def test_encode_to_bf16_overflows_to_infinity():
    assert decode(Scalar.BF16, encode(Scalar.BF16, np.array([3.4e38], np.float32))).tolist() == [np.inf]


@pytest.mark.parametrize("scalar", [Scalar.BF16, Scalar.F16], ids=lambda scalar: scalar.value)
def test_encode_toward_zero_never_grows(scalar):
    numbers = np.random.default_rng(0).standard_normal(4096).astype(np.float32)
    values = decode(scalar, encode_toward_zero(scalar, numbers)).astype(np.float32)
    assert (np.abs(values) <= np.abs(numbers)).all()
    assert (np.abs(numbers - values) < np.abs(numbers) * 2.0 ** (-7 if scalar is Scalar.BF16 else -10)).all()


def test_tf32_keeps_ten_bits_ties_away():
    step = 2.0**-10
    numbers = np.array([1 + step / 2, 1 + step / 4, -(1 + step / 2), np.inf], np.float32)
    assert round_to_tf32(numbers).tolist() == [1 + step, 1.0, -(1 + step), np.inf]
