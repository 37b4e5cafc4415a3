"""Host memory that a case needs, estimated before any of it is allocated.

An estimate from the least work of the case: each byte of its arguments and outputs exists once as it is, copied for
the call, copied for the reference, and in float64, which is at most four times as wide as float16.
"""

from __future__ import annotations

from pathlib import Path

from engine.devices.hardware.device_memory import DeviceMemoryError
from engine.model import Case, Cost

COPIES = 8
"""Most copies of a case's bytes at one time: three as they are, and the float64 ones of the reference."""

_MEMORY_INFORMATION = Path("/proc/meminfo")
_SMALL_BYTES = 64 << 20  # below this size the query costs more than it can save


def estimated_bytes(cost: Cost) -> int:
    """The memory that a case with this least work needs."""
    return COPIES * (cost.bytes_read + cost.bytes_written)


def require_room(case: Case, cost: Cost, *, available_bytes: int | None) -> None:
    """Raise unless the case fits; None means that the available memory is unknown.

    Raises:
        DeviceMemoryError: the estimate is above the available memory.
    """
    needed = estimated_bytes(cost)
    if available_bytes is not None and needed > available_bytes:
        raise DeviceMemoryError(
            f"{case.name} needs about {needed:,} bytes of memory, and {available_bytes:,} are available; "
            "stop other programs, or run it on a machine with more"
        )


def available_bytes(cost: Cost, *, information: Path = _MEMORY_INFORMATION) -> int | None:
    """Available memory of the system in bytes; None if it is unknown, or the case is too small to check."""
    return None if estimated_bytes(cost) < _SMALL_BYTES else available_memory(information=information)


def available_memory(*, information: Path = _MEMORY_INFORMATION) -> int | None:
    """Available memory of the system in bytes; None if it is unknown."""
    try:
        lines = information.read_text().splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(found[0]) * 1024 if found else None
