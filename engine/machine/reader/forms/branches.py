"""`cf`: branches between blocks."""

from __future__ import annotations

from engine.machine.reader.attributes import read_attributes
from engine.machine.reader.context import Context, Draft, Jump
from engine.machine.reader.forms.kit import Form


def read_jump(context: Context) -> Jump:
    """Read `^bb1(%a, %b : T, U)`."""
    cursor = context.cursor
    label = cursor.take()
    if not label.startswith("^"):
        cursor.fail("expected a block, ^name", back=int(label != ""))
    if not cursor.accept("("):
        return Jump(label=label)
    operands = context.operands_until(":")
    context.types_of(operands)
    cursor.expect(")")
    return Jump(label=label, operands=operands)


def _branch(context: Context) -> Draft:
    jump = read_jump(context)
    return Draft(attributes=read_attributes(context), jumps=(jump,))


def _conditional_branch(context: Context) -> Draft:
    """`%c weights([1, 2]), ^bb1, ^bb2`."""
    cursor = context.cursor
    condition = context.operand()
    if cursor.accept("weights"):
        cursor.between("(", ")")
    cursor.expect(",")
    taken = read_jump(context)
    cursor.expect(",")
    otherwise = read_jump(context)
    return Draft(operands=(condition,), attributes=read_attributes(context), jumps=(taken, otherwise))


FORMS: dict[str, Form] = {"cf.br": _branch, "cf.cond_br": _conditional_branch}
