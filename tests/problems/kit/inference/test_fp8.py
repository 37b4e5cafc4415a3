"""The e4m3fn codes against PyTorch's own conversions, code by code, and at ties."""

from __future__ import annotations

import torch

from engine.model import DType
from problems.kit.inference.fp8 import cast_from_e4m3, cast_to_e4m3, e4m3_codes, e4m3_values, off_the_ties

CODES = torch.arange(256, dtype=torch.uint8)


def test_values_of_all_codes_are_those_of_pytorch():
    assert e4m3_values(CODES).allclose(cast_from_e4m3(CODES).double(), rtol=0, atol=0, equal_nan=True)


def test_e4m3_codes_decode_to_known_values():
    codes = torch.tensor([0x00, 0x01, 0x07, 0x08, 0x38, 0x7E, 0xB9], dtype=torch.uint8)
    assert e4m3_values(codes).tolist() == [0.0, 2**-9, 7 * 2**-9, 2**-6, 1.0, 448.0, -1.125]


def test_codes_of_all_values_are_themselves():
    numbers = CODES[CODES & 0x7F != 0x7F]
    assert e4m3_codes(e4m3_values(numbers)).equal(numbers)


def test_ties_round_to_even_and_large_values_saturate():
    values = torch.tensor([1.0625, 1.1875, 449.0, -torch.inf, 2**-10, 3 * 2**-10], dtype=torch.float64)
    assert e4m3_codes(values).tolist() == [0x38, 0x3A, 0x7E, 0xFE, 0x00, 0x02]


def test_codes_of_random_values_are_those_of_pytorch():
    values = torch.randn(5000, generator=torch.Generator().manual_seed(1), dtype=torch.float64) * 100
    assert e4m3_codes(values.float().double()).equal(cast_to_e4m3(values))


def test_values_off_ties_keep_code_under_small_changes():
    values = off_the_ties((5000,), DType.BFLOAT16, torch.Generator().manual_seed(1), scale=0.3).double() / 0.3
    assert e4m3_codes(values * 1.001).equal(e4m3_codes(values * 0.999))
