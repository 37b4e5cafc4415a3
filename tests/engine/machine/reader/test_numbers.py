"""Bit patterns of literals, against the formats' own rules and numpy."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest

from engine.machine.ir import Scalar
from engine.machine.reader.numbers import blob_bits, float_bits, literal_bits

PATTERNS = (
    ("1.0", Scalar.F8E4M3FN, 0x38),
    ("448.0", Scalar.F8E4M3FN, 0x7E),
    ("-0.0", Scalar.F8E4M3FN, 0x80),
    ("1.0", Scalar.F8E5M2, 0x3C),
    ("57344.0", Scalar.F8E5M2, 0x7B),
    ("1e9", Scalar.F8E5M2, 0x7C),
    ("1.0", Scalar.F8E4M3FNUZ, 0x40),
    ("-0.0", Scalar.F8E4M3FNUZ, 0),
    ("1.0", Scalar.F8E4M3B11FNUZ, 0x58),
    ("1.0", Scalar.F8E5M2FNUZ, 0x40),
    ("1.0", Scalar.BF16, 0x3F80),
    ("1.00390625", Scalar.BF16, 0x3F80),
    ("1.01171875", Scalar.BF16, 0x3F82),
    ("1e-45", Scalar.F32, 1),
    ("-1.0", Scalar.F16, 0xBC00),
    ("1e99999", Scalar.F64, 0x7FF0 << 48),
    ("1e-99999", Scalar.F64, 0),
    ("true", Scalar.I1, 1),
    ("-1", Scalar.I8, 0xFF),
    ("0xFF800000", Scalar.F32, 0xFF800000),
    ("-9223372036854775808", Scalar.I64, 1 << 63),
)


@pytest.mark.parametrize(("text", "scalar", "bits"), PATTERNS)
def test_literal_has_pattern(text: str, scalar: Scalar, bits: int) -> None:
    assert literal_bits(text, scalar) == bits


def test_decimal_is_rounded_once() -> None:
    # One unit in the last place of a double above the middle between two floats: through a double it would be a tie.
    assert float_bits("1.00000005960464477540", Scalar.F32) == 0x3F800001


def test_random_decimals_round_as_numpy() -> None:
    draw = random.Random(3)
    for _ in range(2000):
        number = draw.uniform(-10, 10) * 10 ** draw.randint(-12, 8)
        assert float_bits(repr(number), Scalar.F64) == struct.unpack("<Q", struct.pack("<d", number))[0]
        with np.errstate(over="ignore"):
            assert float_bits(repr(number), Scalar.F16) == int(np.float64(number).astype(np.float16).view(np.uint16))


@pytest.mark.parametrize("text", ["", "-", "x", "1e999999999", "9" * 500, "0x" + "F" * 100])
def test_other_text_is_not_a_float(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a number|does not fit"):
        literal_bits(text, Scalar.F32)


def test_blob_is_little_endian_by_element() -> None:
    assert blob_bits("0100000002000000", Scalar.I32, 2) == (1, 2)
    assert blob_bits("0000803F", Scalar.F32, 200) == (0x3F800000,)
    assert blob_bits("05", Scalar.I1, 4) == (1, 0, 1, 0)
