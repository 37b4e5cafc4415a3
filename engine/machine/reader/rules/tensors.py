"""Rules of operations that change shapes, and of products."""

from __future__ import annotations

from math import prod

from engine.machine.ir import Operation, Scalar, Tensor
from engine.machine.reader.rules.kit import (
    Rule,
    RuleError,
    counted,
    element_of,
    expect_type,
    integer,
    is_integer,
    require,
    shape_of,
)


def _tensors(operation: Operation, operands: int, results: int = 1) -> tuple[Tensor, ...]:
    """The types of operands and results, which must be tensors."""
    counted(operation, operands, results)
    found = tuple(value.type for value in (*operation.operands, *operation.results) if isinstance(value.type, Tensor))
    require(len(found) == operands + results, "expected tensors")
    return found


def _same_element(*types: Tensor) -> None:
    require(all(type_.element == types[0].element for type_ in types), "expected tensors of one element type")


def _make_range(operation: Operation) -> None:
    (result,) = _tensors(operation, 0)
    length = integer(operation, "end") - integer(operation, "start")
    require(result.element is Scalar.I32 and result.shape == (length,), f"expected a result of {length} x i32")


def _splat(operation: Operation) -> None:
    counted(operation, 1)
    result = operation.results[0].type
    require(isinstance(result, Tensor), "expected a tensor as result")
    require(not shape_of(operation.operands[0].type), "expected a scalar")
    expect_type(operation.operands[0].type, element_of(result), "an operand")


def _unsplat(operation: Operation) -> None:
    counted(operation, 1)
    source = operation.operands[0].type
    require(isinstance(source, Tensor) and prod(source.shape) == 1, "expected a tensor of one element")
    expect_type(operation.results[0].type, element_of(source), "a result")


def _broadcast(operation: Operation) -> None:
    source, result = _tensors(operation, 1)
    _same_element(source, result)
    fits = len(source.shape) == len(result.shape) and all(
        size in (1, wanted) for size, wanted in zip(source.shape, result.shape, strict=True)
    )
    require(fits, f"the shape {source.shape} does not broadcast to {result.shape}")


def _expand_dims(operation: Operation) -> None:
    source, result = _tensors(operation, 1)
    _same_element(source, result)
    axis = integer(operation, "axis")
    require(0 <= axis <= len(source.shape), f"axis {axis} is out of range")
    require(result.shape == (*source.shape[:axis], 1, *source.shape[axis:]), "the shape of the result does not fit")


def _reshape(operation: Operation) -> None:
    source, result = _tensors(operation, 1)
    _same_element(source, result)
    require(prod(source.shape) == prod(result.shape), "expected as many elements as before")


def _trans(operation: Operation) -> None:
    source, result = _tensors(operation, 1)
    _same_element(source, result)
    order = operation.attributes.get("order")
    if not isinstance(order, tuple) or sorted(map(str, order)) != sorted(map(str, range(len(source.shape)))):
        raise RuleError("expected an order of all dimensions")
    permuted = tuple(source.shape[place] for place in order if isinstance(place, int))
    require(permuted == result.shape, "the shape of the result does not fit")


def _cat(operation: Operation) -> None:
    first, second, result = _tensors(operation, 2)
    _same_element(first, second, result)
    require(first.shape == second.shape, "expected operands of one shape")
    require(prod(result.shape) == 2 * prod(first.shape), "the shape of the result does not fit")


def _join(operation: Operation) -> None:
    first, second, result = _tensors(operation, 2)
    _same_element(first, second, result)
    require(first.shape == second.shape and result.shape == (*first.shape, 2), "the shapes do not fit")


def _split(operation: Operation) -> None:
    source, first, second = _tensors(operation, 1, 2)
    _same_element(source, first, second)
    require(first.shape == second.shape and source.shape == (*first.shape, 2), "the shapes do not fit")


def _gather(operation: Operation) -> None:
    source, indices, result = _tensors(operation, 2)
    _same_element(source, result)
    axis = integer(operation, "axis")
    require(is_integer(indices), "expected indices that are integers")
    require(len(source.shape) == len(indices.shape) and 0 <= axis < len(source.shape), "the shapes do not fit")
    require(result.shape == indices.shape, "the shape of the result does not fit")
    for place, (size, wanted) in enumerate(zip(source.shape, indices.shape, strict=True)):
        require(place == axis or wanted <= size, "the indices are larger than the source")


def _histogram(operation: Operation) -> None:
    require(len(operation.operands) in (1, 2), "expected 1 or 2 operands")
    types = _tensors(operation, len(operation.operands))
    require(is_integer(types[0]) and is_integer(types[-1]), "expected integers")
    require(len(types[0].shape) == len(types[-1].shape) == 1, "expected tensors of one dimension")
    if len(types) == 3:
        require(types[1] == Tensor(shape=types[0].shape, element=Scalar.I1), "expected a mask of the source's shape")


def _dot(operation: Operation) -> None:
    first, second, third, result = _tensors(operation, 3)
    expect_type(result, third, "a result")
    rank = len(first.shape)
    require(rank in (2, 3) and len(second.shape) == rank == len(third.shape), "expected matrices")
    *batch, rows, inner = first.shape
    fits = second.shape == (*batch, inner, third.shape[-1]) and third.shape[:-1] == (*batch, rows)
    require(fits, f"the shapes {first.shape}, {second.shape} and {third.shape} do not fit")


def _dot_scaled(operation: Operation) -> None:
    require(3 <= len(operation.operands) <= 5, "expected 3 to 5 operands")
    types = _tensors(operation, len(operation.operands))
    expect_type(types[-1], types[2], "a result")
    require(all(len(type_.shape) in (2, 3) for type_ in types), "expected matrices")


RULES: dict[str, Rule] = {
    "tt.make_range": _make_range,
    "tt.splat": _splat,
    "tt.unsplat": _unsplat,
    "tt.broadcast": _broadcast,
    "tt.expand_dims": _expand_dims,
    "tt.reshape": _reshape,
    "tt.trans": _trans,
    "tt.cat": _cat,
    "tt.join": _join,
    "tt.split": _split,
    "tt.gather": _gather,
    "tt.histogram": _histogram,
    "tt.dot": _dot,
    "tt.dot_scaled": _dot_scaled,
}
