"""Kernels that compute addresses in 32 bits, found in their TTIR.

Such a kernel is right for tensors of up to 2^31 - 1 elements and computes wrong addresses beyond, which no case is
large enough to show.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.errors import UnsupportedError
from engine.machine.errors import MachineError
from engine.machine.ir import Constant, Function, Operation, Region, Scalar, SourceLocation, Tensor, Value
from engine.machine.reader import read_module

_STATIC = frozenset({"arith.constant", "tt.make_range"})
_QUOTIENTS = frozenset({"arith.divsi", "arith.divui"})
_NARROW = (Scalar.I32, Scalar.I16, Scalar.I8)


def line_of_narrow_offset(ttir: str, filename: str) -> int | None:
    """The first line of `filename` with a product of at most 32 bits in an address; None without one.

    A product of constants and ranges alone cannot overflow and does not count.  Nor does one of lanes that are numbered
    by ranges and arguments, with an argument such as a stride: a range has at most 2^20 elements, and what grows with
    the tensor is a program's number or a loop's.  Nor does a quotient times no more than it was divided by, as where
    tiles are counted and numbered in groups.  None too where the TTIR cannot be read.
    """
    try:
        functions = read_module(ttir).functions.values()
    except (MachineError, UnsupportedError):
        return None
    lines = [line for function in functions for line in _lines(function, filename)]
    return min(lines, default=None)


def _lines(function: Function, filename: str) -> Iterator[int]:
    operations = tuple(function.body.all_operations())
    maker_by_value = {result.index: operation for operation in operations for result in operation.results}
    static = _made_of(operations, frozenset())
    arguments = frozenset(value.index for value in function.arguments) if function.is_public else frozenset()
    given = _made_of(operations, arguments)
    pending = [operation.operands[1] for operation in operations if operation.name == "tt.addptr"]
    seen: set[int] = set()
    while pending:
        value = pending.pop()
        maker = maker_by_value.get(value.index)
        if maker is None or value.index in seen:
            continue
        seen.add(value.index)
        pending += maker.operands
        pending += (operand for region in maker.regions for end in _ends(region) for operand in end.operands)
        is_bounded = value.index in static or (value.index in given and isinstance(value.type, Tensor))
        is_bounded = is_bounded or _undoes_division(maker, maker_by_value)
        if maker.name == "arith.muli" and _is_narrow(value) and not is_bounded:
            line = _line_in(filename, maker.location)
            if line is not None:
                yield line


def _undoes_division(product: Operation, maker_by_value: Mapping[int, Operation]) -> bool:
    """Whether this is a quotient times a constant of at most its divisor, and so at most the dividend."""
    factors = [maker_by_value.get(operand.index) for operand in product.operands]
    divisor = next((factor.operands[1] for factor in factors if factor and factor.name in _QUOTIENTS), None)
    made = maker_by_value.get(divisor.index) if divisor is not None else None
    if made is None:
        return False
    parts = [maker_by_value.get(operand.index) for operand in made.operands] if made.name == "arith.muli" else [made]
    times = max(map(_constant, factors))
    return 0 < times <= max(map(_constant, parts))  # the other part of a divisor is at least 1


def _constant(maker: Operation | None) -> int:
    """The value of a constant of one element; 0 for anything else."""
    value = maker.attributes.get("value") if maker is not None and maker.name == "arith.constant" else None
    return value.bits[0] if isinstance(value, Constant) and len(value.bits) == 1 else 0


def _ends(region: Region) -> Iterator[Operation]:
    return (block.operations[-1] for block in region.blocks if block.operations)


def _made_of(operations: tuple[Operation, ...], arguments: frozenset[int]) -> frozenset[int]:
    """The values that are computed from constants, ranges and these arguments alone."""
    known = set(arguments)
    for operation in operations:
        made_of_known = bool(operation.operands) and all(operand.index in known for operand in operation.operands)
        if operation.name in _STATIC or (made_of_known and not operation.regions):
            known.update(result.index for result in operation.results)
    return frozenset(known)


def _is_narrow(value: Value) -> bool:
    element = value.type.element if isinstance(value.type, Tensor) else value.type
    return element in _NARROW


def _line_in(filename: str, location: SourceLocation | None) -> int | None:
    """The line of this file of an operation, or that of the call if a helper of another file made it."""
    if location is None:
        return None
    places = (location, *location.callers)
    return next((place.line for place in places if place.file == filename), None)
