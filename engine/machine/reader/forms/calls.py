"""Programs, calls, and external effects: prints, assertions, external functions, assembly."""

from __future__ import annotations

from engine.machine.ir import Attribute, Value
from engine.machine.reader.attributes import read_attributes
from engine.machine.reader.context import Context, Draft
from engine.machine.reader.forms.kit import Form, keyword
from engine.machine.reader.forms.loops import read_terminator, read_typed_list

AXES = ("x", "y", "z")
BARRIERS = frozenset({"none", "local", "global_read", "global_write", "tensor_read", "tensor_write", "all", "|"})


def _program(context: Context) -> Draft:
    """`x : i32`; older text has `{axis = 0 : i32} : i32`."""
    cursor = context.cursor
    attributes: dict[str, Attribute] = {}
    if cursor.next != "{":
        attributes["axis"] = AXES.index(keyword(context, AXES, "x, y or z"))
    attributes = {**read_attributes(context), **attributes}
    cursor.expect(":")
    return Draft(results=(context.type(),), attributes=attributes)


def _call(context: Context) -> Draft:
    """`@callee(%a) : (T) -> U`."""
    cursor = context.cursor
    callee = cursor.symbol()
    cursor.expect("(")
    operands = context.operands_until(")")
    attributes = read_attributes(context)
    cursor.expect(":")
    results = context.function_type(operands)
    return Draft(operands=operands, results=results, attributes={**attributes, "callee": callee})


def _print(context: Context) -> Draft:
    """`" a: " {hex = false, isSigned = array<i32: 1>} : %a : T`."""
    cursor = context.cursor
    prefix = cursor.string()
    attributes = read_attributes(context)
    operands = read_typed_list(context) if cursor.accept(":") else ()
    return Draft(operands=operands, attributes={**attributes, "prefix": prefix})


def _assert(context: Context) -> Draft:
    """`%c, "message" : T`."""
    cursor = context.cursor
    condition = context.operand()
    cursor.expect(",")
    message = cursor.string()
    attributes = read_attributes(context)
    cursor.expect(":")
    context.type_of(condition)
    return Draft(operands=(condition,), attributes={**attributes, "message": message})


def _extern(context: Context) -> Draft:
    """`%a, %b {libname = ...} : (T, T) -> U`."""
    operands = () if context.cursor.next == "{" else _operands(context)
    attributes = read_attributes(context)
    context.cursor.expect(":")
    return Draft(operands=operands, results=context.function_type(operands), attributes=attributes)


def _operands(context: Context) -> tuple[Value, ...]:
    found = [context.operand()]
    while context.cursor.accept(","):
        found.append(context.operand())
    return tuple(found)


def _assembly(context: Context) -> Draft:
    """`"asm" {constraints = ...} %a, %b : T, U -> V`."""
    cursor = context.cursor
    text = cursor.string()
    attributes = read_attributes(context)
    operands = read_typed_list(context)
    cursor.expect("->")
    results = [context.type()]
    while cursor.accept(","):
        results.append(context.type())
    return Draft(operands=operands, results=tuple(results), attributes={**attributes, "asm_string": text})


def _assume(context: Context) -> Draft:
    """`%c : i1`."""
    condition = context.operand()
    attributes = read_attributes(context)
    context.cursor.expect(":")
    context.type_of(condition)
    return Draft(operands=(condition,), attributes=attributes)


def _nothing(context: Context) -> Draft:
    return Draft(attributes=read_attributes(context))


def _barrier(context: Context) -> Draft:
    """`all` or another set of address spaces, joined by `|`, or nothing."""
    while context.cursor.next in BARRIERS:
        context.cursor.take()
    return Draft(attributes=read_attributes(context))


FORMS: dict[str, Form] = {
    "tt.get_program_id": _program,
    "tt.get_num_programs": _program,
    "tt.call": _call,
    "tt.return": read_terminator,
    "tt.print": _print,
    "tt.assert": _assert,
    "tt.extern_elementwise": _extern,
    "tt.elementwise_inline_asm": _assembly,
    "llvm.intr.assume": _assume,
    "gpu.barrier": _nothing,
    "ttg.barrier": _barrier,
    "tt.grid_dependency_wait": _nothing,
    "tt.grid_dependency_launch_dependents": _nothing,
}
