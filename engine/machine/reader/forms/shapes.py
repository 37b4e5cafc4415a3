"""Tensors: ranges, shapes, conversions, products and combining regions."""

from __future__ import annotations

from engine.machine.ir import Attribute, Value
from engine.machine.reader.attributes import read_attributes
from engine.machine.reader.context import Context, Draft
from engine.machine.reader.forms.kit import Form, conversion, keyword, same_type
from engine.machine.reader.forms.loops import read_terminator

PRECISIONS = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")
ROUNDINGS = ("rtz", "rtne", "rtna", "rs")
NAN_RULES = ("none", "all")
_SCALE_ELEMENTS = ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "bf16", "fp16")


def _make_range(context: Context) -> Draft:
    """`{end = 64 : i32, start = 0 : i32} : T`."""
    attributes = read_attributes(context)
    context.cursor.expect(":")
    return Draft(results=(context.type(),), attributes=attributes)


def _fp_to_fp(context: Context) -> Draft:
    """`%a {...}, rounding = rtne : T -> U`."""
    cursor = context.cursor
    operands = [context.operand()]
    attributes = read_attributes(context)
    while cursor.accept(","):
        if cursor.accept("rounding"):
            cursor.expect("=")
            attributes["rounding"] = keyword(context, ROUNDINGS, "a rounding mode")
        else:
            operands.append(context.operand())
    cursor.expect(":")
    context.types_of(tuple(operands))
    cursor.expect("->")
    return Draft(operands=tuple(operands), results=(context.type(),), attributes=attributes)


def _clampf(context: Context) -> Draft:
    """`%x, %min, %max, propagateNan = all : T`."""
    cursor = context.cursor
    operands = context.operands(3)
    cursor.expect(",")
    cursor.expect("propagateNan")
    cursor.expect("=")
    rule = keyword(context, NAN_RULES, "none or all")
    attributes = read_attributes(context)
    cursor.expect(":")
    type_ = context.type_of(*operands)
    return Draft(operands=operands, results=(type_,), attributes={**attributes, "propagateNan": rule})


def _reshape(context: Context) -> Draft:
    """`%a allow_reorder efficient_layout : T -> U`."""
    cursor = context.cursor
    operand = context.operand()
    attributes: dict[str, Attribute] = {name: cursor.accept(name) for name in ("allow_reorder", "efficient_layout")}
    attributes.update(read_attributes(context))
    cursor.expect(":")
    context.type_of(operand)
    cursor.expect("->")
    return Draft(operands=(operand,), results=(context.type(),), attributes=attributes)


def _split(context: Context) -> Draft:
    """`%a : T -> U`, with two results of U."""
    draft = _CONVERSION(context)
    return Draft(operands=draft.operands, results=draft.results * 2, attributes=draft.attributes)


def _gather(context: Context) -> Draft:
    """`%a[%indices] {axis = 0 : i32} : (T, U) -> V`."""
    cursor = context.cursor
    source = context.operand()
    cursor.expect("[")
    indices = context.operand()
    cursor.expect("]")
    attributes = read_attributes(context)
    cursor.expect(":")
    operands = (source, indices)
    return Draft(operands=operands, results=context.function_type(operands), attributes=attributes)


def _histogram(context: Context) -> Draft:
    """`%a, %mask : T -> U`; the mask's type is not written."""
    cursor = context.cursor
    operands = [context.operand()]
    if cursor.accept(","):
        operands.append(context.operand())
    attributes = read_attributes(context)
    cursor.expect(":")
    context.type_of(operands[0])
    if cursor.accept(","):
        context.type_of(*operands[1:])
    cursor.expect("->")
    return Draft(operands=tuple(operands), results=(context.type(),), attributes=attributes)


def _dot(context: Context) -> Draft:
    """`%a, %b, %c, inputPrecision = tf32 {...} : T * U -> V`."""
    cursor = context.cursor
    first, second, third = context.operands(3)
    attributes: dict[str, Attribute] = {"inputPrecision": "ieee"}
    if cursor.accept(","):
        cursor.expect("inputPrecision")
        cursor.expect("=")
        attributes["inputPrecision"] = keyword(context, PRECISIONS, "a precision")
    attributes = {"maxNumImpreciseAcc": 0, **read_attributes(context), **attributes}
    cursor.expect(":")
    context.type_of(first)
    cursor.expect("*")
    context.type_of(second)
    cursor.expect("->")
    return Draft(operands=(first, second, third), results=(context.type_of(third),), attributes=attributes)


def _dot_scaled(context: Context) -> Draft:
    """`%a scale %s, %b scale %t, %c lhs = e4m3 rhs = e5m2 {...} : T, S * U, R -> V`."""
    cursor = context.cursor
    first = (context.operand(), *_scale(context))
    cursor.expect(",")
    second = (context.operand(), *_scale(context))
    cursor.expect(",")
    third = context.operand()
    attributes: dict[str, Attribute] = {}
    for side, name in (("lhs", "a_elem_type"), ("rhs", "b_elem_type")):
        cursor.expect(side)
        cursor.expect("=")
        attributes[name] = keyword(context, _SCALE_ELEMENTS, "an element kind")
    attributes.update(read_attributes(context))
    cursor.expect(":")
    context.types_of(first)
    cursor.expect("*")
    context.types_of(second)
    cursor.expect("->")
    type_ = context.type_of(third)
    attributes["segments"] = (1, 1, 1, len(first) - 1, len(second) - 1)
    operands = (first[0], second[0], third, *first[1:], *second[1:])
    return Draft(operands=operands, results=(type_,), attributes=attributes)


def _scale(context: Context) -> tuple[Value, ...]:
    return (context.operand(),) if context.cursor.accept("scale") else ()


_CONVERSION = conversion()

FORMS: dict[str, Form] = {
    "tt.make_range": _make_range,
    **dict.fromkeys(
        (
            *("tt.splat", "tt.unsplat", "tt.broadcast", "tt.expand_dims", "tt.trans", "tt.bitcast"),
            *("tt.int_to_ptr", "tt.ptr_to_int"),
        ),
        _CONVERSION,
    ),
    **dict.fromkeys(("tt.cat", "tt.join"), conversion(2)),
    "tt.split": _split,
    "tt.reshape": _reshape,
    "tt.gather": _gather,
    "tt.histogram": _histogram,
    "tt.fp_to_fp": _fp_to_fp,
    "tt.clampf": _clampf,
    "tt.precise_sqrt": same_type(1),
    "tt.precise_divf": same_type(2),
    "tt.approx_divf": same_type(2),
    "tt.mulhiui": same_type(2),
    "tt.dot": _dot,
    "tt.dot_scaled": _dot_scaled,
    "tt.reduce.return": read_terminator,
    "tt.scan.return": read_terminator,
    "tt.map_elementwise.return": read_terminator,
}
