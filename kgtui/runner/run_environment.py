"""Environment of a run besides the kernel and its plan: versions and the device, for the store.

Versions are read from the installed packages' metadata; nothing is imported for them.
"""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.devices import Device

PACKAGES = ("kgtui", "torch", "triton", "textual", "numpy", "sqlite-utils", "watchdog", "pygments", "msgspec")
# The verdict depends on these; a run under another version is never reused as an answer.
VERDICT_PACKAGES = ("kgtui", "torch", "triton", "numpy")


def versions(packages: tuple[str, ...] = PACKAGES) -> dict[str, str | None]:
    """The installed version of each package, None if not installed, and that of Python."""
    from importlib import metadata  # imported late: it takes 10 ms

    found: dict[str, str | None] = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = None
    return found


def environment_of(device: Device) -> dict[str, str]:
    """Environment that the store records for a session on this device."""
    facts = {**versions(VERDICT_PACKAGES), "linux": platform.release(), "device": device.name, "driver": device.driver}
    return {name: value for name, value in facts.items() if value is not None}
