"""A compiled kernel on a device, launched through the driver's library.

Triton's own launchers are C that some versions build with a compiler of the host, once for each signature.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

import torch

from engine.devices.hardware.device_memory import call_driver

_SHARED_WITHOUT_ASKING = 48 << 10
_MOST_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
_PREFER_SHARED = 1  # CU_FUNC_CACHE_PREFER_SHARED
_ALIGNMENT = 64  # of a CUtensorMap, which no other parameter exceeds


def aligned_buffer(content: bytes) -> ctypes.Array[ctypes.c_char]:
    """The bytes in memory that begins at a multiple of 64, as required for a parameter of any type."""
    room = ctypes.create_string_buffer(len(content) + _ALIGNMENT)
    made = (ctypes.c_char * len(content)).from_buffer(room, -ctypes.addressof(room) % _ALIGNMENT)
    made.raw = content
    return made


class LoadedKernel:
    """The function `name` of a binary, in the context of this thread, until `unload`.

    A block has `threads` threads and `shared_bytes` of dynamic shared memory.
    """

    def __init__(
        self,
        binary: bytes,
        name: str,
        *,
        threads: int,
        shared_bytes: int,
        driver: Callable[..., None] = call_driver,
    ) -> None:
        """Load.

        Raises:
            DeviceMemoryError: the driver refuses the binary, or this much shared memory.
        """
        self._driver = driver
        self._threads, self._shared_bytes = threads, shared_bytes
        self._module, self._function = ctypes.c_void_p(), ctypes.c_void_p()
        driver("cuModuleLoadData", ctypes.byref(self._module), ctypes.c_char_p(binary))
        driver("cuModuleGetFunction", ctypes.byref(self._function), self._module, ctypes.c_char_p(name.encode()))
        if shared_bytes > _SHARED_WITHOUT_ASKING:
            driver("cuFuncSetCacheConfig", self._function, ctypes.c_int(_PREFER_SHARED))
            attribute, most = ctypes.c_int(_MOST_DYNAMIC_SHARED), ctypes.c_int(shared_bytes)
            driver("cuFuncSetAttribute", self._function, attribute, most)

    def unload(self) -> None:
        """Remove it from the device, when its launches have ended; it cannot be launched any more.

        Raises:
            DeviceMemoryError: the driver refuses that.
        """
        self._driver("cuModuleUnload", self._module)

    def launch(self, grid: tuple[int, int, int], parameters: Sequence[bytes]) -> None:
        """Launch on torch's current stream; each of `parameters` is a buffer with the bytes of one.

        Raises:
            DeviceMemoryError: the driver refuses the launch.
        """
        kept = [aligned_buffer(parameter) for parameter in parameters]
        pointers = (ctypes.c_void_p * len(kept))(*(ctypes.addressof(buffer) for buffer in kept))
        sizes = map(ctypes.c_uint, (*grid, self._threads, 1, 1, self._shared_bytes))
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        self._driver("cuLaunchKernel", self._function, *sizes, stream, pointers, None)
