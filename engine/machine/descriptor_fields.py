"""The arguments that a function takes for a tensor descriptor made on the host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from engine.machine.ir import Descriptor, Function, Scalar

_T = TypeVar("_T")
_FLAGS = 2


def fields_of(
    function: Function, place: int, *, descriptor: _T, base: _T, sizes: Sequence[_T], flags: tuple[_T, _T]
) -> list[_T]:
    """Parts of a descriptor that a function takes, from argument number `place` on.

    A descriptor is followed by its shape and strides (`sizes`).  For targets without tensor maps Triton replaces it in
    the TTIR by its base, shape and strides, the flag of padding with nan and, in some versions, that of rounding
    float32 to TF32; these are followed by the same shape and strides.
    """
    kinds = [argument.type for argument in function.arguments[place:]]
    if not kinds or isinstance(kinds[0], Descriptor):
        return [descriptor, *sizes]
    first = 1 + len(sizes)
    known = [flag for flag, kind in zip(flags, kinds[first : first + _FLAGS], strict=False) if kind is Scalar.I1]
    return [base, *sizes, *known, *sizes]
