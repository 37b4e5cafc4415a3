"""Platforms that candidates run on: one file each, found by scanning this folder.

A platform module defines `NAME`, `VISIBLE_ENV` (the variable that chooses among its devices, or None), `TORCH_DEVICE`
(the torch device string of device 0), `EXECUTED_ON_CPU` (whether kernels are executed without machine code of theirs),
`HAS_ACTIVITY_RECORD` (whether the device itself records which kernels ran), `QUEUES_ENV` (the variable with the number
of hardware queues of a process, or None) and `detect()`, which names what is there without importing torch and without
opening a device context.  A module that lacks one of them is refused when it is found.  How child processes use the
device is in `runtimes/`.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from typing import Protocol

from engine.errors import EngineError, UsageError

_REQUIRED = ("NAME", "VISIBLE_ENV", "TORCH_DEVICE", "EXECUTED_ON_CPU", "HAS_ACTIVITY_RECORD", "QUEUES_ENV", "detect")


@dataclass(frozen=True, kw_only=True)
class Device:
    """One device of this machine.  `target` is its architecture, None for a CPU; `memory_bytes` None if unknown."""

    platform: str
    index: int
    name: str
    target: str | None = None
    memory_bytes: int | None = None
    driver: str | None = None


class Platform(Protocol):
    """Interface of every platform module."""

    NAME: str
    VISIBLE_ENV: str | None
    TORCH_DEVICE: str
    EXECUTED_ON_CPU: bool
    HAS_ACTIVITY_RECORD: bool
    QUEUES_ENV: str | None

    def detect(self) -> tuple[Device, ...]:
        """The devices of this platform on this machine; () if there are none."""
        ...


def platforms() -> dict[str, Platform]:
    """Every platform by its name.

    Raises:
        EngineError: a module here does not define what a platform must define.
    """
    found: dict[str, Platform] = {}
    for entry in pkgutil.iter_modules(__path__):
        if entry.ispkg:
            continue
        module = importlib.import_module(f"{__name__}.{entry.name}")
        missing = [name for name in _REQUIRED if not hasattr(module, name)]
        if missing:
            raise EngineError(f"engine/devices/{entry.name}.py does not define {', '.join(missing)}")
        platform: Platform = module
        found[platform.NAME] = platform
    return found


def platform_named(name: str) -> Platform:
    """The platform called `name`.

    Raises:
        UsageError: there is none; the message lists those that exist.
    """
    known = platforms()
    if name not in known:
        raise UsageError(f"unknown device {name!r}: use one of {', '.join(sorted(known))}")
    return known[name]


def detect_all() -> tuple[Device, ...]:
    """Every device of this machine, accelerators first, the CPU always last."""
    ordered = sorted(platforms().values(), key=lambda platform: platform.NAME == "cpu")
    return tuple(device for platform in ordered for device in platform.detect())


def first_device(name: str) -> Device:
    """Device 0 of the platform called `name`.

    Raises:
        UsageError: no such platform, or it has no device here.
    """
    devices = platform_named(name).detect()
    if not devices:
        raise UsageError(f"there is no {name} device here; `kgtui doctor` lists what was found")
    return devices[0]
