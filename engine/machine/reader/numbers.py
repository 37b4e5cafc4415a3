"""Bit patterns of the numbers in TTIR text, rounded once, to nearest even."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from engine.machine.ir import Scalar

_DECIMAL = re.compile(r"(-?)(\d{1,400})(?:\.(\d{0,1200}))?(?:[eE]([-+]?\d{1,5}))?", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class FloatFormat:
    """A floating-point format: a sign bit, then exponent and mantissa.

    `infinity` is the pattern for overflow: that of infinity, or of NaN in a format without infinities.
    """

    exponent_bits: int
    mantissa_bits: int
    bias: int
    largest: int
    infinity: int
    negative_zero: bool = True

    @property
    def sign(self) -> int:
        """The sign bit."""
        return 1 << (self.exponent_bits + self.mantissa_bits)


def _ieee(exponent_bits: int, mantissa_bits: int) -> FloatFormat:
    infinity = ((1 << exponent_bits) - 1) << mantissa_bits
    return FloatFormat(
        exponent_bits=exponent_bits,
        mantissa_bits=mantissa_bits,
        bias=(1 << (exponent_bits - 1)) - 1,
        largest=infinity - 1,
        infinity=infinity,
    )


def _without_infinity(exponent_bits: int, mantissa_bits: int, bias: int) -> FloatFormat:
    """A format whose only NaN is the pattern of negative zero."""
    sign = 1 << (exponent_bits + mantissa_bits)
    return FloatFormat(
        exponent_bits=exponent_bits,
        mantissa_bits=mantissa_bits,
        bias=bias,
        largest=sign - 1,
        infinity=sign,
        negative_zero=False,
    )


FORMATS = {
    Scalar.F16: _ieee(5, 10),
    Scalar.BF16: _ieee(8, 7),
    Scalar.F32: _ieee(8, 23),
    Scalar.F64: _ieee(11, 52),
    Scalar.F8E5M2: _ieee(5, 2),
    Scalar.F8E4M3FN: FloatFormat(exponent_bits=4, mantissa_bits=3, bias=7, largest=0x7E, infinity=0x7F),
    Scalar.F8E4M3FNUZ: _without_infinity(4, 3, 8),
    Scalar.F8E4M3B11FNUZ: _without_infinity(4, 3, 11),
    Scalar.F8E5M2FNUZ: _without_infinity(5, 2, 16),
}


def float_bits(text: str, scalar: Scalar) -> int:
    """The pattern nearest to a decimal number; ValueError if the text is not one or has too many digits."""
    found = _DECIMAL.fullmatch(text)
    if found is None:
        raise ValueError(f"{text[:40]} is not a number")
    sign, whole, fraction, exponent = found[1], found[2], found[3] or "", int(found[4] or 0)
    # Beyond these exponents every format has zero or infinity, and the power of ten would be too large to compute.
    exponent = max(-2000, min(2000, exponent))
    magnitude = Fraction(int(whole + fraction)) * Fraction(10) ** (exponent - len(fraction))
    float_format = FORMATS[scalar]
    bits = _nearest(magnitude, float_format)
    if not sign or bits == float_format.infinity == float_format.sign:
        return bits
    return bits | float_format.sign if bits or float_format.negative_zero else 0


def _nearest(magnitude: Fraction, float_format: FloatFormat) -> int:
    """The pattern nearest to a number that is not negative, ties to even."""
    if magnitude == 0:
        return 0
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    exponent -= magnitude < Fraction(2) ** exponent
    exponent = max(exponent, 1 - float_format.bias)
    mantissa = round(magnitude / Fraction(2) ** (exponent - float_format.mantissa_bits))
    # A mantissa that rounds up to the next power of two carries into the exponent by itself.
    bits = ((exponent + float_format.bias - 1) << float_format.mantissa_bits) + mantissa
    return bits if bits <= float_format.largest else float_format.infinity


def integer_bits(number: int, scalar: Scalar) -> int:
    """The two's complement pattern; ValueError if the type is too narrow."""
    bits = scalar.bits
    if not -(1 << (bits - 1)) <= number < 1 << bits:
        raise ValueError(f"{number} does not fit {scalar.value}")
    return number & ((1 << bits) - 1)


def literal_bits(token: str, scalar: Scalar) -> int:
    """The pattern of one literal of a constant: a number, a pattern `0x...`, true or false.

    Raises:
        ValueError: it is not a literal of this type.
    """
    if token in ("true", "false"):
        if scalar is not Scalar.I1:
            raise ValueError(f"{token} is not a number of type {scalar.value}")
        return int(token == "true")
    if token.startswith("0x"):
        pattern = int(token[2:34], 16)
        if len(token) > 34 or pattern >> scalar.bits:
            raise ValueError(f"{token[:40]} does not fit {scalar.value}")
        return pattern
    if scalar.is_float:
        return float_bits(token, scalar)
    if not (token.isascii() and token.lstrip("-").isdecimal()) or len(token) > 40:
        raise ValueError(f"{token[:40]} is not an integer")
    return integer_bits(int(token), scalar)


def blob_bits(digits: str, scalar: Scalar, elements: int) -> tuple[int, ...]:
    """The patterns of a blob of hexadecimal digits, little-endian by element; one pattern represents all.

    Raises:
        ValueError: it is not a blob of this many elements.
    """
    raw = bytes.fromhex(digits)
    if scalar is Scalar.I1 and len(raw) == (elements + 7) // 8 != elements:
        return tuple(raw[place // 8] >> place % 8 & 1 for place in range(elements))
    size = scalar.bytes
    if len(raw) not in (size, size * elements):
        raise ValueError(f"a blob has {len(raw)} bytes, not {size * elements}")
    return tuple(int.from_bytes(raw[start : start + size], "little") for start in range(0, len(raw), size))
