"""`arith`, `math` and `ub`."""

from __future__ import annotations

from engine.machine.ir import Attribute, Scalar
from engine.machine.reader.attributes import read_attributes, read_constant
from engine.machine.reader.context import Context, Draft
from engine.machine.reader.forms.kit import Form, keyword, same_type, with_element

INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
FLOAT_PREDICATES = (
    *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
    *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
)
_ROUNDINGS = ("to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away")
_FLAGS = {"fastmath": "fastmath", "overflow": "overflowFlags"}


def _flags(context: Context) -> dict[str, Attribute]:
    """Read `fastmath<...>`, `overflow<...>`, a rounding mode and attributes, all of them optional."""
    cursor = context.cursor
    found: dict[str, Attribute] = {}
    while (word := cursor.next) not in (":", "{"):
        if word in _FLAGS:
            cursor.take()
            found[_FLAGS[word]] = _flag_names(context)
        elif word in _ROUNDINGS:
            found["roundingmode"] = cursor.take()
        elif word == "nneg":
            found["nonNeg"] = bool(cursor.take())
        else:
            cursor.fail("expected : and a type")
    found.update(read_attributes(context))
    return found


def _flag_names(context: Context) -> tuple[str, ...]:
    """Read `<nnan, ninf>`."""
    context.cursor.expect("<")
    names = [context.cursor.word("a flag")]
    while context.cursor.accept(","):
        names.append(context.cursor.word("a flag"))
    context.cursor.expect(">")
    return tuple(names)


def _cast(context: Context) -> Draft:
    """`%a nneg : T to U`."""
    operand = context.operand()
    attributes = _flags(context)
    context.cursor.expect(":")
    context.type_of(operand)
    context.cursor.expect("to")
    return Draft(operands=(operand,), results=(context.type(),), attributes=attributes)


def _comparison(predicates: tuple[str, ...]) -> Form:
    """`slt, %a, %b : T`."""

    def read(context: Context) -> Draft:
        predicate = keyword(context, predicates, "a predicate")
        context.cursor.expect(",")
        operands = context.operands(2)
        attributes = _flags(context)
        context.cursor.expect(":")
        type_ = context.type_of(*operands)
        return Draft(
            operands=operands,
            results=(with_element(type_, Scalar.I1),),
            attributes={**attributes, "predicate": predicate},
        )

    return read


def _classification(context: Context) -> Draft:
    """`%a : T`, with a result of i1."""
    operand = context.operand()
    attributes = _flags(context)
    context.cursor.expect(":")
    type_ = context.type_of(operand)
    return Draft(operands=(operand,), results=(with_element(type_, Scalar.I1),), attributes=attributes)


def _select(context: Context) -> Draft:
    """`%c, %a, %b : T`, or `: C, T` where the condition is a tensor."""
    condition, first, second = context.operands(3)
    attributes = read_attributes(context)
    context.cursor.expect(":")
    if condition.type is not Scalar.I1 or context.cursor.after_next == ",":
        context.type_of(condition)
        context.cursor.expect(",")
    type_ = context.type_of(first, second)
    return Draft(operands=(condition, first, second), results=(type_,), attributes=attributes)


def _constant(context: Context) -> Draft:
    """`{...} 1 : i32`."""
    attributes = read_attributes(context)
    value, type_ = read_constant(context)
    return Draft(results=(type_,), attributes={**attributes, "value": value})


def _float_power(context: Context) -> Draft:
    """`%a, %b : T, U`, with a result of T."""
    operands = context.operands(2)
    attributes = _flags(context)
    context.cursor.expect(":")
    context.types_of(operands)
    return Draft(operands=operands, results=(operands[0].type,), attributes=attributes)


def _poison(context: Context) -> Draft:
    """`: T`."""
    attributes = read_attributes(context)
    context.cursor.expect(":")
    return Draft(results=(context.type(),), attributes=attributes)


_ARITH_UNARY = ("negf",)
_ARITH_BINARY = (
    *("addi", "subi", "muli", "divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi"),
    *("andi", "ori", "xori", "shli", "shrsi", "shrui", "maxsi", "maxui", "minsi", "minui"),
    *("addf", "subf", "mulf", "divf", "remf", "maximumf", "minimumf", "maxnumf", "minnumf"),
)
_ARITH_CASTS = (
    *("extsi", "extui", "trunci", "extf", "truncf", "sitofp", "uitofp", "fptosi", "fptoui"),
    *("bitcast", "index_cast", "index_castui"),
)
_MATH_UNARY = (
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "cbrt"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *("erf", "erfc", "absf", "absi", "floor", "ceil", "round", "roundeven", "trunc", "ctlz", "cttz", "ctpop"),
)
_MATH_BINARY = ("atan2", "copysign", "ipowi", "powf")
_MATH_CLASSIFICATIONS = ("isnan", "isinf", "isfinite", "isnormal")

FORMS: dict[str, Form] = {
    "arith.constant": _constant,
    "arith.cmpi": _comparison(INTEGER_PREDICATES),
    "arith.cmpf": _comparison(FLOAT_PREDICATES),
    "arith.select": _select,
    **{f"arith.{name}": same_type(1, _flags) for name in _ARITH_UNARY},
    **{f"arith.{name}": same_type(2, _flags) for name in _ARITH_BINARY},
    **dict.fromkeys((f"arith.{name}" for name in _ARITH_CASTS), _cast),
    **{f"math.{name}": same_type(1, _flags) for name in _MATH_UNARY},
    **{f"math.{name}": same_type(2, _flags) for name in _MATH_BINARY},
    **dict.fromkeys((f"math.{name}" for name in _MATH_CLASSIFICATIONS), _classification),
    "math.fma": same_type(3, _flags),
    "math.fpowi": _float_power,
    "ub.poison": _poison,
}
