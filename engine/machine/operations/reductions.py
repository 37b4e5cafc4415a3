"""Reductions and scans: regions that numpy can compute in one call, all others as a tree of region calls.

Order of float sums: along the last axis numpy's pairwise order for f32 and f64, along other axes and for smaller types
a tree of halves.  A scan of floats is a tree of doubling distances.  Integers, maxima and minima have no order.
"""

from __future__ import annotations

import numpy as np

from engine.machine.frame import BlockPlan, Frame, Handler, Step, as_array
from engine.machine.numerics import Array, is_coded
from engine.machine.values import Val, full, scalar_of, shape_of

_WHOLE: dict[str, np.ufunc] = {
    "arith.addi": np.add,
    "arith.muli": np.multiply,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
    "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
}
_SIGNED_ZEROS = frozenset({"arith.maxnumf", "arith.minnumf", "arith.maximumf", "arith.minimumf"})


def _combiner(block: BlockPlan) -> str:
    """The one operation of a region `c = op a, b; return c`; "" for every other region."""
    if len(block.steps) != 1 or len(block.arguments) != 2:
        return ""
    operation = block.steps[0].operation
    simple = operation.operands == block.arguments or operation.operands == block.arguments[::-1]
    returned = len(block.terminator.operands) == 1 and block.terminator.operands[0] == operation.results[0]
    return operation.name if simple and returned else ""


def _sources(step: Step, operands: list[Val]) -> list[Array]:
    """Operands with every axis at its real length."""
    kinds = [operand.type for operand in step.operation.operands]
    return [full(as_array(value), shape_of(kind)) for value, kind in zip(operands, kinds, strict=True)]


def _axis(step: Step) -> int:
    axis = step.operation.attributes["axis"]
    assert isinstance(axis, int)
    return axis + 1


def _reduce(frame: Frame, step: Step, operands: list[Val]) -> tuple[Val, ...]:
    sources, axis = _sources(step, operands), _axis(step)
    combiner = _combiner(step.regions[0][0])
    source = sources[0]
    if combiner in _WHOLE and source.dtype != np.bool_ and not _has_coded(step):
        result = _whole(combiner, source, axis)
        return (result,)
    if combiner == "arith.addf" and axis == source.ndim - 1 and source.dtype in (np.float32, np.float64):
        return (np.add.reduce(source, axis=axis),)
    return tuple(_tree(frame, step.regions[0][0], sources, axis))


def _has_coded(step: Step) -> bool:
    """Whether operands are bits of floats, which numpy would interpret as integers."""
    return any(is_coded(scalar_of(operand.type)) for operand in step.operation.operands)


def _whole(combiner: str, source: Array, axis: int) -> Array:
    ufunc = _WHOLE[combiner]
    result: Array = ufunc.reduce(source, axis=axis, dtype=source.dtype)
    if combiner in _SIGNED_ZEROS and bool((result == 0).any()):
        negative = np.signbit(source) | (source != 0)
        any_positive = ~negative.all(axis=axis)
        any_negative = ((source == 0) & np.signbit(source)).any(axis=axis)
        take_negative = ~any_positive if combiner in ("arith.maxnumf", "arith.maximumf") else any_negative
        zero = np.where(take_negative, np.array(-0.0, result.dtype), np.array(0.0, result.dtype))
        result = np.where(result == 0, zero, result)
    return result


def _combine(frame: Frame, block: BlockPlan, left: list[Array], right: list[Array]) -> list[Array]:
    """The region on blocks: its scalars are arrays with the axis of programs first."""
    results = frame.child().run(block, [*left, *right])
    return [np.broadcast_to(as_array(result), left[0].shape) for result in results]


def _tree(frame: Frame, block: BlockPlan, sources: list[Array], axis: int) -> list[Array]:
    """Combine the lower half with the upper one until one element is left, as lanes of a warp do.

    An order from the first element to the last would hide that a region gives another result for exchanged operands.
    """
    parts = [np.moveaxis(source, axis, 1) for source in sources]
    programs = max(part.shape[0] for part in parts)
    parts = [np.broadcast_to(part, (programs, *part.shape[1:])) for part in parts]
    while parts[0].shape[1] > 1:
        length = parts[0].shape[1]
        half = length // 2
        folded = _combine(
            frame, block, [part[:, :half] for part in parts], [part[:, length - half :] for part in parts]
        )
        if length % 2:  # Triton makes powers of two only; a module from elsewhere may have any length
            folded = [
                np.concatenate([new, old[:, half : half + 1]], axis=1) for new, old in zip(folded, parts, strict=True)
            ]
        parts = folded
    return [part[:, 0] for part in parts]


def _scan(frame: Frame, step: Step, operands: list[Val]) -> tuple[Val, ...]:
    sources, axis = _sources(step, operands), _axis(step)
    if step.operation.attributes.get("reverse"):
        sources = [np.flip(source, axis) for source in sources]
    combiner = _combiner(step.regions[0][0])
    if combiner in _WHOLE and sources[0].dtype != np.bool_ and not _has_coded(step):
        results: list[Array] = [_WHOLE[combiner].accumulate(sources[0], axis=axis, dtype=sources[0].dtype)]
    else:
        results = _scan_tree(frame, step.regions[0][0], sources, axis)
    if step.operation.attributes.get("reverse"):
        results = [np.flip(result, axis) for result in results]
    return tuple(results)


def _scan_tree(frame: Frame, block: BlockPlan, sources: list[Array], axis: int) -> list[Array]:
    """Combine each element with the one at distance 1, then 2, 4, ...: all prefixes in log2(n) rounds."""
    parts = [np.moveaxis(source, axis, 1) for source in sources]
    programs = max(part.shape[0] for part in parts)
    parts = [np.broadcast_to(part, (programs, *part.shape[1:])) for part in parts]
    length, distance = parts[0].shape[1], 1
    while distance < length:
        left = [part[:, : length - distance] for part in parts]
        right = [part[:, distance:] for part in parts]
        combined = _combine(frame, block, left, right)
        parts = [np.concatenate([old[:, :distance], new], axis=1) for old, new in zip(parts, combined, strict=True)]
        distance *= 2
    return [np.moveaxis(part, 1, axis) for part in parts]


OPERATIONS: dict[str, Handler] = {"tt.reduce": _reduce, "tt.scan": _scan}
