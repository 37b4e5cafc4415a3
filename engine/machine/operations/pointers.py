"""Pointer arithmetic and conversions between pointers and integers."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from engine.errors import UnsupportedError
from engine.machine.frame import Frame, Handler, Step, as_array
from engine.machine.ir import Pointer, Scalar
from engine.machine.numerics import Array
from engine.machine.values import Pointers, Val, element_of


def pointers_at(frame: Frame, step: Step, addresses: Array) -> Pointers:
    """Pointers at absolute addresses; their provenance is the storage that contains the address.

    Raises:
        UnsupportedError: the result does not point to scalars, or the alignments of the addresses differ.
    """
    kind = element_of(step.operation.results[0].type)
    if not isinstance(kind, Pointer) or not isinstance(kind.pointee, Scalar):
        raise UnsupportedError("an integer is cast to a pointer that does not point to scalars")
    unit = kind.pointee.bytes
    origin = frame.services.memory.locate(addresses)
    offsets = addresses - frame.services.memory.bases(origin)
    start = int(offsets.flat[0]) % unit if offsets.size else 0
    if not bool((offsets % unit == start).all()):
        raise UnsupportedError("integers of different alignment are cast to pointers")
    return Pointers(index=(offsets - start) // unit, origin=origin, unit=unit, start=start)


def addresses_of(frame: Frame, pointers: Pointers) -> Array:
    """Absolute addresses."""
    return np.asarray(pointers.index * pointers.unit + pointers.start + frame.services.memory.bases(pointers.origin))


def _add_pointer(frame: Frame, step: Step, operands: list[Val]) -> Val:
    pointers, offset = operands[0], as_array(operands[1])
    assert isinstance(pointers, Pointers)
    return replace(pointers, index=np.add(pointers.index, offset, dtype=np.int64))


def _pointer_to_integer(frame: Frame, step: Step, operands: list[Val]) -> Val:
    pointers = operands[0]
    assert isinstance(pointers, Pointers)
    return addresses_of(frame, pointers)


def _integer_to_pointer(frame: Frame, step: Step, operands: list[Val]) -> Val:
    return pointers_at(frame, step, as_array(operands[0]).astype(np.int64))


OPERATIONS: dict[str, Handler] = {
    "tt.addptr": _add_pointer,
    "tt.ptr_to_int": _pointer_to_integer,
    "tt.int_to_ptr": _integer_to_pointer,
}
