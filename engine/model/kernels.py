"""Launches of kernels, and what they were compiled to.

Frozen, keyword-only, checked when they are made.  No torch here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.model.results import Location, Outcome


@dataclass(frozen=True, kw_only=True)
class Launch:
    """One specialisation of one kernel, as it was launched.

    `signature` maps argument names to Triton types ("*fp32", "i32", "constexpr"), `constants` the
    constexprs to their Python literals, `divisible_by_16` names the arguments that Triton would
    specialise on, `count` is how often it was launched.
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


def specialisation(launch: Launch) -> tuple[object, ...]:
    """What tells two compiled forms of kernels apart: everything of a launch but its grid and its count."""
    return (
        launch.kernel,
        launch.line,
        tuple(launch.signature.items()),
        tuple(launch.constants.items()),
        launch.divisible_by_16,
        launch.num_warps,
        launch.num_stages,
        tuple(launch.options.items()),
    )


@dataclass(frozen=True, kw_only=True)
class Artefact:
    """A stored text or binary: `kind` is ttir, ttgir, llir, ptx, amdgcn, cubin, hsaco or sass."""

    kind: str
    digest: str
    bytes: int


@dataclass(frozen=True, kw_only=True)
class CompiledKernel:
    """A launch compiled for a target.  Resources are None where the target's tools do not tell them.

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
