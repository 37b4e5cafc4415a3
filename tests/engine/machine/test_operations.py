"""Each operation against an independent formula, dtype by dtype."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch

from engine.errors import UnsupportedError
from engine.machine.ir import Scalar
from engine.machine.numerics import decode, encode
from tests.engine.machine.building import BF16, F16, F32, F64, I1, I8, I32, I64, compute

I16 = Scalar.I16
INTEGERS: dict[Scalar, Any] = {I8: np.int8, I16: np.int16, I32: np.int32, I64: np.int64}
FLOATS: dict[Scalar, Any] = {F16: np.float16, BF16: np.uint16, F32: np.float32, F64: np.float64}
BINARY_INTEGERS = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
    "minsi": min,
    "maxsi": max,
    "divsi": lambda a, b: -1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "floordivsi": lambda a, b: -1 if b == 0 else a // b,
    "ceildivsi": lambda a, b: -1 if b == 0 else -(-a // b),
    "remsi": lambda a, b: a if b == 0 else int(math.copysign(abs(a) % abs(b), a)) if abs(a) < 2**52 else None,
}
UNSIGNED_INTEGERS = {
    "divui": lambda a, b, bits: a // b if b else (1 << bits) - 1,
    "remui": lambda a, b, bits: a % b if b else a,
    "minui": lambda a, b, bits: min(a, b),
    "maxui": lambda a, b, bits: max(a, b),
    "shli": lambda a, b, bits: a << b if b < bits else 0,
    "shrui": lambda a, b, bits: a >> b if b < bits else 0,
}
BINARY_FLOATS = {"addf": np.add, "subf": np.subtract, "mulf": np.multiply, "divf": np.divide}
COMPARISONS = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def integer_pairs(scalar):
    bits = scalar.bits
    edges = [0, 1, -1, 2, 3, -3, 7, bits - 1, bits, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1]
    return np.array(list(itertools.product(edges, edges)), dtype=INTEGERS[scalar]).T


def wrapped(number, scalar):
    number &= (1 << scalar.bits) - 1
    return number - (1 << scalar.bits) if number >> (scalar.bits - 1) else number


@pytest.mark.parametrize("name", BINARY_INTEGERS)
@pytest.mark.parametrize("scalar", INTEGERS, ids=lambda scalar: scalar.value)
def test_integer_operation_wraps_as_its_width(scalar, name):
    left, right = integer_pairs(scalar)
    result = compute(f"arith.{name}", [(scalar, left), (scalar, right)], scalar)
    for a, b, c in zip(left.tolist(), right.tolist(), result.tolist(), strict=True):
        expected = BINARY_INTEGERS[name](a, b)
        assert expected is None or c == wrapped(expected, scalar), (a, b)


@pytest.mark.parametrize("name", UNSIGNED_INTEGERS)
@pytest.mark.parametrize("scalar", INTEGERS, ids=lambda scalar: scalar.value)
def test_unsigned_operation_takes_bits(scalar, name):
    left, right = integer_pairs(scalar)
    result = compute(f"arith.{name}", [(scalar, left), (scalar, right)], scalar)
    mask = (1 << scalar.bits) - 1
    expected = [
        wrapped(UNSIGNED_INTEGERS[name](a & mask, b & mask, scalar.bits), scalar)
        for a, b in zip(left.tolist(), right.tolist(), strict=True)
    ]
    assert result.tolist() == expected


@pytest.mark.parametrize("scalar", [I32, I64], ids=lambda scalar: scalar.value)
def test_high_half_of_product_is_exact(scalar):
    left, right = integer_pairs(scalar)
    result = compute("tt.mulhiui", [(scalar, left), (scalar, right)], scalar)
    mask = (1 << scalar.bits) - 1
    pairs = zip(left.tolist(), right.tolist(), strict=True)
    assert result.tolist() == [wrapped(((a & mask) * (b & mask)) >> scalar.bits, scalar) for a, b in pairs]


def test_arithmetic_shift_keeps_the_sign():
    left, right = integer_pairs(I32)
    result = compute("arith.shrsi", [(I32, left), (I32, right)], I32)
    assert result.tolist() == [a >> min(b & 0xFFFFFFFF, 31) for a, b in zip(left.tolist(), right.tolist(), strict=True)]


@pytest.mark.parametrize("predicate", ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"])
def test_integer_comparison_by_predicate(predicate):
    left, right = integer_pairs(I32)
    result = compute("arith.cmpi", [(I32, left), (I32, right)], I1, predicate=predicate)
    shift = 2**32 if predicate.startswith("u") else 0
    function = COMPARISONS[predicate.lstrip("us") if predicate not in ("eq", "ne") else predicate]
    pairs = zip(left.tolist(), right.tolist(), strict=True)
    assert result.tolist() == [function(a % shift if shift else a, b % shift if shift else b) for a, b in pairs]


@pytest.mark.parametrize("kind", COMPARISONS)
@pytest.mark.parametrize("order", "ou")
def test_float_comparison_of_nan_depends_on_order(order, kind):
    numbers = np.array(list(itertools.product([0.0, -0.0, 1.0, np.inf, np.nan], repeat=2)), np.float32).T.copy()
    result = compute("arith.cmpf", [(F32, numbers[0].copy()), (F32, numbers[1].copy())], I1, predicate=order + kind)
    unordered = np.isnan(numbers).any(axis=0)
    with np.errstate(invalid="ignore"):
        expected = np.where(unordered, order == "u", COMPARISONS[kind](*numbers))
    assert result.tolist() == expected.tolist()


def floats(scalar, count=4096):
    rng = np.random.default_rng(1)
    numbers = rng.standard_normal(count) * np.exp2(rng.integers(-6, 6, count))
    numbers[:6] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0]
    rng.shuffle(numbers)
    return encode(scalar, numbers).astype(FLOATS[scalar])


@pytest.mark.parametrize("name", BINARY_FLOATS)
@pytest.mark.parametrize("scalar", FLOATS, ids=lambda scalar: scalar.value)
def test_float_operation_rounds_once(scalar, name):
    left, right = floats(scalar), floats(scalar)[::-1].copy()
    result = compute(f"arith.{name}", [(scalar, left), (scalar, right)], scalar)
    wide = np.float64 if scalar is not F64 else np.longdouble
    with np.errstate(all="ignore"):
        exact = BINARY_FLOATS[name](decode(scalar, left).astype(wide), decode(scalar, right).astype(wide))
        expected = encode(scalar, exact.astype(np.float64)) if scalar is not F64 else exact.astype(np.float64)
    if scalar is F64:
        np.testing.assert_allclose(result, expected, rtol=2**-52)
    else:
        np.testing.assert_array_equal(decode(scalar, result), decode(scalar, expected))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("maxnumf", [0.0, 0.0, 1.0, 1.0, np.nan]),
        ("minnumf", [-0.0, -0.0, 1.0, 1.0, np.nan]),
        ("maximumf", [0.0, 0.0, np.nan, np.nan, np.nan]),
        ("minimumf", [-0.0, -0.0, np.nan, np.nan, np.nan]),
    ],
)
@pytest.mark.parametrize("scalar", FLOATS, ids=lambda scalar: scalar.value)
def test_extremes_of_nan_and_signed_zeros(scalar, name, expected):
    left = encode(scalar, np.array([0.0, -0.0, np.nan, 1.0, np.nan])).astype(FLOATS[scalar])
    right = encode(scalar, np.array([-0.0, 0.0, 1.0, np.nan, np.nan])).astype(FLOATS[scalar])
    result = decode(scalar, compute(f"arith.{name}", [(scalar, left), (scalar, right)], scalar))
    np.testing.assert_array_equal(result, expected)
    assert np.signbit(result[:2]).tolist() == np.signbit(expected[:2]).tolist()


@pytest.mark.parametrize("scalar", FLOATS, ids=lambda scalar: scalar.value)
def test_negation_flips_sign_of_zero(scalar):
    numbers = encode(scalar, np.array([0.0, -0.0, 2.5])).astype(FLOATS[scalar])
    result = decode(scalar, compute("arith.negf", [(scalar, numbers)], scalar))
    assert [str(number) for number in result.tolist()] == ["-0.0", "0.0", "-2.5"]


MATH = {"exp": math.exp, "exp2": lambda x: 2.0**x, "sin": math.sin, "cos": math.cos, "erf": math.erf, "tanh": math.tanh}
POSITIVE_MATH = {"log": math.log, "log2": math.log2, "sqrt": math.sqrt, "rsqrt": lambda x: 1 / math.sqrt(x)}


@pytest.mark.parametrize("name", MATH | POSITIVE_MATH)
@pytest.mark.parametrize(("scalar", "ulps"), [(F16, 1), (BF16, 1), (F32, 4), (F64, 4)], ids=lambda x: str(x))
def test_elementary_function_within_ulps(scalar, ulps, name):
    numbers = np.linspace(0.01, 8, 999) if name in POSITIVE_MATH else np.linspace(-8, 8, 999)
    held = encode(scalar, numbers).astype(FLOATS[scalar])
    result = decode(scalar, compute(f"math.{name}", [(scalar, held)], scalar)).astype(np.float64)
    exact = np.array([(MATH | POSITIVE_MATH)[name](x) for x in decode(scalar, held).astype(np.float64)])
    rounded = decode(scalar, encode(scalar, exact)).astype(np.float64)
    digits = {F16: 10, BF16: 7, F32: 23, F64: 52}[scalar]
    unit = np.exp2(np.floor(np.log2(np.maximum(np.abs(exact), 1e-5)))) * 2.0**-digits
    assert (np.abs(result - rounded) <= ulps * unit).all()


@pytest.mark.parametrize("symbol", ["__nv_tanhf", "__nv_tanh", "__ocml_tanh_f32"])
def test_library_function_by_symbol(symbol):
    numbers = np.linspace(-2, 2, 64, dtype=np.float32)
    result = compute("tt.extern_elementwise", [(F32, numbers)], F32, symbol=symbol)
    np.testing.assert_allclose(result, np.tanh(numbers.astype(np.float64)), rtol=1e-6)


@pytest.mark.parametrize(
    ("symbol", "formula"),
    [
        ("__nv_fast_fdividef", np.divide),
        ("__triton_hip_fast_fdividef", np.divide),
        ("__nv_fdiv_rn", np.divide),
        ("__nv_fadd_rn", np.add),
        ("__nv_fsub_rn", np.subtract),
        ("__nv_fmul_rn", np.multiply),
        ("__nv_frcp_rn", lambda x: 1 / x),
        ("__nv_fsqrt_rn", np.sqrt),
        ("__nv_frsqrt_rn", lambda x: 1 / np.sqrt(x)),
        ("__nv_fmaf_rn", lambda x, y, z: x * y + z),
        ("__nv_fast_log2f", np.log2),
        ("__nv_fast_log10f", np.log10),
        ("__nv_fast_exp10f", lambda x: 10**x),
        ("__nv_fast_tanf", np.tan),
        ("__nv_saturatef", lambda x: np.clip(x, 0, 1)),
    ],
)
def test_library_function_has_its_formula(symbol, formula):
    numbers = [np.linspace(first, first + 3, 64, dtype=np.float32) for first in (0.25, 1.5, -1.0)]
    numbers = numbers[: formula.nin if isinstance(formula, np.ufunc) else formula.__code__.co_argcount]
    result = compute("tt.extern_elementwise", [(F32, part) for part in numbers], F32, symbol=symbol)
    np.testing.assert_allclose(result, formula(*(part.astype(np.float64) for part in numbers)), rtol=1e-6, atol=1e-7)


def test_double_library_function_is_rounded_once():
    numbers = np.array([1.0, 2.0, 10.0])
    result = compute("tt.extern_elementwise", [(F64, numbers), (F64, numbers + 2)], F64, symbol="__nv_ddiv_rn")
    assert result.tolist() == [1 / 3, 0.5, 10 / 12]


def test_gamma_is_infinite_at_zero_with_its_sign():
    numbers = np.array([0.0, -0.0, -1.0, 5.0], np.float64)
    result = compute("tt.extern_elementwise", [(F64, numbers)], F64, symbol="__nv_tgamma")
    assert [str(number) for number in result.tolist()] == ["inf", "-inf", "nan", "24.0"]


def test_positive_difference_of_nan_is_nan():
    left, right = np.array([np.nan, 1.0, 3.0, np.inf], np.float32), np.array([1.0, np.nan, 2.0, np.inf], np.float32)
    result = compute("tt.extern_elementwise", [(F32, left), (F32, right)], F32, symbol="__nv_fdimf")
    np.testing.assert_array_equal(result, np.array([np.nan, np.nan, 1.0, 0.0], np.float32))


def test_integer_power_of_negative_base_has_exact_parity():
    bases, exponents = np.full(2, -1, np.float32), np.array([2**24 + 1, 2**31 - 1], np.int32)
    library = compute("tt.extern_elementwise", [(F32, bases), (I32, exponents)], F32, symbol="__nv_powif")
    assert library.tolist() == compute("math.fpowi", [(F32, bases), (I32, exponents)], F32).tolist() == [-1.0, -1.0]


def test_saturation_of_nan_is_zero():
    result = compute("tt.extern_elementwise", [(F32, np.array([np.nan], np.float32))], F32, symbol="__nv_saturatef")
    assert result.tolist() == [0.0]


@pytest.mark.parametrize(
    ("symbol", "formula"),
    [
        ("popc", lambda bits, width: bits.bit_count()),
        ("clz", lambda bits, width: width - bits.bit_length()),
        ("ffs", lambda bits, width: (bits & -bits).bit_length()),
        ("brev", lambda bits, width: int(f"{bits:0{width}b}"[::-1], 2)),
    ],
)
@pytest.mark.parametrize(("scalar", "suffix"), [(I32, ""), (I64, "ll")])
def test_bit_function_of_libdevice_has_its_formula(symbol, formula, scalar, suffix):
    width = scalar.bits
    numbers = np.array([0, 1, -1, 2, 12, 1 << (width - 2), -(1 << (width - 1)), 0x12345678], INTEGERS[scalar])
    result = compute("tt.extern_elementwise", [(scalar, numbers)], scalar, symbol=f"__nv_{symbol}{suffix}")
    mask = (1 << width) - 1
    assert [int(bits) & mask for bits in result] == [formula(int(number) & mask, width) for number in numbers]


@pytest.mark.parametrize(("symbol", "function"), [("erfinv", torch.erfinv), ("normcdfinv", torch.special.ndtri)])
@pytest.mark.parametrize(("scalar", "suffix", "rtol"), [(F32, "f", 1e-6), (F64, "", 1e-13)])
def test_inverse_of_distribution_matches_torch(symbol, function, scalar, suffix, rtol):
    smallest = float(np.finfo(FLOATS[scalar]).smallest_normal)
    ends = [-1.0, 0.0, 1.0, -2.0, 2.0, math.nan, smallest, 1e-10, 1 - 2.0**-24, -0.5, 0.5]
    numbers = np.array([*ends, *np.linspace(-0.99, 0.99, 64)], FLOATS[scalar])
    result = compute("tt.extern_elementwise", [(scalar, numbers)], scalar, symbol=f"__nv_{symbol}{suffix}")
    expected = function(torch.from_numpy(numbers).double()).numpy()
    np.testing.assert_allclose(result, expected, rtol=rtol)


@pytest.mark.parametrize(("mode", "expected"), [("rn", 2), ("rz", 2), ("rd", 2), ("ru", 3)])
def test_float_to_integer_function_rounds_by_its_mode(mode, expected):
    numbers = np.array([2.5, -2.5, 3e10, np.nan, -np.inf], np.float32)
    result = compute("tt.extern_elementwise", [(F32, numbers)], I32, symbol=f"__nv_float2int_{mode}")
    negative = -3 if mode == "rd" else -2
    assert result.tolist() == [expected, negative, 2**31 - 1, 0, -(2**31)]


def test_functions_between_floats_and_integers_keep_bits_or_value():
    numbers = np.array([0.5, -1.5, 2.5, 3.5], np.float32)
    bits = compute("tt.extern_elementwise", [(F32, numbers)], I32, symbol="__nv_float_as_int")
    back = compute("tt.extern_elementwise", [(I32, bits)], F32, symbol="__nv_int_as_float")
    nearest = compute("tt.extern_elementwise", [(F32, numbers)], I64, symbol="__nv_llrintf")
    away = compute("tt.extern_elementwise", [(F32, numbers)], I64, symbol="__nv_llroundf")
    of_unsigned = compute("tt.extern_elementwise", [(I32, np.array([-1], np.int32))], F64, symbol="__nv_uint2double_rn")
    assert (bits.tolist(), back.tolist()) == (numbers.view(np.int32).tolist(), numbers.tolist())
    assert (nearest.tolist(), away.tolist(), of_unsigned.tolist()) == ([0, -2, 2, 4], [1, -2, 3, 4], [2.0**32 - 1])


def test_missing_library_function_is_named_with_line():
    with pytest.raises(UnsupportedError, match=r"^kernel.py:\d+: tt.extern_elementwise: .* __nv_rcp64h$"):
        compute("tt.extern_elementwise", [(F64, np.zeros(4))], F64, symbol="__nv_rcp64h")


def test_lgamma_is_infinite_at_its_poles():
    numbers = np.array([0.0, -0.0, -3.0, -np.inf, np.inf, 1.0], np.float64)
    result = compute("tt.extern_elementwise", [(F64, numbers)], F64, symbol="__nv_lgamma")
    assert result.tolist() == [np.inf, np.inf, np.inf, np.inf, np.inf, 0.0]


def test_unknown_operation_is_named_with_line():
    with pytest.raises(UnsupportedError, match=r"^kernel.py:\d+: tt.elementwise_inline_asm: inline assembly"):
        compute("tt.elementwise_inline_asm", [(F32, np.zeros(4, np.float32))], F32)


@pytest.mark.parametrize("target", [scalar for scalar in INTEGERS if scalar is not I8], ids=lambda scalar: scalar.value)
def test_float_to_integer_saturates_toward_zero(target):
    numbers = np.array([0.9, -0.9, 1e30, -1e30, np.nan, 100.5], np.float32)
    result = compute("arith.fptosi", [(F32, numbers)], target)
    limits = np.iinfo(INTEGERS[target])
    assert result.tolist() == [0, 0, limits.max, limits.min, 0, 100]


@pytest.mark.parametrize(
    ("operation", "expected"),
    [("arith.fptosi", [0, -100, -56, 56, 44, -1, 0, 0]), ("arith.fptoui", [0, 0, -56, 0, 44, -1, 0, 0])],
)
def test_float_to_8_bits_wraps_after_16(operation, expected):
    numbers = np.array([0.9, -100.5, 200.0, -200.0, 300.0, 1e30, -1e30, np.nan], np.float32)
    assert compute(operation, [(F32, numbers)], I8).tolist() == expected


@pytest.mark.parametrize("target", FLOATS, ids=lambda scalar: scalar.value)
@pytest.mark.parametrize("source", INTEGERS, ids=lambda scalar: scalar.value)
def test_integer_to_float_is_nearest(source, target):
    numbers = integer_pairs(source)[0]
    result = decode(target, compute("arith.sitofp", [(source, numbers)], target))
    torch_type = {F16: torch.float16, BF16: torch.bfloat16, F32: torch.float32, F64: torch.float64}[target]
    np.testing.assert_array_equal(result, torch.from_numpy(numbers.copy()).double().to(torch_type).double().numpy())


@pytest.mark.parametrize(("source", "target"), [(F64, F32), (F64, F16), (F64, BF16), (F32, F16), (F32, BF16)])
def test_truncation_of_floats_is_nearest_even(source, target):
    numbers = floats(source)
    result = decode(target, compute("arith.truncf", [(source, numbers)], target))
    torch_type = {F16: torch.float16, BF16: torch.bfloat16, F32: torch.float32}[target]
    expected = torch.from_numpy(numbers).to(torch_type).double().numpy()
    np.testing.assert_array_equal(result.astype(np.float64), expected)


def test_extension_of_i1_depends_on_signedness():
    numbers = np.array([0, 1], np.int32)
    ones = compute("arith.trunci", [(I32, numbers)], I1)
    assert compute("arith.extsi", [(I1, ones)], I32).tolist() == [0, -1]
    assert compute("arith.extui", [(I1, ones)], I32).tolist() == [0, 1]
