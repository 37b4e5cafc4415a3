"""Values while a module executes: arrays with a leading axis of programs, pointers, block pointers, descriptors.

An array has one more axis than its type: the first counts the active programs.  Any axis may have length 1 where the
type has more: the value is then the same along it.  So `tt.splat`, `tt.broadcast` and `tt.expand_dims` copy nothing,
and values that are the same for all programs are computed once.  No operation writes to an operand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import msgspec
import numpy as np
from msgspec.structs import replace

from engine.errors import UnsupportedError
from engine.machine.ir import Descriptor, Pointer, Scalar, Tensor, Type
from engine.machine.numerics import Array

NOWHERE = -1  # the origin of an address that belongs to no storage


class Pointers(msgspec.Struct, frozen=True, kw_only=True):
    """Addresses with provenance: element `index` of `unit` bytes, counted from byte `start` of a storage.

    `origin` is the index of the storage in the memory, one for all or one per element.  Arithmetic never changes the
    origin, so that an address outside its storage is out of bounds even where another storage begins.
    """

    index: Array
    origin: int | Array
    unit: int
    start: int = 0


class BlockPointer(msgspec.Struct, frozen=True, kw_only=True):
    """A block of a tensor in memory: `tt.make_tensor_ptr`; arrays per dimension."""

    base: Pointers
    shape: tuple[Array, ...]
    strides: tuple[Array, ...]
    offsets: tuple[Array, ...]


class TensorDescriptor(msgspec.Struct, frozen=True, kw_only=True):
    """A tensor in memory that blocks are loaded from: `tt.make_tensor_descriptor`."""

    base: Pointers
    shape: tuple[Array, ...]
    strides: tuple[Array, ...]
    padding_is_nan: bool = False
    rounds_to_tf32: bool = False


Val: TypeAlias = Array | Pointers | BlockPointer | TensorDescriptor


def element_of(kind: Type) -> Scalar | Pointer:
    """The element type of a tensor, or the type itself."""
    if isinstance(kind, Tensor):
        return kind.element
    if isinstance(kind, Descriptor):
        return element_of(kind.block)
    return kind


def scalar_of(kind: Type) -> Scalar:
    """The element type; UnsupportedError for pointers."""
    element = element_of(kind)
    if not isinstance(element, Scalar):
        raise UnsupportedError("arithmetic on pointers other than tt.addptr is not executed")
    return element


def shape_of(kind: Type) -> tuple[int, ...]:
    """The shape of a tensor, () for everything else."""
    return kind.shape if isinstance(kind, Tensor) else ()


def elements_of(kind: Type) -> int:
    """Number of elements of a value per program."""
    count = 1
    for length in shape_of(kind):
        count *= length
    return count


def full(array: Array, shape: tuple[int, ...]) -> Array:
    """A view with every axis except that of the programs at its real length."""
    return np.broadcast_to(array, (array.shape[0], *shape))


def arrays_of(value: Val) -> tuple[Array, ...]:
    """The arrays that a value consists of."""
    if isinstance(value, np.ndarray):
        return (value,)
    if isinstance(value, Pointers):
        return (value.index,) if isinstance(value.origin, int) else (value.index, value.origin)
    if isinstance(value, BlockPointer):
        return (*arrays_of(value.base), *value.shape, *value.strides, *value.offsets)
    return (*arrays_of(value.base), *value.shape, *value.strides)


def select(value: Val, chosen: Array) -> Val:
    """The value for the programs at positions `chosen`; a uniform value is unchanged."""
    return rebuild([value], [[take(part, chosen) for part in arrays_of(value)]])


def take(array: Array, chosen: Array) -> Array:
    """Rows of one array; the only row of a uniform one."""
    return array if array.shape[0] == 1 else array[chosen]


def merge(parts: Sequence[Val], places: Sequence[Array], programs: int) -> Val:
    """One value from the values of disjoint sets of programs; `places` has the programs of each part."""
    if len(parts) == 1:
        return parts[0]
    parts = _unified(parts)
    columns = zip(*(arrays_of(part) for part in parts), strict=True)
    return rebuild(parts, [[_merge_arrays(column, places, programs) for column in columns]])


def choose(condition: Array, yes: Val, no: Val) -> Val:
    """`arith.select` of two values of one type."""
    pair = _unified([yes, no])
    columns = zip(arrays_of(pair[0]), arrays_of(pair[1]), strict=True)
    return rebuild(pair, [[np.where(condition, a, b) for a, b in columns]])


def rebuild(like: Sequence[Val], columns: Sequence[Sequence[Array]]) -> Val:
    """A value of the kind of `like[0]` made of other arrays, in the order of `arrays_of`."""
    value, rest = like[0], list(columns[0])
    if isinstance(value, np.ndarray):
        return rest[0]
    if isinstance(value, Pointers):
        return replace(value, index=rest[0], origin=rest[1] if len(rest) > 1 else value.origin)
    held = len(arrays_of(value.base))
    base = rebuild([value.base], [rest[:held]])
    assert isinstance(base, Pointers)
    rank = len(value.shape)
    shape, strides = tuple(rest[held : held + rank]), tuple(rest[held + rank : held + 2 * rank])
    if isinstance(value, BlockPointer):
        return BlockPointer(base=base, shape=shape, strides=strides, offsets=tuple(rest[held + 2 * rank :]))
    return replace(value, base=base, shape=shape, strides=strides)


def _merge_arrays(column: Sequence[Array], places: Sequence[Array], programs: int) -> Array:
    """Rows of all parts in one array."""
    shape = np.broadcast_shapes(*(part.shape[1:] for part in column))
    merged = np.empty((programs, *shape), column[0].dtype)
    for part, where in zip(column, places, strict=True):
        merged[where] = part
    return merged


def _unified(parts: Sequence[Val]) -> list[Val]:
    """The same values; pointers of several storages get an origin per element."""
    pointers = [part if isinstance(part, Pointers) else getattr(part, "base", None) for part in parts]
    if all(pointer is None for pointer in pointers):
        return list(parts)
    known = [pointer for pointer in pointers if isinstance(pointer, Pointers)]
    if len({(pointer.unit, pointer.start) for pointer in known}) > 1:
        raise UnsupportedError("a choice between pointers of different alignment is not executed")
    origins = {pointer.origin if isinstance(pointer.origin, int) else None for pointer in known}
    if len(origins) == 1 and None not in origins:
        return list(parts)
    return [_with_origins(part) for part in parts]


def _with_origins(value: Val) -> Val:
    """The value with an origin per element."""
    if isinstance(value, Pointers):
        if not isinstance(value.origin, int):
            return value
        return replace(value, origin=np.full(value.index.shape, value.origin, np.int64))
    if isinstance(value, BlockPointer | TensorDescriptor):
        base = _with_origins(value.base)
        assert isinstance(base, Pointers)
        return replace(value, base=base)
    return value
