"""Device memory that the judge owns and the worker opens, by CUDA's handles between processes.

Uses the driver's library directly: torch's own sharing keeps a counter in a file that a confined worker may not write,
and shares parts of a cache that it may reuse.  Only judge and worker import this; both have a context of the same
device.
"""

from __future__ import annotations

import ctypes
from functools import cache

import torch

_HANDLE_BYTES = 64  # CU_IPC_HANDLE_SIZE
_LAZY_PEER_ACCESS = 1  # CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, the only flag there is


class DeviceMemoryError(Exception):
    """The driver refused; the message has its name for the reason."""


class DeviceBlock:
    """A block of device memory that other processes can open; its owner frees it."""

    def __init__(self, size_bytes: int, device: torch.device) -> None:
        """Allocate.

        Raises:
            DeviceMemoryError: there is not enough, or it cannot be shared.
        """
        torch.cuda.init()
        torch.empty(0, device=device)  # makes the context of the device the current one
        address = ctypes.c_uint64()
        call_driver("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(size_bytes, 1)))
        self._address = address
        self.size_bytes = size_bytes
        handle = _Handle()
        try:
            call_driver("cuIpcGetMemHandle", ctypes.byref(handle), address)
        except DeviceMemoryError:
            self.free()
            raise
        self.handle = bytes(handle.reserved).hex()
        self.content = _bytes_at(address.value, size_bytes, device)

    def free(self) -> None:
        """Free the memory; every tensor that views it is invalid from here on.  Safe to call twice."""
        if self._address.value:
            torch.cuda.synchronize()
            call_driver("cuMemFree_v2", self._address)
            self._address = ctypes.c_uint64(0)


def open_block(handle: str, size_bytes: int, device: torch.device) -> torch.Tensor:
    """The bytes of another process's block, as uint8 on `device`; stays open as long as this process.

    Raises:
        DeviceMemoryError: the driver refuses.
    """
    torch.empty(0, device=device)
    address = ctypes.c_uint64()
    opened = _Handle.from_buffer_copy(bytes.fromhex(handle))
    call_driver("cuIpcOpenMemHandle_v2", ctypes.byref(address), opened, ctypes.c_uint(_LAZY_PEER_ACCESS))
    return _bytes_at(address.value, size_bytes, device)


def alone(content: torch.Tensor) -> torch.Tensor:
    """The same bytes (uint8) as the whole of a separate storage, outside of any block.

    A tensor on them has its original offset, and its storage has no neighbours.
    """
    if content.numel() == 0:
        return content.new_empty(0)
    if content.device.type == "cpu":
        return torch.from_numpy(content.numpy())
    return _bytes_at(content.data_ptr(), content.numel(), content.device, owner=content)


def is_lost(device: torch.device) -> bool:
    """Whether the device refuses all further work of this process, as it does after an illegal access."""
    if device.type == "cpu":
        return False
    try:
        torch.cuda.synchronize()
    except Exception:  # the exception type differs between versions of torch
        return True
    return False


class _Handle(ctypes.Structure):
    """CUipcMemHandle of cuda.h."""

    _fields_ = (("reserved", ctypes.c_ubyte * _HANDLE_BYTES),)


class _OpenedMemory:
    """Device memory that torch may view and must not free, by the CUDA array interface, version 3."""

    def __init__(self, address: int, size_bytes: int, owner: torch.Tensor | None) -> None:
        self.owner = owner  # torch references this object, which keeps the owner of the memory alive
        self.__cuda_array_interface__ = {
            "shape": (size_bytes,),
            "typestr": "|u1",
            "data": (address, False),
            "version": 3,
        }


def _bytes_at(address: int, size_bytes: int, device: torch.device, owner: torch.Tensor | None = None) -> torch.Tensor:
    return torch.as_tensor(_OpenedMemory(address, size_bytes, owner), device=device)


@cache
def _driver() -> ctypes.CDLL:
    driver = ctypes.CDLL("libcuda.so.1")
    driver.cuIpcOpenMemHandle_v2.argtypes = (ctypes.c_void_p, _Handle, ctypes.c_uint)
    return driver


def call_driver(name: str, *arguments: object) -> None:
    """Call a function of the driver's library with ctypes' values.

    Raises:
        DeviceMemoryError: its status is an error.
    """
    status = getattr(_driver(), name)(*arguments)
    if status:
        text = ctypes.c_char_p()
        _driver().cuGetErrorName(status, ctypes.byref(text))
        raise DeviceMemoryError(f"{name}: {text.value.decode() if text.value else f'error {status}'}")
