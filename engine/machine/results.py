"""Report of an execution: memory findings, facts of each load and store, counts, prints.  Pure records."""

from __future__ import annotations

import enum
from collections.abc import Mapping

import msgspec

from engine.machine.ir import SourceLocation

_LIBRARY = "triton/language"  # functions of tl.* carry locations in Triton's own files


class FindingKind(enum.Enum):
    """Kind of a wrong access or claim."""

    OUT_OF_BOUNDS = "out of bounds"
    MISALIGNED = "misaligned"
    UNINITIALIZED = "uninitialized read"
    WRITE_CONFLICT = "conflicting writes"
    READ_CONFLICT = "unsynchronized read"
    WARP_CONFLICT = "unsynchronized warps"
    ASSERTION = "device assertion failed"
    ASSUMPTION = "false assumption"
    HINT = "false hint"


class AccessKind(enum.Enum):
    """Kind of a memory operation."""

    LOAD = "load"
    STORE = "store"
    ATOMIC = "atomic"


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of one execution; each is checked before the work is done.

    `steps` counts executions of operations per chunk of programs; `chunk_elements` bounds the elements of a kernel's
    largest tensor over a chunk, and determines how many programs run together.
    """

    steps: int = 20_000_000
    programs: int = 1 << 24
    tensor_elements: int = 1 << 20
    elements: int = 1 << 40
    chunk_elements: int = 1 << 18
    findings: int = 64
    printed_lines: int = 1000


class MemoryFinding(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of wrong access of one operation to one storage; the first element and program of `count` ones.

    Programs are numbered over the whole grid, x fastest.  `other_program` and `other_location` name the second access
    of a conflict; `element` counts from the start of the storage in elements of its type.  A claim has no storage, and
    `count` is the number of programs.
    """

    kind: FindingKind
    access: AccessKind
    storage: str
    element: int
    elements: int
    program: int
    location: SourceLocation | None
    other_program: int | None = None
    other_location: SourceLocation | None = None
    count: int = 1
    detail: str = ""

    @property
    def message(self) -> str:
        """One sentence: kind, access, element, programs and lines."""
        if self.kind in (FindingKind.ASSUMPTION, FindingKind.HINT):
            more = f": {self.detail}" if self.detail else f" ({self.count:,} programs)" if self.count > 1 else ""
            return f"{self.kind.value}: program {self.program} at {place(self.location)}{more}"
        where = f"{self.access.value} of {self.storage}[{self.element}]" if self.storage else self.access.value
        text = f"{self.kind.value}: {where} by program {self.program} at {place(self.location)}"
        if self.kind is FindingKind.OUT_OF_BOUNDS and self.storage:
            text += f"; the tensor has {self.elements:,} elements"
        if self.other_program is not None:
            text += f" and program {self.other_program} at {place(self.other_location)}"
        if self.detail:
            text += f": {self.detail}"
        return text + (f" ({self.count:,} elements)" if self.count > 1 else "")


class AccessFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes of one load, store or atomic, summed over programs and executions; masked lanes are not counted.

    `requested_bytes` counts each lane; `distinct_bytes` and `sectors` count the different bytes and 32-byte sectors
    that one program accesses in one execution, as if the whole block were one request: no warps, no caches.
    """

    kind: AccessKind
    location: SourceLocation | None
    storages: tuple[str, ...]
    executions: int
    requested_bytes: int
    distinct_bytes: int
    sectors: int


class Execution(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a launch; when `is_complete` is false the last finding stopped it and memory is unchanged.

    `is_reordered` is whether its programs ran in another than the ascending order.
    """

    is_complete: bool
    programs: int
    findings: tuple[MemoryFinding, ...]
    accesses: tuple[AccessFacts, ...]
    elements_by_operation: Mapping[str, int]
    printed: tuple[str, ...]
    is_reordered: bool


def kernel_line(location: SourceLocation | None) -> SourceLocation | None:
    """The innermost location outside of Triton's library, else the location itself; None if it is unknown."""
    if location is None:
        return None
    for candidate in (location, *location.callers):
        if _LIBRARY not in candidate.file:
            return candidate
    return location


def place(location: SourceLocation | None) -> str:
    """`softmax.py:12`, or words if no location is known."""
    line = kernel_line(location)
    return f"{line.file.rpartition('/')[2]}:{line.line}" if line is not None else "an unknown line"
