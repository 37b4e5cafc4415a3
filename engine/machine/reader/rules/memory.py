"""Rules of pointers, loads, stores, atomics, block pointers and descriptors."""

from __future__ import annotations

from math import prod

from engine.machine.ir import Descriptor, Operation, Pointer, Scalar, Tensor, Type, Value
from engine.machine.reader.rules.kit import (
    Rule,
    RuleError,
    counted,
    element_of,
    expect_type,
    integer,
    is_integer,
    is_pointer,
    require,
    same_shape,
    shape_of,
)


def pointee(pointer: Type) -> Type | None:
    """The type in memory at a pointer, a tensor of pointers or a block pointer; None for other types."""
    match pointer:
        case Pointer():
            return pointer.pointee
        case Tensor(element=Pointer(pointee=Scalar() as element)):
            return Tensor(shape=pointer.shape, element=element)
        case _:
            return None


def _target(pointer: Value) -> Type:
    found = pointee(pointer.type)
    if found is None:
        raise RuleError("expected a pointer")
    return found


def _mask(mask: Value, target: Type) -> None:
    require(element_of(mask.type) is Scalar.I1 and shape_of(mask.type) == shape_of(target), "the mask does not fit")


def _add_pointer(operation: Operation) -> None:
    counted(operation, 2)
    same_shape(operation)
    base, offset = operation.operands
    require(is_pointer(base.type) and is_integer(offset.type), "expected a pointer and an integer")
    expect_type(operation.results[0].type, base.type, "a result")


def _load(operation: Operation) -> None:
    require(1 <= len(operation.operands) <= 3 and len(operation.results) == 1, "expected 1 to 3 operands and 1 result")
    target = _target(operation.operands[0])
    expect_type(operation.results[0].type, target, "a result")
    if len(operation.operands) > 1:
        _mask(operation.operands[1], target)
    if len(operation.operands) > 2:
        expect_type(operation.operands[2].type, target, "the other value")
    _boundary(operation, target)


def _store(operation: Operation) -> None:
    require(len(operation.operands) in (2, 3) and not operation.results, "expected 2 or 3 operands and no result")
    target = _target(operation.operands[0])
    expect_type(operation.operands[1].type, target, "a value")
    if len(operation.operands) > 2:
        _mask(operation.operands[2], target)
    _boundary(operation, target)


def _boundary(operation: Operation, target: Type) -> None:
    dimensions = operation.attributes.get("boundaryCheck", ())
    fits = isinstance(dimensions, tuple) and all(
        isinstance(place, int) and 0 <= place < len(shape_of(target)) for place in dimensions
    )
    require(fits, "expected dimensions of the block to check")


def _atomic(least: int, most: int, results: int) -> Rule:
    """A pointer, values of what it points to, and a mask if there are `most` operands."""

    def check(operation: Operation) -> None:
        count = len(operation.operands)
        require(
            least <= count <= most and len(operation.results) == results, "unexpected number of operands or results"
        )
        require(is_pointer(operation.operands[0].type), "expected a pointer")
        target = _target(operation.operands[0])
        values = operation.operands[1:least]
        for value in (*values, *operation.results):
            expect_type(value.type, target, "a value")
        if count > least:
            _mask(operation.operands[least], target)

    return check


def _poll(operation: Operation) -> None:
    require(len(operation.operands) in (2, 3) and len(operation.results) == 1, "expected 2 or 3 operands and 1 result")
    expect_type(operation.operands[1].type, _target(operation.operands[0]), "a value")
    for timeout in operation.operands[2:]:
        expect_type(timeout.type, Scalar.I64, "a timeout")
    require(element_of(operation.results[0].type) is Scalar.I1, "expected a result of i1")


def _make_block_pointer(operation: Operation) -> None:
    block = _block_of(operation.results[0].type) if len(operation.results) == 1 else None
    if block is None:
        raise RuleError("expected a block pointer as result")
    require(len(operation.operands) == 1 + 3 * len(block.shape), "expected shapes, strides and offsets per dimension")
    expect_type(_target(operation.operands[0]), block.element, "a base to memory")
    _integers(operation.operands[1:])


def _block_of(type_: Type) -> Tensor | None:
    return type_.pointee if isinstance(type_, Pointer) and isinstance(type_.pointee, Tensor) else None


def _integers(values: tuple[Value, ...]) -> None:
    for value in values:
        require(isinstance(value.type, Scalar) and not value.type.is_float, "expected an integer")


def _advance(operation: Operation) -> None:
    block = _block_of(operation.operands[0].type) if operation.operands else None
    if block is None:
        raise RuleError("expected a block pointer")
    counted(operation, 1 + len(block.shape))
    expect_type(operation.results[0].type, operation.operands[0].type, "a result")
    _integers(operation.operands[1:])


def _descriptor(value: Value) -> Tensor:
    if not isinstance(value.type, Descriptor):
        raise RuleError("expected a descriptor")
    return value.type.block


def _make_descriptor(operation: Operation) -> None:
    require(len(operation.results) == 1, "expected 1 result")
    block = _descriptor(operation.results[0])
    rank = integer(operation, "rank")
    require(rank == len(block.shape), "the block has another rank")
    require(len(operation.operands) == 1 + 2 * rank, "expected shapes and strides per dimension")
    expect_type(_target(operation.operands[0]), block.element, "a base to memory")
    _integers(operation.operands[1:])


def _descriptor_load(operation: Operation) -> None:
    require(len(operation.results) == 1, "expected 1 result")
    block = _descriptor(operation.operands[0])
    counted(operation, 1 + len(block.shape))
    _block_value(operation.results[0], block)
    _integers(operation.operands[1:])


def _descriptor_store(operation: Operation) -> None:
    block = _descriptor(operation.operands[0])
    counted(operation, 2 + len(block.shape), 0)
    _block_value(operation.operands[-1], block)
    _integers(operation.operands[1:-1])


def _block_value(value: Value, block: Tensor) -> None:
    """A block, whose dimensions of size 1 may be left out."""
    fits = element_of(value.type) == block.element and prod(shape_of(value.type)) == prod(block.shape)
    require(fits and isinstance(value.type, Tensor), "expected a value of the type of the block")


def _descriptor_gather(operation: Operation) -> None:
    counted(operation, 3)
    _rows(operation, operation.results[0])


def _descriptor_scatter(operation: Operation) -> None:
    counted(operation, 4, 0)
    _rows(operation, operation.operands[3])


def _rows(operation: Operation, value: Value) -> None:
    block = _descriptor(operation.operands[0])
    rows, column = operation.operands[1:3]
    require(is_integer(rows.type) and len(shape_of(rows.type)) == 1, "expected a tensor of rows")
    _integers((column,))
    require(len(block.shape) == 2 and block.shape[0] == 1, "expected a descriptor of single rows")
    expected = Tensor(shape=(*shape_of(rows.type), block.shape[1]), element=block.element)
    expect_type(value.type, expected, "a value")


RULES: dict[str, Rule] = {
    "tt.addptr": _add_pointer,
    "tt.load": _load,
    "tt.store": _store,
    "tt.atomic_rmw": _atomic(2, 3, 1),
    "tt.atomic_cas": _atomic(3, 3, 1),
    "tt.atomic_load": _atomic(1, 2, 1),
    "tt.atomic_store": _atomic(2, 3, 0),
    "tt.atomic_poll": _poll,
    "tt.make_tensor_ptr": _make_block_pointer,
    "tt.advance": _advance,
    "tt.make_tensor_descriptor": _make_descriptor,
    "tt.descriptor_load": _descriptor_load,
    "tt.descriptor_store": _descriptor_store,
    "tt.descriptor_reduce": _descriptor_store,
    "tt.descriptor_gather": _descriptor_gather,
    "tt.descriptor_scatter": _descriptor_scatter,
}
