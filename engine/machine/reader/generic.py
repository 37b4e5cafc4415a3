"""The generic form, `"name"(%a, %b) <{properties}> ({regions}) {attributes} : (T, T) -> T`."""

from __future__ import annotations

from collections.abc import Mapping

from engine.machine.ir import Region
from engine.machine.reader.attributes import read_attributes, read_properties
from engine.machine.reader.context import Context, Draft

# Printed in the generic form only; any other operation in it is refused by name.
_TERMINATORS: Mapping[str, str] = {
    "tt.reduce": "",
    "tt.scan": "",
    "tt.map_elementwise": "",
}


def read_generic(context: Context) -> tuple[str, Draft]:
    """Read an operation in its generic form; returns its name too."""
    cursor = context.cursor
    if cursor.next.strip('"') not in _TERMINATORS:
        context.refuse_operation()
    name = cursor.string()
    cursor.expect("(")
    operands = context.operands_until(")")
    attributes = read_properties(context)
    regions = _regions(context)
    attributes.update(read_attributes(context))
    cursor.expect(":")
    results = context.function_type(operands)
    return name, Draft(operands=operands, results=results, attributes=attributes, regions=regions)


def _regions(context: Context) -> tuple[Region, ...]:
    cursor = context.cursor
    if not cursor.accept("("):
        return ()
    found: list[Region] = []
    while not cursor.accept(")"):
        if found:
            cursor.expect(",")
        found.append(context.read_region(context, (), ""))
    return tuple(found)
