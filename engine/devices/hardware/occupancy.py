"""How many warps of a compiled kernel fit on one multiprocessor, and which resource limits them.

Arithmetic on the compiler's figures, so it needs no GPU.  The limits are those of the CUDA C++ Programming Guide
(technical specifications per compute capability); registers are allocated a warp at a time within one of four
partitions, as in NVIDIA's own occupancy calculation.  A target without a row, and a kernel with unknown resources, have
no occupancy: nothing is guessed.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from engine.model import CompiledKernel, Outcome

_REGISTERS = 65536  # per multiprocessor, on every supported target
_PARTITIONS = 4
_WARP_THREADS = 32
_WARP_REGISTERS = 256  # allocation granularity


class Limit(enum.StrEnum):
    """The resource that is used up first."""

    WARPS = "warps"
    BLOCKS = "blocks"
    REGISTERS = "registers"
    SHARED_MEMORY = "shared memory"


@dataclass(frozen=True, kw_only=True)
class Occupancy:
    """Occupancy of one multiprocessor by one kernel, when the grid is large enough to fill it.

    `blocks` and `warps` can be resident at once, of at most `max_warps`.  0 of them means that not even one block fits:
    the launch would fail.
    """

    blocks: int
    warps: int
    max_warps: int
    limited_by: Limit

    @property
    def percent(self) -> float:
        """Resident warps in percent of the target's maximum."""
        return 100.0 * self.warps / self.max_warps


@dataclass(frozen=True, kw_only=True)
class _Multiprocessor:
    """Resources of one multiprocessor; `reserved_bytes` of shared memory are the driver's in each block."""

    warps: int
    blocks: int
    shared_kib: int
    reserved_bytes: int = 1024
    shared_step_bytes: int = 128


_MULTIPROCESSORS = {
    "sm_75": _Multiprocessor(warps=32, blocks=16, shared_kib=64, reserved_bytes=0, shared_step_bytes=256),
    "sm_80": _Multiprocessor(warps=64, blocks=32, shared_kib=164),
    "sm_86": _Multiprocessor(warps=48, blocks=16, shared_kib=100),
    "sm_87": _Multiprocessor(warps=48, blocks=16, shared_kib=164),
    "sm_89": _Multiprocessor(warps=48, blocks=24, shared_kib=100),
    "sm_90": _Multiprocessor(warps=64, blocks=32, shared_kib=228),
    "sm_100": _Multiprocessor(warps=64, blocks=32, shared_kib=228),
    "sm_103": _Multiprocessor(warps=64, blocks=32, shared_kib=228),
    "sm_120": _Multiprocessor(warps=48, blocks=24, shared_kib=100),
    "sm_121": _Multiprocessor(warps=48, blocks=24, shared_kib=100),
}


def occupancy(kernel: CompiledKernel) -> Occupancy | None:
    """The theoretical occupancy of `kernel`, or None when it cannot be determined.

    None for a target that is not in the table, a kernel that did not compile or whose registers or shared memory are
    unknown, and for blocks in clusters, which are placed by other rules.  Counts the warps of the launch; additional
    ones of a warp-specialised kernel are not known here.  If two limits are equal, the hardware's own is named: saving
    the other would gain nothing.
    """
    processor = _MULTIPROCESSORS.get(kernel.target)
    if processor is None or kernel.outcome is not Outcome.PASS or kernel.launch.options.get("num_ctas", "1") != "1":
        return None
    warps = kernel.launch.num_warps
    if kernel.registers is None or kernel.shared_bytes is None or warps < 1:
        return None
    blocks_by_limit = {
        Limit.WARPS: processor.warps // warps,
        Limit.BLOCKS: processor.blocks,
        Limit.REGISTERS: _blocks_by_registers(kernel.registers, warps),
        Limit.SHARED_MEMORY: _blocks_by_shared_memory(kernel.shared_bytes, processor),
    }
    limit = min(blocks_by_limit, key=lambda limit: blocks_by_limit[limit])  # the first of equal limits
    blocks = blocks_by_limit[limit]
    return Occupancy(blocks=blocks, warps=blocks * warps, max_warps=processor.warps, limited_by=limit)


def _blocks_by_registers(registers: int, warps: int) -> int:
    """Number of blocks of `warps` that fit by registers: each partition has whole warps only."""
    warp_registers = _rounded_up(max(registers, 1) * _WARP_THREADS, _WARP_REGISTERS)
    return _REGISTERS // _PARTITIONS // warp_registers * _PARTITIONS // warps


def _blocks_by_shared_memory(shared_bytes: int, processor: _Multiprocessor) -> int:
    """Number of blocks that fit by shared memory; each one also needs the driver's reserved part."""
    capacity_bytes = processor.shared_kib * 1024
    block_bytes = _rounded_up(shared_bytes + processor.reserved_bytes, processor.shared_step_bytes)
    return capacity_bytes // max(block_bytes, 1)


def _rounded_up(amount: int, step: int) -> int:
    return -(-amount // step) * step
