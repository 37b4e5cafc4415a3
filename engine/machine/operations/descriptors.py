"""Block pointers and tensor descriptors: blocks of a tensor in memory, padded outside of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from engine.errors import UnsupportedError
from engine.machine.frame import Frame, Handler, Step, as_array
from engine.machine.ir import Descriptor, Scalar
from engine.machine.numerics import Array, constant, encode, round_to_tf32
from engine.machine.operations.atomics import update_of
from engine.machine.results import FindingKind
from engine.machine.values import (
    BlockPointer,
    Pointers,
    TensorDescriptor,
    Val,
    full,
    scalar_of,
    shape_of,
)

NAN_PADDING = 2  # of Triton's PaddingOption: 1 pads with zeros
_ALIGNED_BYTES = 16  # of bases and strides of descriptors, by Triton's documentation


def nan_pattern(scalar: Scalar) -> int:
    """The bits of a NaN."""
    nan = encode(scalar, np.array([np.nan], np.float32))
    return int.from_bytes(nan.tobytes(), "little")


def block_addresses(
    tensor: BlockPointer | TensorDescriptor, offsets: Sequence[Array], shape: tuple[int, ...], checked: frozenset[int]
) -> tuple[Pointers, Array | None]:
    """Addresses of the block that begins at `offsets`, and where it is inside in the `checked` dimensions.

    The second is None if no dimension is checked.
    """
    index, mask = _with_unit_axes(tensor.base.index, len(shape)), None
    for axis, length in enumerate(shape):
        places = _with_unit_axes(offsets[axis].astype(np.int64), len(shape)) + _along(length, axis, len(shape))
        index = index + places * _with_unit_axes(tensor.strides[axis].astype(np.int64), len(shape))
        if axis in checked:
            inside = (places >= 0) & (places < _with_unit_axes(tensor.shape[axis].astype(np.int64), len(shape)))
            mask = inside if mask is None else mask & inside
    return replace(tensor.base, index=index), mask


def _with_unit_axes(array: Array, rank: int) -> Array:
    """A number per program, with axes of length 1."""
    return array.reshape(array.shape[0], *(1,) * rank)


def _along(length: int, axis: int, rank: int) -> Array:
    """0, 1, ... along one axis of a block."""
    return np.arange(length).reshape(1, *(1,) * axis, length, *(1,) * (rank - 1 - axis))


def _make_block_pointer(frame: Frame, step: Step, operands: list[Val]) -> Val:
    base, numbers = operands[0], [as_array(operand) for operand in operands[1:]]
    assert isinstance(base, Pointers)
    rank = len(numbers) // 3
    return BlockPointer(
        base=base,
        shape=tuple(numbers[:rank]),
        strides=tuple(numbers[rank : 2 * rank]),
        offsets=tuple(numbers[2 * rank :]),
    )


def _advance(frame: Frame, step: Step, operands: list[Val]) -> Val:
    pointer = operands[0]
    assert isinstance(pointer, BlockPointer)
    steps = zip(pointer.offsets, operands[1:], strict=True)
    return replace(pointer, offsets=tuple(offset + as_array(change) for offset, change in steps))


def _make_descriptor(frame: Frame, step: Step, operands: list[Val]) -> Val:
    base, numbers = operands[0], [as_array(operand) for operand in operands[1:]]
    assert isinstance(base, Pointers)
    rank = len(numbers) // 2
    shape, strides = tuple(numbers[:rank]), tuple(numbers[rank:])
    _check_alignment(frame, step, base, shape, strides)
    padding_is_nan = step.operation.attributes.get("padding") == NAN_PADDING
    return TensorDescriptor(base=base, shape=shape, strides=strides, padding_is_nan=padding_is_nan)


def _check_alignment(
    frame: Frame, step: Step, base: Pointers, shape: Sequence[Array], strides: Sequence[Array]
) -> None:
    """Record a base, or a stride between elements, that a GPU with tensor maps does not take."""
    address = frame.services.memory.bases(base.origin) + base.index * base.unit + base.start
    checked = [("its base is at byte {} behind a multiple of {}", address % _ALIGNED_BYTES)]
    for axis, (length, stride) in enumerate(zip(shape[:-1], strides[:-1], strict=True)):
        width = np.where(length > 1, stride.astype(np.int64) * base.unit, 0)
        checked.append((f"the stride of dimension {axis} is {{:,}} bytes, not a multiple of {{}}", width))
    for text, numbers in checked:
        wrong = np.flatnonzero(np.broadcast_to(numbers.reshape(-1) % _ALIGNED_BYTES != 0, (frame.count,)))
        if wrong.size:
            first = int(np.broadcast_to(numbers.reshape(-1), (frame.count,))[wrong[0]])
            detail = text.format(first, _ALIGNED_BYTES)
            frame.services.memory.find_claim(FindingKind.MISALIGNED, frame, step, wrong, detail)
            return


def _block_of(descriptor: Val, indices: list[Array], block: tuple[int, ...]) -> tuple[Pointers, Array | None]:
    """Addresses and mask of a block; dimensions that the block lacks have length 1."""
    assert isinstance(descriptor, TensorDescriptor)
    rank = len(descriptor.shape)
    return block_addresses(descriptor, indices, (1,) * (rank - len(block)) + block, frozenset(range(rank)))


def _padding(descriptor: Val, scalar: Scalar, rank: int) -> Array:
    assert isinstance(descriptor, TensorDescriptor)
    is_nan = descriptor.padding_is_nan and scalar.is_float
    return constant(scalar, (nan_pattern(scalar) if is_nan else 0,)).reshape((1,) * (1 + rank))


def _rounded(descriptor: Val, scalar: Scalar, loaded: Array) -> Array:
    """Loaded elements, rounded to TF32 if the descriptor requires that."""
    rounds = isinstance(descriptor, TensorDescriptor) and descriptor.rounds_to_tf32 and scalar is Scalar.F32
    return round_to_tf32(loaded) if rounds else loaded


def _load(frame: Frame, step: Step, operands: list[Val]) -> Val:
    kind = step.operation.results[0].type
    descriptor, indices = operands[0], [as_array(operand) for operand in operands[1:]]
    pointers, mask = _block_of(descriptor, indices, shape_of(kind))
    rank = pointers.index.ndim - 1
    loaded = frame.services.memory.load(frame, step, pointers, mask, _padding(descriptor, scalar_of(kind), rank))
    return _rounded(descriptor, scalar_of(kind), loaded.reshape(loaded.shape[0], *shape_of(kind)))


def _store(frame: Frame, step: Step, operands: list[Val]) -> tuple[Val, ...]:
    """Store a block; elements outside of the tensor are not written."""
    kind = step.operation.operands[-1].type
    indices = [as_array(operand) for operand in operands[1:-1]]
    pointers, mask = _block_of(operands[0], indices, shape_of(kind))
    values = full(as_array(operands[-1]), shape_of(kind))
    values = values.reshape(values.shape[0], *pointers.index.shape[1:])
    frame.services.memory.store(frame, step, pointers, values, mask)
    return ()


def _reduce(frame: Frame, step: Step, operands: list[Val]) -> tuple[Val, ...]:
    kind = step.operation.operands[-1].type
    pointers, mask = _block_of(operands[0], [as_array(operand) for operand in operands[1:-1]], shape_of(kind))
    values = full(as_array(operands[-1]), shape_of(kind))
    values = values.reshape(values.shape[0], *pointers.index.shape[1:])
    name = str(step.operation.attributes["kind"])
    scalar = scalar_of(kind)
    if name == "add" and scalar.is_float:
        name = "fadd"
    described = step.operation.operands[0].type
    if name in ("min", "max") and isinstance(described, Descriptor) and described.unsigned:
        name = f"u{name}"
    update = update_of(step, name, scalar, (values,), needs_old=False)
    frame.services.memory.update(frame, step, pointers, update, mask)
    return ()


def _rows(descriptor: Val, rows: Array, column: Array, columns: int) -> tuple[Pointers, Array | None]:
    """Addresses of rows of a matrix, from a column on."""
    if not isinstance(descriptor, TensorDescriptor) or len(descriptor.shape) != 2:
        raise UnsupportedError("rows are addressed through a descriptor that does not have two dimensions")
    places = (rows.astype(np.int64)[:, :, None], _with_unit_axes(column.astype(np.int64), 2) + _along(columns, 1, 2))
    shape = tuple(_with_unit_axes(length.astype(np.int64), 2) for length in descriptor.shape)
    strides = tuple(_with_unit_axes(stride.astype(np.int64), 2) for stride in descriptor.strides)
    index = _with_unit_axes(descriptor.base.index, 2) + places[0] * strides[0] + places[1] * strides[1]
    inside = [(place >= 0) & (place < length) for place, length in zip(places, shape, strict=True)]
    return replace(descriptor.base, index=index), inside[0] & inside[1]


def _gather(frame: Frame, step: Step, operands: list[Val]) -> Val:
    kind = step.operation.results[0].type
    pointers, mask = _rows(operands[0], as_array(operands[1]), as_array(operands[2]), shape_of(kind)[1])
    padding = _padding(operands[0], scalar_of(kind), 2)
    return _rounded(operands[0], scalar_of(kind), frame.services.memory.load(frame, step, pointers, mask, padding))


def _scatter(frame: Frame, step: Step, operands: list[Val]) -> tuple[Val, ...]:
    kind = step.operation.operands[-1].type
    pointers, mask = _rows(operands[0], as_array(operands[1]), as_array(operands[2]), shape_of(kind)[1])
    frame.services.memory.store(frame, step, pointers, full(as_array(operands[3]), shape_of(kind)), mask)
    return ()


OPERATIONS: dict[str, Handler] = {
    "tt.make_tensor_ptr": _make_block_pointer,
    "tt.advance": _advance,
    "tt.make_tensor_descriptor": _make_descriptor,
    "tt.descriptor_load": _load,
    "tt.descriptor_store": _store,
    "tt.descriptor_reduce": _reduce,
    "tt.descriptor_gather": _gather,
    "tt.descriptor_scatter": _scatter,
}
