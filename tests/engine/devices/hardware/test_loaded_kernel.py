"""A binary is loaded and launched by calls of the driver, with exactly these values."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from engine.devices.hardware.loaded_kernel import LoadedKernel


class Driver:
    """Notes the calls and, of a launch, the numbers and the bytes behind its pointers."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.launched: list[int] = []
        self.parameters: list[bytes] = []
        self.attribute: tuple[int, int] | None = None

    def __call__(self, name: str, *arguments: Any) -> None:
        self.names.append(name)
        if name == "cuFuncSetAttribute":
            self.attribute = (arguments[1].value, arguments[2].value)
        if name == "cuLaunchKernel":
            self.launched = [argument.value for argument in arguments[1:9]]
            self.parameters = [
                ctypes.string_at(pointer, size) for pointer, size in zip(arguments[9], (8, 4), strict=True)
            ]


@pytest.fixture(autouse=True)
def stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: SimpleNamespace(cuda_stream=77))


def test_a_kernel_is_launched_with_its_parameters() -> None:
    driver = Driver()
    kernel = LoadedKernel(b"\x7fELF\0rest", "k", threads=128, shared_bytes=4096, driver=driver)
    kernel.launch((3, 2, 1), (b"address!", b"four"))
    assert driver.names == ["cuModuleLoadData", "cuModuleGetFunction", "cuLaunchKernel"]
    assert driver.launched == [3, 2, 1, 128, 1, 1, 4096, 77]
    assert driver.parameters == [b"address!", b"four"]


def test_unloaded_kernel_leaves_the_device() -> None:
    driver = Driver()
    LoadedKernel(b"", "k", threads=32, shared_bytes=0, driver=driver).unload()
    assert driver.names[2:] == ["cuModuleUnload"]


def test_much_shared_memory_is_requested_from_the_driver() -> None:
    driver = Driver()
    LoadedKernel(b"", "k", threads=32, shared_bytes=100_000, driver=driver)
    assert driver.names[2:] == ["cuFuncSetCacheConfig", "cuFuncSetAttribute"]
    assert driver.attribute == (8, 100_000)
