"""Loads and stores through pointers and block pointers."""

from __future__ import annotations

import numpy as np

from engine.machine.frame import Frame, Handler, Step, as_array
from engine.machine.ir import Scalar
from engine.machine.numerics import Array, constant
from engine.machine.operations.descriptors import NAN_PADDING, block_addresses, nan_pattern
from engine.machine.values import BlockPointer, Pointers, Val, elements_of, full, scalar_of, shape_of


def split_operands(step: Step, operands: list[Val]) -> tuple[Val, Array | None, Array | None]:
    """(pointer, mask, other) of a load; missing ones are None."""
    segments = step.operation.attributes.get("segments")
    rest = [as_array(operand) for operand in operands[1:]]
    has_mask = segments[1] != 0 if isinstance(segments, tuple) else len(rest) > 0
    mask = rest.pop(0) if has_mask and rest else None
    return operands[0], mask, (rest[0] if rest else None)


def _load(frame: Frame, step: Step, operands: list[Val]) -> Val:
    pointer, mask, other = split_operands(step, operands)
    if isinstance(pointer, BlockPointer):
        pointer, mask, other = _block(frame, step, pointer)
    assert isinstance(pointer, Pointers)
    return frame.services.memory.load(frame, step, pointer, mask, other)


def _store(frame: Frame, step: Step, operands: list[Val]) -> tuple[Val, ...]:
    pointer, values = operands[0], as_array(operands[1])
    mask = as_array(operands[2]) if len(operands) > 2 else None
    if isinstance(pointer, BlockPointer):
        pointer, mask, _ = _block(frame, step, pointer)
    assert isinstance(pointer, Pointers)
    kind = step.operation.operands[1].type
    if elements_of(kind) != values[0].size:
        values = full(values, shape_of(kind))
    if scalar_of(kind) is Scalar.I1:
        values = values.view(np.int8)
    frame.services.memory.store(frame, step, pointer, values, mask)
    return ()


def _block(frame: Frame, step: Step, pointer: BlockPointer) -> tuple[Pointers, Array | None, Array | None]:
    """Addresses, mask and padding of a block pointer; only dimensions in `boundaryCheck` are checked."""
    checked = step.operation.attributes.get("boundaryCheck", ())
    assert isinstance(checked, tuple)
    kind = step.operation.results[0].type if step.operation.results else step.operation.operands[1].type
    dimensions = frozenset(axis for axis in checked if isinstance(axis, int))
    pointers, mask = block_addresses(pointer, pointer.offsets, shape_of(kind), dimensions)
    scalar = scalar_of(kind)
    is_nan = step.operation.attributes.get("padding") == NAN_PADDING and scalar.is_float
    padding = constant(scalar, (nan_pattern(scalar) if is_nan else 0,))
    return pointers, mask, padding.reshape((1,) * (1 + len(shape_of(kind))))


OPERATIONS: dict[str, Handler] = {"tt.load": _load, "tt.store": _store}
