"""The parameters of a launch as the bytes that a binary takes, checked against the specialisation's assumptions."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence

from engine.errors import UnsupportedError
from engine.machine.ir import Descriptor, Function, Pointer, Scalar, Type
from engine.protocol.messages import FloatSpec
from engine.protocol.proof.tape import TapedDescriptor, TapedNumber, TapedValue, TapedView
from engine.replay.checks import ADDRESS_BYTES
from engine.replay.launch_arguments import float_of


def packed(
    function: Function,
    values: Sequence[TapedValue],
    address_of: Callable[[TapedView], int],
    sizes: Sequence[int],
    *,
    map_of: Callable[[TapedDescriptor, str], bytes],
) -> list[bytes]:
    """The bytes of each argument; `sizes` are those in the binary's parameter list.

    `map_of` makes the tensor map of a descriptor, which is the argument of this name.

    Raises:
        UnsupportedError: a replay cannot pass an argument, or it lacks the divisibility that the specialisation was
            compiled for.
    """
    arguments = function.arguments
    if len(values) != len(arguments):
        raise UnsupportedError(f"{function.name} takes {len(arguments)} arguments, not {len(values)}")
    parameters = []
    for place, (argument, value) in enumerate(zip(arguments, values, strict=True)):
        if isinstance(value, TapedDescriptor) and isinstance(argument.type, Descriptor):
            parameters.append(map_of(value, argument.name))
            continue
        number = address_of(value) if isinstance(value, TapedView) else _number(value, argument.name)
        divisor = function.divisibility.get(place, 1)
        if isinstance(number, int) and number % divisor:
            raise UnsupportedError(f"argument {argument.name} of {function.name} is not divisible by {divisor}")
        parameters.append(_bytes_of(argument.type, number, isinstance(value, TapedView), argument.name))
    if [len(parameter) for parameter in parameters] != list(sizes):
        raise UnsupportedError(f"the binary of {function.name} takes other parameters than its TTIR")
    return parameters


def address_bytes(address: int) -> bytes:
    """An address as a parameter."""
    return address.to_bytes(ADDRESS_BYTES, "little")


def _number(value: TapedValue, name: str) -> int | float:
    match value:
        case TapedNumber():
            return int(value.value)
        case FloatSpec():
            return float_of(value)
    raise UnsupportedError(f"argument {name}: a tensor descriptor for a parameter of another type")


def _bytes_of(kind: Type, number: int | float, is_address: bool, name: str) -> bytes:
    """A number in the type of its parameter; integers wrap, and floats are rounded."""
    if isinstance(kind, Pointer) != is_address:
        raise UnsupportedError(f"argument {name}: a {'tensor' if is_address else 'number'} of another type")
    if is_address:
        return address_bytes(int(number))
    if not isinstance(kind, Scalar):
        raise UnsupportedError(f"argument {name}: a number for a parameter of another type")
    if kind.is_float != isinstance(number, float):
        raise UnsupportedError(f"argument {name}: a number of another type than {kind.value}")
    match kind:
        case Scalar.F64:
            return struct.pack("<d", number)
        case Scalar.F32:
            return bytes(ctypes.c_float(number))  # c_float turns numbers beyond its range into infinity
        case _ if kind.is_float:
            raise UnsupportedError(f"argument {name}: a scalar of type {kind.value}")
    return (int(number) % (1 << (8 * kind.bytes))).to_bytes(kind.bytes, "little")
