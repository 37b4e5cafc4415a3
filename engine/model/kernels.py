"""Launches of kernels, and their compiled forms.

Frozen, keyword-only, checked when they are made.  No torch here.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.model.results import Location, Outcome

SECTOR_BYTES = 32
"""The smallest transfer of a GPU between its second-level cache and a multiprocessor."""


class TrafficKind(enum.StrEnum):
    """Kind of a memory operation."""

    LOAD = "load"
    STORE = "store"
    ATOMIC = "atomic"


@dataclass(frozen=True, kw_only=True)
class AccessTraffic:
    """Bytes moved by one load, store or atomic of a launch, summed over its programs; masked lanes are not counted.

    `executions` counts each program that executed it.  `requested_bytes` counts every lane; `distinct_bytes` and
    `sectors` (of 32 bytes) are those that one program accesses in one execution, as if its block were one request:
    there are no warps and no caches.  The line is None if it is not in the kernel's file.
    """

    kind: TrafficKind
    line: int | None
    tensors: tuple[str, ...]
    executions: int
    requested_bytes: int
    distinct_bytes: int
    sectors: int

    @property
    def used_percent(self) -> float | None:
        """Used share of the bytes of all accessed sectors: 100 is coalesced; None without a sector."""
        return 100 * self.distinct_bytes / (self.sectors * SECTOR_BYTES) if self.sectors else None


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """Work of a launch on the machine: its memory accesses, and elements computed by each operation of TTIR."""

    programs: int
    accesses: tuple[AccessTraffic, ...]
    operations: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class Launch:
    """One specialisation of one kernel, as it was launched.

    `signature` maps argument names to Triton types ("*fp32", "i32", "constexpr"), `constants` the constexprs to their
    Python literals, `divisible_by_16` names the arguments that Triton would specialise on, `count` is the number of
    launches.  `traffic` is that of its first launch, None if the machine did not execute it.  `closure` has the free
    variables of the kernel's function, which distinguish kernels made from one text.  `generated_source` is the text of
    the file that defines the kernel if the candidate wrote that file itself, "" otherwise.  A kernel of a CUDA
    extension has no signature, warps or stages (0): its host code launches it.
    """

    kernel: str
    signature: Mapping[str, str]
    constants: Mapping[str, str]
    divisible_by_16: tuple[str, ...]
    num_warps: int
    num_stages: int
    grid: tuple[int, ...]
    line: int
    count: int = 1
    options: Mapping[str, str] = field(default_factory=dict)
    traffic: Traffic | None = None
    closure: str = ""
    generated_source: str = ""


def specialisation(launch: Launch) -> tuple[object, ...]:
    """The key by which compiled forms of kernels differ: everything of a launch but grid, count and traffic."""
    return (
        launch.kernel,
        launch.line,
        tuple(launch.signature.items()),
        tuple(launch.constants.items()),
        launch.divisible_by_16,
        launch.num_warps,
        launch.num_stages,
        tuple(launch.options.items()),
        launch.closure,
        launch.generated_source,
    )


@dataclass(frozen=True, kw_only=True)
class Artefact:
    """A stored text or binary: `kind` is ttir, ttgir, llir, ptx, amdgcn, cubin, hsaco or sass."""

    kind: str
    digest: str
    bytes: int


@dataclass(frozen=True, kw_only=True)
class CompiledKernel:
    """A launch compiled for a target.  Resources are None where the target's tools do not report them.

    `narrow_offset_line` is the first line with a product of at most 32 bits in an address, None without one.
    """

    launch: Launch
    target: str
    outcome: Outcome
    elapsed_s: float
    message: str = ""
    location: Location | None = None
    registers: int | None = None
    spill_bytes: int | None = None
    shared_bytes: int | None = None
    narrow_offset_line: int | None = None
    artefacts: tuple[Artefact, ...] = ()
