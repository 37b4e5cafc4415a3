"""What a launch can be compiled for, on any machine: the names, and the limits that the compiler does not check.

Shared memory per block after opt-in: CUDA C++ Programming Guide, table of technical specifications per
compute capability; LDS per workgroup: the AMD GPU user guide of LLVM and the CDNA and RDNA ISA documents.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

from engine.errors import UsageError

_SHARED_KIB = {
    "sm_75": 64, "sm_80": 163, "sm_86": 99, "sm_87": 163, "sm_89": 99, "sm_90": 227, "sm_100": 227, "sm_103": 227,
    "sm_120": 99, "sm_121": 99,
    "gfx908": 64, "gfx90a": 64, "gfx942": 64, "gfx950": 160, "gfx1100": 64, "gfx1101": 64, "gfx1200": 64, "gfx1201": 64,
}  # fmt: skip
KNOWN_TARGETS = tuple(_SHARED_KIB)
DEFAULT_TARGET = "sm_90"


@dataclass(frozen=True, kw_only=True)
class Target:
    """A GPU architecture as Triton names it; `shared_bytes` is None where the limit is not known."""

    name: str
    backend: str
    architecture: int | str
    warp_size: int
    shared_bytes: int | None


def target_named(name: str) -> Target:
    """The target called `name`: "sm_90", "gfx942".

    Raises:
        UsageError: no such architecture; names the nearest.
    """
    kib = _SHARED_KIB.get(name)
    shared_bytes = kib * 1024 if kib is not None else None
    if match := re.fullmatch(r"sm_(\d{2,3})", name):
        capability = int(match.group(1))
        return Target(name=name, backend="cuda", architecture=capability, warp_size=32, shared_bytes=shared_bytes)
    if re.fullmatch(r"gfx\d+[0-9a-f]{2}", name):
        warp_size = 64 if name.startswith("gfx9") else 32
        return Target(name=name, backend="hip", architecture=name, warp_size=warp_size, shared_bytes=shared_bytes)
    near = difflib.get_close_matches(name, KNOWN_TARGETS, n=1)
    hint = f"did you mean {near[0]}?" if near else f"use one of {', '.join(KNOWN_TARGETS)}"
    raise UsageError(f"{name!r} is no target: expected sm_NN or gfxNNN; {hint}")
