"""Functions of libdevice against SciPy, fractions and formulas; every function of Triton's module is known."""

from __future__ import annotations

import inspect
import math
import re
from fractions import Fraction

import numpy as np
import pytest
from scipy import special
from triton.language.extra.cuda import libdevice

from engine.machine.operations.libdevice import library_function
from tests.engine.machine.building import F32, F64, I32, I64, compute

UNKNOWN = {"__nv_rcp64h"}  # an approximation of hardware
FLOATS = {F32: np.float32, F64: np.float64}
RELATIVE = {F32: 2e-7, F64: 4e-14}
OF_ONE = {
    "cyl_bessel_i0": special.i0,
    "cyl_bessel_i1": special.i1,
    "j0": special.j0,
    "j1": special.j1,
    "y0": special.y0,
    "y1": special.y1,
    "erfcx": special.erfcx,
    "erfcinv": special.erfcinv,
}
EXACT = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
}
WORDS = np.array([0, 1, -1, 7, -7, 0x123456, -0x123456, 2**31 - 1, -(2**31), 0x00FFFFFF], np.int32)


def call(symbol, result, *operands):
    return compute("tt.extern_elementwise", list(operands), result, symbol=f"__nv_{symbol}")


def test_every_function_of_triton_is_known():
    symbols = set(re.findall(r'"(__nv_\w+)"', inspect.getsource(libdevice)))
    assert len(symbols) > 300
    assert {symbol for symbol in symbols if library_function(symbol) is None} == UNKNOWN


@pytest.mark.parametrize("name", OF_ONE)
@pytest.mark.parametrize(("scalar", "suffix"), [(F32, "f"), (F64, "")])
def test_special_function_matches_scipy(name, scalar, suffix):
    most = 2 if name == "erfcinv" else 80
    numbers = np.concatenate([np.linspace(0, most, 401), 10.0 ** np.linspace(-20, math.log10(most), 201)])
    if name in ("cyl_bessel_i0", "cyl_bessel_i1", "j0", "j1", "erfcx"):
        numbers = np.concatenate([numbers, -numbers[numbers < 9], [math.nan]])
    numbers = numbers.astype(FLOATS[scalar])
    result = call(f"{name}{suffix}", scalar, (scalar, numbers))
    expected = OF_ONE[name](numbers.astype(np.float64))
    absolute = 0.0 if name[0] not in "jy" else RELATIVE[scalar] / 2
    np.testing.assert_allclose(result, expected.astype(FLOATS[scalar]), rtol=RELATIVE[scalar], atol=absolute)


@pytest.mark.parametrize(("name", "function"), [("jn", special.jv), ("yn", special.yn)])
def test_bessel_function_of_any_order_matches_scipy(name, function):
    orders, numbers = (part.ravel() for part in np.meshgrid(np.arange(9), np.linspace(0.5, 70, 140)))
    result = call(name, F64, (I32, orders.astype(np.int32)), (F64, numbers))
    np.testing.assert_allclose(result, function(orders, numbers), rtol=1e-12, atol=1e-15)
    assert np.isnan(call(name, F64, (I32, np.array([-1], np.int32)), (F64, np.array([2.0]))))


@pytest.mark.parametrize("mode", ["rd", "ru", "rz"])
@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize(("scalar", "letter"), [(F32, "f"), (F64, "d")])
def test_arithmetic_is_rounded_by_its_mode(mode, name, scalar, letter):
    a, b = numbers_of_all_sizes(scalar, 2)
    result = call(f"{letter}{name}_{mode}", scalar, (scalar, a), (scalar, b))
    exact = [EXACT[name](Fraction(float(left)), Fraction(float(right))) for left, right in zip(a, b, strict=True)]
    assert_rounded(result, exact, mode)


@pytest.mark.parametrize("mode", ["rd", "ru", "rz"])
@pytest.mark.parametrize(("scalar", "name"), [(F32, "fmaf"), (F64, "fma")])
def test_fused_product_is_rounded_by_its_mode(mode, scalar, name):
    a, b, c = numbers_of_all_sizes(scalar, 3)
    result = call(f"{name}_{mode}", scalar, (scalar, a), (scalar, b), (scalar, c))
    parts = (tuple(Fraction(float(part)) for part in one) for one in zip(a, b, c, strict=True))
    assert_rounded(result, [left * right + added for left, right, added in parts], mode)


@pytest.mark.parametrize("mode", ["rd", "ru", "rz"])
def test_conversion_is_rounded_by_its_mode(mode):
    integers = np.array([0, 1, -1, 2**24 + 1, -(2**24) - 1, 2**31 - 1, -(2**31)], np.int32)
    result = call(f"int2float_{mode}", F32, (I32, integers))
    assert_rounded(result, [Fraction(int(number)) for number in integers], mode)
    unsigned = call(f"ull2float_{mode}", F32, (I64, np.array([-1, 2**62 + 1], np.int64)))
    assert_rounded(unsigned, [Fraction(2**64 - 1), Fraction(2**62 + 1)], mode)
    doubles = numbers_of_all_sizes(F64, 1)[0]
    assert_rounded(call(f"double2float_{mode}", F32, (F64, doubles)), [Fraction(float(one)) for one in doubles], mode)


def test_directed_rounding_overflows_to_the_largest_number_or_infinity():
    most = np.array([np.finfo(np.float32).max], np.float32)
    assert call("fadd_rd", F32, (F32, most), (F32, most)) == most
    assert call("fadd_ru", F32, (F32, most), (F32, most)) == np.inf
    assert call("fmul_rz", F32, (F32, -most), (F32, most)) == -most
    assert call("fdiv_rz", F32, (F32, most), (F32, np.zeros(1, np.float32))) == np.inf


@pytest.mark.parametrize("mode", ["rd", "ru"])
def test_root_lies_on_the_side_of_its_mode(mode):
    numbers = np.linspace(0.1, 9, 99).astype(np.float32)
    result = call(f"fsqrt_{mode}", F32, (F32, numbers)).astype(np.float64)
    beside = np.nextafter(result.astype(np.float32), np.float32(9 if mode == "rd" else 0)).astype(np.float64)
    lower, upper = (result, beside) if mode == "rd" else (beside, result)
    assert ((lower**2 <= numbers) & (numbers <= upper**2)).all()


@pytest.mark.parametrize(
    ("symbol", "formula"),
    [
        ("mulhi", lambda a, b: (a * b) >> 32),
        ("umulhi", lambda a, b: ((a % 2**32) * (b % 2**32)) >> 32),
        ("mul24", lambda a, b: _signed(a, 24) * _signed(b, 24)),
        ("umul24", lambda a, b: (a % 2**24) * (b % 2**24)),
        ("hadd", lambda a, b: (a + b) >> 1),
        ("rhadd", lambda a, b: (a + b + 1) >> 1),
        ("uhadd", lambda a, b: ((a % 2**32) + (b % 2**32)) >> 1),
        ("urhadd", lambda a, b: ((a % 2**32) + (b % 2**32) + 1) >> 1),
    ],
)
def test_function_of_two_integers_has_its_formula(symbol, formula):
    a, b = (part.ravel() for part in np.meshgrid(WORDS, WORDS))
    result = call(symbol, I32, (I32, a), (I32, b))
    assert [int(one) % 2**32 for one in result] == [formula(int(x), int(y)) % 2**32 for x, y in zip(a, b, strict=True)]


def test_words_and_bytes_are_taken_apart_and_joined():
    numbers = np.array([1.5, -2.25, math.pi])
    upper, lower = (call(f"double2{part}int", I32, (F64, numbers)) for part in ("hi", "lo"))
    assert call("hiloint2double", F64, (I32, upper), (I32, lower)).tolist() == numbers.tolist()
    words = [(I32, np.array([number], np.uint32).view(np.int32)) for number in (0x33221100, 0x77665544, 0x7340)]
    assert int(call("byte_perm", I32, *words)[0]) == 0x77334400
    sums = [(I32, np.array([number], np.int32)) for number in (-5, 7, 3)]
    assert int(call("sad", I32, *sums)[0]) == 15


def test_exponents_and_neighbours_of_numbers():
    numbers = np.array([0.0, 1.0, -3.0, 0.375, math.inf, math.nan], np.float32)
    assert call("logbf", F32, (F32, numbers))[:5].tolist() == [-math.inf, 0, 1, -2, math.inf]
    assert call("ilogbf", I32, (F32, numbers)).tolist() == [-(2**31), 0, 1, -2, 2**31 - 1, -(2**31)]
    powers = np.full(6, 3, np.int32)
    assert call("ldexpf", F32, (F32, numbers), (I32, powers))[:4].tolist() == [0, 8, -24, 3]
    assert call("nextafterf", F32, (F32, numbers), (F32, np.full(6, 9, np.float32)))[1] == np.float32(1 + 2**-23)


def test_remainder_and_lengths():
    a, b = np.array([5.0, 7.5, -1.0, math.inf]), np.array([3.0, 2.0, 0.0, 2.0])
    np.testing.assert_array_equal(call("remainder", F64, (F64, a), (F64, b)), [-1.0, -0.5, math.nan, math.nan])
    large = (F64, np.array([3e200])), (F64, np.array([4e200])), (F64, np.array([0.0]))
    assert call("norm3d", F64, *large) == pytest.approx(5e200)
    assert call("rhypot", F64, *large[:2]) == pytest.approx(2e-201)


def numbers_of_all_sizes(scalar, count):
    draws = np.random.default_rng(7)
    return [
        (draws.standard_normal(400) * 10.0 ** draws.uniform(-9, 9, 400)).astype(FLOATS[scalar]) for _ in range(count)
    ]


def assert_rounded(result, exact, mode):
    """Each result is the number next to the exact one, on the side of the mode."""
    for number, right in zip(result, exact, strict=True):
        rounded = Fraction(float(number))
        downwards = mode == "rd" or (mode == "rz" and right > 0)
        beyond = Fraction(float(np.nextafter(number, number.dtype.type(math.inf if downwards else -math.inf))))
        assert rounded <= right < beyond if downwards else beyond < right <= rounded


def _signed(number, bits):
    return (number % 2**bits + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)
