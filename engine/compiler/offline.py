"""Compiles exactly as a launch would, in a process without a device: Triton gets the description of one.

A kernel compiled here under the description that Triton itself made of a launch has the cache key that this launch
looks up.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
import triton
from triton import runtime
from triton.backends.compiler import GPUTarget

from engine.compiler.kept_texts import KeptTexts
from engine.compiler.stages import taking
from engine.devices.hardware.targets import NVIDIA_BACKEND, Target, target_named
from engine.loading import warm_kernel
from engine.protocol.proof.binaries import Prebuilt

# Triton's drivers, kernels and compiled objects are not typed: they are Any throughout this file.


class OfflineDriver:
    """Triton's driver for a device that does not exist in this process."""

    def __init__(self, target: Target) -> None:
        self._target = GPUTarget(target.backend, target.architecture, target.warp_size)

    def get_current_device(self) -> int:
        """The only device."""
        return 0

    def get_current_stream(self, device: int) -> int:
        """The default stream; nothing is ever launched on it."""
        return 0

    def get_current_target(self) -> Any:
        """Target of the compilation."""
        return self._target

    def get_active_torch_device(self) -> torch.device:
        """Device of mock tensors."""
        return torch.device("cpu")


def compile_launch(
    kernel: Any, specialisation: str, target: Target, prebuilt: Prebuilt | None, kept_texts: KeptTexts
) -> Any:
    """The compiled kernel for Triton's own description of a launch; also put into this process's cache folder.

    `prebuilt` is the binary of its TTIR, None if there is none; the TTIR may be among the kept texts.
    """
    driver = OfflineDriver(target)
    runtime.driver.set_active(driver)
    with taking(prebuilt, driver.get_current_target(), kept_texts):
        return kernel.preload(specialisation)


def launchers_for() -> tuple[str, ...]:
    """The backends for which `build_launcher` builds something; newer versions of Triton need nothing."""
    from triton.backends.nvidia import driver

    return (NVIDIA_BACKEND,) if hasattr(driver, "make_launcher") else ()


def build_launcher(types: tuple[str, ...], target: Target) -> None:
    """Build the launcher for kernels with arguments of these types into the cache folder."""
    if target.backend not in launchers_for():
        return
    from triton.backends.nvidia.driver import CudaLauncher

    runtime.driver.set_active(OfflineDriver(target))
    source = SimpleNamespace(constants={}, signature=dict(enumerate(types)))
    # The launcher is built and cached first; then its class reads metadata that only a kernel has, and loads the
    # library, which may fail without a driver.
    with contextlib.suppress(AttributeError, ImportError):
        CudaLauncher(source, SimpleNamespace())


def warm_backend(backend: str, target: str) -> None:
    """Have Triton build its C helper and compile the warm kernel for a launch; every forked child inherits both.

    Opens no device: the driver's library must not be started before the fork.  Does nothing for backends but NVIDIA's.
    """
    if backend != NVIDIA_BACKEND:
        return
    from triton.backends.nvidia.driver import CudaUtils

    CudaUtils()
    # It is a singleton that Triton initialises again for every driver, and every child has an empty build cache.
    CudaUtils.__init__ = lambda self: None
    described = target_named(target)
    runtime.driver.set_active(OfflineDriver(described))
    warm_kernel.precompile()
    build_launcher(tuple(warm_kernel.SIGNATURE.values()), described)
    # Not reset_active(): that looks for devices at once, after which a process cannot fork any more.
    runtime.driver._active = None


class CacheFolder:
    """Tracks which files were added to this process's Triton cache."""

    def __init__(self) -> None:
        self._folder = Path(os.environ.get("TRITON_CACHE_DIR") or triton.knobs.cache.dir)
        self._seen: set[str] = set()

    def new_files(self) -> tuple[str, ...]:
        """Paths relative to the cache folder, each reported once."""
        if not self._folder.is_dir():
            return ()
        with os.scandir(self._folder) as keys:
            found = {f"{key.name}/{name}" for key in keys if key.is_dir() for name in _files_in(key.path)}
        fresh = sorted(found - self._seen)
        self._seen |= found
        return tuple(fresh)


def _files_in(folder: str) -> list[str]:
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries if entry.is_file() and not entry.name.endswith(".lock")]
