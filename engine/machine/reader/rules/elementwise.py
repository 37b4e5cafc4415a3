"""Rules of operations that work element by element."""

from __future__ import annotations

from collections.abc import Callable

from engine.machine.ir import Operation, Scalar, Type
from engine.machine.reader.rules.kit import (
    Rule,
    bits_of,
    counted,
    element_of,
    expect_type,
    is_float,
    is_integer,
    is_pointer,
    require,
    same_shape,
    shape_of,
)

_Kind = Callable[[Type], bool]


def same_type(arity: int, kind: _Kind) -> Rule:
    """All operands and the result have one type of this kind."""

    def check(operation: Operation) -> None:
        counted(operation, arity)
        result = operation.results[0].type
        require(kind(result), "the type of the result does not fit the operation")
        for operand in operation.operands:
            expect_type(operand.type, result, "an operand")

    return check


def cast(source: _Kind, target: _Kind, *, growth: int = 0) -> Rule:
    """A conversion between kinds; `growth` is 1 if the result must be wider, -1 if narrower."""

    def check(operation: Operation) -> None:
        counted(operation, 1)
        same_shape(operation)
        before, after = operation.operands[0].type, operation.results[0].type
        require(source(before) and target(after), "the types do not fit the operation")
        if growth:
            require((bits_of(after) - bits_of(before)) * growth > 0, "the widths do not fit the operation")

    return check


def _bitcast(operation: Operation) -> None:
    counted(operation, 1)
    same_shape(operation)
    before, after = operation.operands[0].type, operation.results[0].type
    require(is_pointer(before) == is_pointer(after), "a pointer becomes a number, or a number a pointer")
    require(bits_of(before) == bits_of(after), "expected types of one width")


def comparison(kind: _Kind) -> Rule:
    """Two operands of one type make an i1."""

    def check(operation: Operation) -> None:
        counted(operation, 2)
        first, second = operation.operands
        require(kind(first.type), "the type of the operands does not fit the operation")
        expect_type(second.type, first.type, "an operand")
        same_shape(operation)
        require(element_of(operation.results[0].type) is Scalar.I1, "expected a result of i1")
        require(isinstance(operation.attributes.get("predicate"), str), "expected a predicate")

    return check


def _classification(operation: Operation) -> None:
    counted(operation, 1)
    same_shape(operation)
    require(is_float(operation.operands[0].type), "expected floating-point numbers")
    require(element_of(operation.results[0].type) is Scalar.I1, "expected a result of i1")


def _select(operation: Operation) -> None:
    counted(operation, 3)
    condition, first, second = operation.operands
    result = operation.results[0].type
    require(element_of(condition.type) is Scalar.I1, "expected a condition of i1")
    require(
        condition.type is Scalar.I1 or shape_of(condition.type) == shape_of(result), "the condition has another shape"
    )
    expect_type(first.type, result, "an operand")
    expect_type(second.type, result, "an operand")


def _float_power(operation: Operation) -> None:
    counted(operation, 2)
    same_shape(operation)
    base, exponent = operation.operands
    expect_type(operation.results[0].type, base.type, "a result")
    require(is_float(base.type) and is_integer(exponent.type), "expected a float and an integer")


def _extern(operation: Operation) -> None:
    require(len(operation.results) == 1, "expected 1 result")
    same_shape(operation)
    require(isinstance(operation.attributes.get("symbol"), str), "expected the symbol of a function")


def _constant(operation: Operation) -> None:
    counted(operation, 0)
    require("value" in operation.attributes, "expected a value")


_INTEGER_BINARY = (
    *("addi", "subi", "muli", "divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi"),
    *("andi", "ori", "xori", "shli", "shrsi", "shrui", "maxsi", "maxui", "minsi", "minui"),
)
_FLOAT_BINARY = ("addf", "subf", "mulf", "divf", "remf", "maximumf", "minimumf", "maxnumf", "minnumf")
_MATH_FLOAT_UNARY = (
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "cbrt", "absf", "erf", "erfc"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *("floor", "ceil", "round", "roundeven", "trunc"),
)

RULES: dict[str, Rule] = {
    "arith.constant": _constant,
    "arith.negf": same_type(1, is_float),
    **dict.fromkeys((f"arith.{name}" for name in _INTEGER_BINARY), same_type(2, is_integer)),
    **dict.fromkeys((f"arith.{name}" for name in _FLOAT_BINARY), same_type(2, is_float)),
    "arith.cmpi": comparison(is_integer),
    "arith.cmpf": comparison(is_float),
    "arith.select": _select,
    "arith.extsi": cast(is_integer, is_integer, growth=1),
    "arith.extui": cast(is_integer, is_integer, growth=1),
    "arith.trunci": cast(is_integer, is_integer, growth=-1),
    "arith.extf": cast(is_float, is_float, growth=1),
    "arith.truncf": cast(is_float, is_float, growth=-1),
    **dict.fromkeys(("arith.sitofp", "arith.uitofp"), cast(is_integer, is_float)),
    **dict.fromkeys(("arith.fptosi", "arith.fptoui"), cast(is_float, is_integer)),
    **dict.fromkeys(("arith.index_cast", "arith.index_castui"), cast(is_integer, is_integer)),
    "arith.bitcast": _bitcast,
    **dict.fromkeys((f"math.{name}" for name in _MATH_FLOAT_UNARY), same_type(1, is_float)),
    **dict.fromkeys((f"math.{name}" for name in ("absi", "ctlz", "cttz", "ctpop")), same_type(1, is_integer)),
    **dict.fromkeys((f"math.{name}" for name in ("atan2", "copysign", "powf")), same_type(2, is_float)),
    **dict.fromkeys((f"math.{name}" for name in ("isnan", "isinf", "isfinite", "isnormal")), _classification),
    "math.ipowi": same_type(2, is_integer),
    "math.fma": same_type(3, is_float),
    "math.fpowi": _float_power,
    "tt.precise_sqrt": same_type(1, is_float),
    "tt.precise_divf": same_type(2, is_float),
    "tt.approx_divf": same_type(2, is_float),
    "tt.clampf": same_type(3, is_float),
    "tt.mulhiui": same_type(2, is_integer),
    "tt.bitcast": _bitcast,
    "tt.fp_to_fp": cast(is_float, is_float),
    "tt.int_to_ptr": cast(is_integer, is_pointer),
    "tt.ptr_to_int": cast(is_pointer, is_integer),
    "tt.extern_elementwise": _extern,
}
