"""`scf`: structured loops and branches."""

from __future__ import annotations

from engine.machine.ir import Attribute, Region, Scalar, Type, Value
from engine.machine.reader.attributes import read_attributes
from engine.machine.reader.context import Context, Draft
from engine.machine.reader.forms.kit import Form

_YIELD = "scf.yield"


def _for(context: Context) -> Draft:
    """`%i = %lo to %hi step %s iter_args(%a = %init) -> (T) : i32 {...} {attributes}`."""
    cursor = context.cursor
    attributes: dict[str, Attribute] = {"unsignedCmp": True} if cursor.accept("unsigned") else {}
    name = cursor.take()
    cursor.expect("=")
    low = context.operand()
    cursor.expect("to")
    high = context.operand()
    cursor.expect("step")
    step = context.operand()
    carried: list[tuple[str, Value]] = []
    types: tuple[Type, ...] = ()
    if cursor.accept("iter_args"):
        carried = _bindings(context)
        cursor.expect("->")
        types = _types_of_initial(context, carried)
    type_ = context.type_of(low, high, step) if cursor.accept(":") else Scalar.INDEX
    if low.type != type_ or high.type != type_ or step.type != type_:
        cursor.fail("expected : and the type of the bounds")
    context.scope.open()
    arguments = [context.define(name, type_, None)]
    arguments += [context.define(inner, initial.type, None) for inner, initial in carried]
    region = context.read_region(context, tuple(arguments), _YIELD)
    context.scope.close()
    attributes.update(read_attributes(context))
    operands = (low, high, step, *(initial for _, initial in carried))
    return Draft(operands=operands, results=types, attributes=attributes, regions=(region,))


def _bindings(context: Context) -> list[tuple[str, Value]]:
    """Read `(%inner = %outer, ...)`; the inner names are not defined yet."""
    cursor = context.cursor
    cursor.expect("(")
    found: list[tuple[str, Value]] = []
    while not cursor.accept(")"):
        if found:
            cursor.expect(",")
        name = cursor.take()
        cursor.expect("=")
        found.append((name, context.operand()))
    return found


def _types_of_initial(context: Context, carried: list[tuple[str, Value]]) -> tuple[Type, ...]:
    types = context.type_list()
    if types != tuple(initial.type for _, initial in carried):
        context.cursor.fail("the types of iter_args are not those of their values", back=1)
    return types


def _if(context: Context) -> Draft:
    """`%c -> (T) {...} else {...}`."""
    cursor = context.cursor
    condition = context.operand()
    types = context.type_list() if cursor.accept("->") else ()
    regions = [context.read_region(context, (), _YIELD)]
    if cursor.accept("else"):
        regions.append(context.read_region(context, (), _YIELD))
    return Draft(operands=(condition,), results=types, attributes=read_attributes(context), regions=tuple(regions))


def _while(context: Context) -> Draft:
    """`(%a = %init) : (T) -> (U) {...} do {...}`."""
    cursor = context.cursor
    carried = _bindings(context) if cursor.next == "(" else []
    cursor.expect(":")
    operands = tuple(initial for _, initial in carried)
    types = context.function_type(operands)
    context.scope.open()
    arguments = tuple(context.define(name, initial.type, None) for name, initial in carried)
    before = context.read_region(context, arguments, "")
    context.scope.close()
    cursor.expect("do")
    after: Region = context.read_region(context, (), _YIELD)
    attributes = read_attributes(context) if cursor.accept("attributes") else {}
    return Draft(operands=operands, results=types, attributes=attributes, regions=(before, after))


def _condition(context: Context) -> Draft:
    """`(%c) %a, %b : T, U`."""
    cursor = context.cursor
    cursor.expect("(")
    condition = context.operand()
    cursor.expect(")")
    attributes = read_attributes(context)
    return Draft(operands=(condition, *read_typed_list(context)), attributes=attributes)


def read_typed_list(context: Context) -> tuple[Value, ...]:
    """Read `%a, %b : T, U`, or nothing."""
    if not context.cursor.next.startswith("%"):
        return ()
    values = context.operands_until(":")
    context.types_of(values)
    return values


def read_terminator(context: Context) -> Draft:
    """`{attributes} %a, %b : T, U`."""
    attributes = read_attributes(context)
    return Draft(operands=read_typed_list(context), attributes=attributes)


FORMS: dict[str, Form] = {
    "scf.for": _for,
    "scf.if": _if,
    "scf.while": _while,
    "scf.condition": _condition,
    _YIELD: read_terminator,
}
