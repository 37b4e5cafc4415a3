"""Kernels that compute addresses in 32 bits, found in their TTIR.

Such a kernel is right for tensors of up to 2^31 - 1 elements and computes wrong addresses beyond, which no case is
large enough to show.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.errors import UnsupportedError
from engine.machine.errors import MachineError
from engine.machine.ir import Constant, Function, Operation, Pointer, Region, Scalar, SourceLocation, Tensor, Value
from engine.machine.reader import read_module

_STATIC = frozenset({"arith.constant", "tt.make_range"})
_QUOTIENTS = frozenset({"arith.divsi", "arith.divui"})
_REMAINDERS = frozenset({"arith.remsi", "arith.remui"})
_NARROW = (Scalar.I32, Scalar.I16, Scalar.I8)
_WIDENINGS = frozenset({"arith.extsi", "arith.extui"})
_SHAPES = frozenset({"tt.splat", "tt.broadcast", "tt.expand_dims", "tt.reshape", "tt.trans"})
_SUMS = _SHAPES | {"arith.addi", "arith.subi", "tt.addptr"}


def line_of_narrow_offset(ttir: str, filename: str) -> int | None:
    """The first line of `filename` with a product of at most 32 bits in an address; None without one.

    A product of constants and ranges alone cannot overflow and does not count.  Nor does one of lanes that are numbered
    by ranges and arguments, with an argument such as a stride: a range has at most 2^20 elements, and what grows with
    the tensor is a program's number or a loop's.  Nor does a quotient times no more than it was divided by, as where
    tiles are counted and numbered in groups.  Nor does the number of a tile times its size, where that is a place in
    one dimension of several: it is widened, and multiplied by a stride, divided for a remainder, or added to such a
    product or to another place.  None too where the TTIR cannot be read.
    """
    try:
        functions = read_module(ttir).functions.values()
    except (MachineError, UnsupportedError):
        return None
    lines = [line for function in functions for line in _Offsets(function, filename).lines()]
    return min(lines, default=None)


class _Offsets:
    """The values of one function that addresses are computed from."""

    def __init__(self, function: Function, filename: str) -> None:
        self._filename = filename
        self._operations = tuple(function.body.all_operations())
        self._maker_by_value = {result.index: one for one in self._operations for result in one.results}
        self._static = _made_of(self._operations, frozenset())
        arguments = frozenset(value.index for value in function.arguments) if function.is_public else frozenset()
        self._given = _made_of(self._operations, arguments)
        ranges = (one.attributes["end"] for one in self._operations if one.name == "tt.make_range")
        self._tile = max((end for end in ranges if isinstance(end, int)), default=0)

    def lines(self) -> Iterator[int]:
        """Lines of products that may overflow, some more than once."""
        pending = list(self._addresses())
        seen: set[tuple[int, bool]] = set()
        while pending:
            value, is_place = pending.pop()
            maker = self._maker_by_value.get(value.index)
            if maker is None or (value.index, is_place) in seen:
                continue
            seen.add((value.index, is_place))
            inner = [*maker.operands]
            inner += (operand for region in maker.regions for end in _ends(region) for operand in end.operands)
            is_remainder = maker.name in _REMAINDERS and not _is_narrow(value)
            is_below = is_place or self._is_wide_product(value) or is_remainder
            # What is divided is a place among all elements, not in one dimension.
            pending += [(operand, is_below and maker.name not in _QUOTIENTS) for operand in inner]
            if maker.name == "arith.muli" and _is_narrow(value) and not self._is_bounded(value, maker, is_place):
                line = _line_in(self._filename, maker.location)
                if line is not None:
                    yield line

    def _addresses(self) -> Iterator[tuple[Value, bool]]:
        """Pointers that no other pointer is computed from, each with whether it adds places in several dimensions.

        It does if a term of its sum is a product of 64 bits, or if two are widened: strides of 1 are compiled away.
        """
        dimensions: dict[int, int] = {}
        inner, used = set[int](), set[int]()
        for operation in self._operations:
            operands = {operand.index for operand in operation.operands}
            is_sum = operation.name in _SUMS
            (inner if is_sum else used).update(operands)
            for result in operation.results:
                places = 2 * self._is_wide_product(result) + self._is_widened(result)
                below = sum(dimensions.get(index, 0) for index in operands) if is_sum and not _is_narrow(result) else 0
                dimensions[result.index] = min(2, places + below)
        for operation in self._operations:
            for value in operation.results if operation.name in _SUMS else ():
                if _is_pointer(value) and (value.index not in inner or value.index in used):
                    yield value, dimensions[value.index] > 1

    def _is_widened(self, value: Value) -> bool:
        maker = self._maker_by_value.get(value.index)
        return maker is not None and maker.name in _WIDENINGS and value.index not in self._static

    def _is_wide_product(self, value: Value) -> bool:
        maker = self._maker_by_value.get(value.index)
        is_product = maker is not None and maker.name == "arith.muli" and not _is_narrow(value)
        return is_product and value.index not in self._static

    def _is_bounded(self, product: Value, maker: Operation, is_place: bool) -> bool:
        """Whether a product cannot overflow for a tensor whose dimensions have less than 2^31 elements each."""
        if product.index in self._static or (product.index in self._given and isinstance(product.type, Tensor)):
            return True
        if _undoes_division(maker, self._maker_by_value):
            return True
        factors = [self._maker_by_value.get(operand.index) for operand in maker.operands]
        return is_place and 0 < max(map(_constant, factors)) <= self._tile


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


def _is_pointer(value: Value) -> bool:
    return isinstance(value.type.element if isinstance(value.type, Tensor) else value.type, Pointer)


def _is_narrow(value: Value) -> bool:
    element = value.type.element if isinstance(value.type, Tensor) else value.type
    return element in _NARROW


def _line_in(filename: str, location: SourceLocation | None) -> int | None:
    """The line of this file of an operation, or that of the call if a helper of another file made it."""
    if location is None:
        return None
    places = (location, *location.callers)
    return next((place.line for place in places if place.file == filename), None)
