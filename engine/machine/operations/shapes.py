"""Shapes and indices: program ids, ranges, splat, broadcast, reshape, transposition, join, split, cat, gather."""

from __future__ import annotations

import numpy as np

from engine.machine.frame import Frame, Handler, Step, as_array
from engine.machine.numerics import Array, dtype_of
from engine.machine.values import Val, arrays_of, full, rebuild, scalar_of, shape_of

_NO_ELEMENT = b"\x7e"


def _program_id(frame: Frame, step: Step, operands: list[Val]) -> Val:
    width, height, _ = frame.services.grid
    axis = step.operation.attributes["axis"]
    if axis == 0:
        return (frame.programs % width).astype(np.int32)
    if axis == 1:
        return (frame.programs // width % height).astype(np.int32)
    return (frame.programs // (width * height)).astype(np.int32)


def _num_programs(frame: Frame, step: Step, operands: list[Val]) -> Val:
    axis = step.operation.attributes["axis"]
    assert isinstance(axis, int)
    return np.array([frame.services.grid[axis]], np.int32)


def _make_range(frame: Frame, step: Step, operands: list[Val]) -> Val:
    start, end = step.operation.attributes["start"], step.operation.attributes["end"]
    assert isinstance(start, int) and isinstance(end, int)
    return np.arange(start, end, dtype=dtype_of(scalar_of(step.operation.results[0].type)))[None]


def _each(value: Val, shape: tuple[int, ...]) -> Val:
    """Reshape every array; the axis of programs stays."""
    return rebuild([value], [[part.reshape(part.shape[0], *shape) for part in arrays_of(value)]])


def _splat(frame: Frame, step: Step, operands: list[Val]) -> Val:
    return _each(operands[0], (1,) * len(shape_of(step.operation.results[0].type)))


def _broadcast(frame: Frame, step: Step, operands: list[Val]) -> Val:
    return operands[0]


def _expand_dims(frame: Frame, step: Step, operands: list[Val]) -> Val:
    axis = step.operation.attributes["axis"]
    assert isinstance(axis, int)
    columns = [np.expand_dims(part, axis + 1) for part in arrays_of(operands[0])]
    return rebuild(operands, [columns])


def _full_parts(value: Val, shape: tuple[int, ...]) -> list[Array]:
    return [full(part, shape) for part in arrays_of(value)]


def _reshape(frame: Frame, step: Step, operands: list[Val]) -> Val:
    """Reshape in row-major order, even if `allow_reorder` would let the compiler choose another.

    Triton's frontend has it for reductions of all axes, whose functions may choose the first of equal elements.
    """
    before, after = shape_of(step.operation.operands[0].type), shape_of(step.operation.results[0].type)
    if all(length == 1 for part in arrays_of(operands[0]) for length in part.shape[1:]):
        return _each(operands[0], (1,) * len(after))
    return rebuild(operands, [[part.reshape(part.shape[0], *after) for part in _full_parts(operands[0], before)]])


def _transpose(frame: Frame, step: Step, operands: list[Val]) -> Val:
    order = step.operation.attributes["order"]
    assert isinstance(order, tuple)
    axes = (0, *(int(axis) + 1 for axis in order if isinstance(axis, int)))
    return rebuild(operands, [[part.transpose(axes) for part in arrays_of(operands[0])]])


def _aligned(operands: list[Val]) -> list[list[Array]]:
    """The arrays of both operands, each pair with one length of the axis of programs."""
    pairs = zip(arrays_of(operands[0]), arrays_of(operands[1]), strict=True)
    return [[*np.broadcast_arrays(left, right)] for left, right in pairs]


def _join(frame: Frame, step: Step, operands: list[Val]) -> Val:
    return rebuild(operands, [[np.stack(pair, axis=-1) for pair in _aligned(operands)]])


def _split(frame: Frame, step: Step, operands: list[Val]) -> tuple[Val, ...]:
    parts = _full_parts(operands[0], shape_of(step.operation.operands[0].type))
    return tuple(rebuild(operands, [[part[..., half] for part in parts]]) for half in (0, 1))


def _concatenate(frame: Frame, step: Step, operands: list[Val]) -> Val:
    """The second operand, then the first, along the first axis.

    Triton may put the elements in any order: a kernel that relies on the order of the operands is wrong.
    """
    shapes = [shape_of(operand.type) for operand in step.operation.operands]
    left, right = (_full_parts(operand, shape) for operand, shape in zip(operands, shapes, strict=True))
    joined = []
    for a, b in zip(left, right, strict=True):
        programs = max(a.shape[0], b.shape[0])
        wide = [np.broadcast_to(part, (programs, *part.shape[1:])) for part in (b, a)]
        joined.append(np.concatenate(wide, axis=1))
    return rebuild(operands, [joined])


def _gather(frame: Frame, step: Step, operands: list[Val]) -> Val:
    axis = step.operation.attributes["axis"]
    assert isinstance(axis, int)
    source = full(as_array(operands[0]), shape_of(step.operation.operands[0].type))
    index = full(as_array(operands[1]), shape_of(step.operation.operands[1].type))
    programs = max(source.shape[0], index.shape[0])
    source, index = (np.broadcast_to(part, (programs, *part.shape[1:])) for part in (source, index))
    length = source.shape[axis + 1]
    found = np.take_along_axis(source, index.astype(np.int64) % length, axis=axis + 1)
    outside = (index < 0) | (index >= length)
    if not outside.any():
        return found
    # Undefined in the IR: an element of these bytes, which are not those of memory that was never written.
    other = b"\x01" if found.dtype == np.bool_ else _NO_ELEMENT * found.itemsize
    return np.where(outside, np.frombuffer(other, found.dtype)[0], found)


def _histogram(frame: Frame, step: Step, operands: list[Val]) -> Val:
    """Counts per bin; values outside of the bins are not counted."""
    (bins,) = shape_of(step.operation.results[0].type)
    source = full(as_array(operands[0]), shape_of(step.operation.operands[0].type))
    inside = (source >= 0) & (source < bins)
    if len(operands) > 1:
        inside = inside & as_array(operands[1])
    source, inside = np.broadcast_arrays(source, inside)
    rows = np.broadcast_to(np.arange(source.shape[0]).reshape(-1, *(1,) * (source.ndim - 1)), source.shape)
    keys = rows[inside] * bins + source[inside].astype(np.int64)
    counts = np.bincount(keys, minlength=source.shape[0] * bins).reshape(source.shape[0], bins)
    return counts.astype(dtype_of(scalar_of(step.operation.results[0].type)))


OPERATIONS: dict[str, Handler] = {
    "tt.get_program_id": _program_id,
    "tt.get_num_programs": _num_programs,
    "tt.make_range": _make_range,
    "tt.splat": _splat,
    "tt.unsplat": _splat,
    "tt.broadcast": _broadcast,
    "tt.expand_dims": _expand_dims,
    "tt.reshape": _reshape,
    "tt.trans": _transpose,
    "tt.join": _join,
    "tt.split": _split,
    "tt.cat": _concatenate,
    "tt.gather": _gather,
    "tt.histogram": _histogram,
}
