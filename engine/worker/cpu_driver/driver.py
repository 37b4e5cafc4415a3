"""The active driver of Triton on the CPU: one device, and the target that launches are specialised for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from triton import runtime
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

from engine.devices.hardware.targets import target_named

# Triton's driver is not typed: its arguments are Any throughout this file.


class CpuDriver(DriverBase):  # type: ignore[misc]  # of Triton, which is not typed
    """Triton's driver on the CPU, which makes launchers."""

    def __init__(self, target: str, launcher_cls: Callable[[Any, Any], Any]) -> None:
        described = target_named(target)
        self._target = GPUTarget(described.backend, described.architecture, described.warp_size)
        self.launcher_cls = launcher_cls
        self.utils = _Utilities()

    @classmethod
    def is_active(cls) -> bool:
        """Always False: Triton never selects it, workers install it."""
        return False

    def map_python_to_cpp_type(self, ty: str) -> str:
        """The type itself; there is no C++."""
        return ty

    def get_current_target(self) -> GPUTarget:
        """Target that launches are specialised for."""
        return self._target

    def get_current_device(self) -> int:
        """The only device."""
        return 0

    def set_current_device(self, device: int) -> None:
        """No operation: there is one device."""

    def get_current_stream(self, device: int = 0) -> int:
        """The only stream."""
        return 0

    def get_active_torch_device(self) -> torch.device:
        """Device of the tensors."""
        return torch.device("cpu")

    def get_device_interface(self) -> Any:
        """The interface of a GPU that reports that there is none."""
        return torch.cuda

    def get_benchmarker(self) -> Callable[..., list[float]]:
        """A benchmark that calls once and measures nothing."""
        return _call_once

    def get_empty_cache_for_benchmark(self) -> torch.Tensor:
        """An empty tensor: there is no cache to clear."""
        return torch.empty(0)

    def clear_cache(self, cache: object) -> None:
        """No operation: there is no cache to clear."""


class _Utilities:
    def get_device_properties(self, device: int) -> Any:
        """Properties of a GPU; raises, since there is none."""
        return torch.cuda.get_device_properties(device)


def install(target: str, launcher_cls: Callable[[Any, Any], Any]) -> None:
    """Make this the active driver; kernels are specialised for `target` from now on."""
    runtime.driver.set_active(CpuDriver(target, launcher_cls))


def _call_once(kernel_call: Callable[[], Any], quantiles: Any = None, **_: Any) -> list[float]:
    kernel_call()
    return [0.0, 0.0, 0.0]
