"""Tensor descriptors made on the host, as parameters of a launch in the form of Triton's CUDA launchers.

If the target has tensor maps (sm_90 and later) a binary takes a `CUtensorMap` by value for each, otherwise the fields
of `fields_of`.  Sources: `make_tensordesc_arg` and `fill_tma_descriptor` of Triton's NVIDIA backend, 3.6 to 3.9.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

from engine.devices.hardware.device_memory import call_driver
from engine.devices.hardware.loaded_kernel import aligned_buffer
from engine.errors import UnsupportedError
from engine.machine.descriptor_fields import fields_of
from engine.machine.ir import Function
from engine.protocol.proof.binaries import MAP_BYTES, MapLayout
from engine.protocol.proof.tape import ELEMENT_BYTES, TapedDescriptor, TapedNumber, TapedValue

_MOST_DIMENSIONS = 5
_TF32, _FLOAT32 = 11, 7
_NO_INTERLEAVING, _PROMOTION_128B = 0, 2
_SMALL_TENSOR_BYTES, _LAST_DRIVER, _PROMOTING = 128 << 10, 13010, 1 << 21


def spread(function: Function, values: Sequence[TapedValue]) -> tuple[TapedValue, ...]:
    """One value for each argument of a function, which takes the fields of a descriptor as separate arguments."""
    found: list[TapedValue] = []
    for value in values:
        if isinstance(value, TapedDescriptor):
            sizes = [TapedNumber(value=number) for number in (*value.shape, *value.strides)]
            flags = TapedNumber(value=value.padding_is_nan), TapedNumber(value=value.rounds_to_tf32)
            found += fields_of(function, len(found), descriptor=value, base=value.base, sizes=sizes, flags=flags)
        else:
            found.append(value)
    return tuple(found)


def check_within(descriptor: TapedDescriptor, storage_bytes: int, name: str) -> None:
    """Refuse a descriptor that is malformed, or exceeds its storage.

    Raises:
        UnsupportedError: the reason, for the argument `name`.
    """
    shape, strides, element = descriptor.shape, descriptor.strides, ELEMENT_BYTES[descriptor.base.dtype]
    if not 0 < len(shape) <= _MOST_DIMENSIONS or len(strides) != len(shape) or 0 in shape or strides[-1] != 1:
        raise UnsupportedError(f"argument {name}: a descriptor of shape {shape} and strides {strides}")
    last = sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    end = descriptor.base.offset_bytes + (last + 1) * element
    if end > storage_bytes:
        raise UnsupportedError(f"argument {name}: a descriptor that reaches byte {end:,} of {storage_bytes:,}")


def encode(
    descriptor: TapedDescriptor, layout: MapLayout, address: int, *, driver: Callable[..., None] = call_driver
) -> bytes:
    """The `CUtensorMap` of a checked descriptor whose base is at `address`.

    Raises:
        UnsupportedError: its dimensions or element size are not those that the binary expects.
        DeviceMemoryError: the driver refuses it, for its alignment for instance.
    """
    rank, size = len(descriptor.shape), ELEMENT_BYTES[descriptor.base.dtype]
    if (rank, size) != (len(layout.block), layout.element_bytes):
        raise UnsupportedError(f"a descriptor of {rank} dimensions of {size} bytes, not as its kernel was compiled")
    shape, strides = tuple(reversed(descriptor.shape)), [size * one for one in reversed(descriptor.strides[:-1])]
    rounds = descriptor.rounds_to_tf32 and layout.element_type == _FLOAT32
    made = aligned_buffer(bytes(MAP_BYTES))
    driver(
        "cuTensorMapEncodeTiled",
        made,
        ctypes.c_int(_TF32 if rounds else layout.element_type),
        ctypes.c_uint32(rank),
        ctypes.c_void_p(address),
        (ctypes.c_uint64 * rank)(*shape),
        (ctypes.c_uint64 * rank)(*strides, 0),
        (ctypes.c_uint32 * rank)(*reversed(layout.block)),
        (ctypes.c_uint32 * rank)(*[1] * rank),
        ctypes.c_int(_NO_INTERLEAVING),
        ctypes.c_int(layout.swizzle),
        ctypes.c_int(_PROMOTION_128B),
        ctypes.c_int(int(descriptor.padding_is_nan)),
    )
    last_bytes = sum((length - 1) * stride for length, stride in zip(shape, (size, *strides), strict=True))
    return _corrected(bytes(made), last_bytes, driver)


def _corrected(made: bytes, last_bytes: int, driver: Callable[..., None]) -> bytes:
    """A map without L2 promotion for a tensor under 128 KiB, which drivers up to 13.1 encode wrong.

    Triton 3.9 and CUTLASS clear the same bit.
    """
    version = ctypes.c_int()
    driver("cuDriverGetVersion", ctypes.byref(version))
    if version.value > _LAST_DRIVER or last_bytes + 1 >= _SMALL_TENSOR_BYTES:
        return made
    word = int.from_bytes(made[8:16], "little") & ~_PROMOTING
    return made[:8] + word.to_bytes(8, "little") + made[16:]
