"""Targets that a launch can be compiled for, on any machine: their names, and the limits that Triton does not check.

Shared memory per block after opt-in: CUDA C++ Programming Guide, table of technical specifications per
compute capability; LDS per workgroup: the AMD GPU user guide of LLVM and the CDNA and RDNA ISA documents.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.errors import UsageError

NVIDIA_BACKEND = "cuda"  # Triton's name of the backend
_SHARED_KIB = {
    "sm_75": 64, "sm_80": 163, "sm_86": 99, "sm_87": 163, "sm_89": 99, "sm_90": 227, "sm_100": 227, "sm_103": 227,
    "sm_120": 99, "sm_121": 99,
    "gfx908": 64, "gfx90a": 64, "gfx942": 64, "gfx950": 160, "gfx1100": 64, "gfx1101": 64, "gfx1200": 64, "gfx1201": 64,
}  # fmt: skip
# The same for every compute capability since 3.0; every GPU of the table above takes 1,024 threads per block.
_CUDA_GRID = (2**31 - 1, 65_535, 65_535)
KNOWN_TARGETS = tuple(_SHARED_KIB)
DEFAULT_TARGET = "sm_90"
# Further targets of Triton 3.6 or 3.9, tried one by one: all others end in an error of LLVM or
# of ptxas, the same for every kernel, or in an abort of the compiler.
_OTHER_TARGETS = frozenset({
    "sm_50", "sm_52", "sm_53", "sm_60", "sm_61", "sm_62", "sm_70", "sm_72", "sm_101", "sm_107", "sm_110",
    "gfx906", "gfx1010", "gfx1011", "gfx1012", "gfx1013", "gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034",
    "gfx1035", "gfx1036", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153", "gfx1170", "gfx1171",
    "gfx1172", "gfx1250", "gfx1251",
})  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Target:
    """A GPU architecture as Triton names it; `shared_bytes` is None if the limit is unknown."""

    name: str
    backend: str
    architecture: int | str
    warp_size: int
    shared_bytes: int | None
    threads_per_block: int = 1024
    grid: tuple[int, int, int] | None = None
    """The most programs on each axis of a launch; None if the limits are unknown."""


def asked_target(name: str) -> Target:
    """The requested target `name`: one that some version of Triton supports.

    Raises:
        UsageError: there is no such target; the message lists the usual ones, or the nearest name.
    """
    target = target_named(name)
    if name not in _SHARED_KIB and name not in _OTHER_TARGETS:
        raise UsageError(f"unsupported target {name!r}; use one of {', '.join(KNOWN_TARGETS)}")
    return target


def target_named(name: str) -> Target:
    """The target with this name, "sm_90" or "gfx942"; it may be a device's that no Triton supports yet.

    Raises:
        UsageError: no architecture has a name of this form; the message has the nearest.
    """
    kib = _SHARED_KIB.get(name)
    shared_bytes = kib * 1024 if kib is not None else None
    if match := re.fullmatch(r"sm_(\d{2,3})", name):
        capability = int(match.group(1))
        return Target(
            name=name,
            backend=NVIDIA_BACKEND,
            architecture=capability,
            warp_size=32,
            shared_bytes=shared_bytes,
            grid=_CUDA_GRID,
        )
    if re.fullmatch(r"gfx\d+[0-9a-f]{2}", name):
        warp_size = 64 if name.startswith("gfx9") else 32
        return Target(name=name, backend="hip", architecture=name, warp_size=warp_size, shared_bytes=shared_bytes)
    import difflib  # only for a wrong name

    near = difflib.get_close_matches(name, KNOWN_TARGETS, n=1)
    hint = f"did you mean {near[0]}?" if near else f"use one of {', '.join(KNOWN_TARGETS)}"
    raise UsageError(f"unknown target {name!r}: expected sm_NN or gfxNNN; {hint}")
