"""A CPU worker's report on the launches of a call: kernels that were interpreted or tuned, and facts about memory.

It is a claim of the worker about its candidate: it can only count against it.
"""

from __future__ import annotations

import enum
from typing import Annotated

import msgspec

from engine.protocol.messages import Count, LineNumber, Message, Word

MOST_REPORTS = 64
"""Of interpreted kernels, of tuned kernels and of memory reports in one reply."""


class MemoryFault(enum.StrEnum):
    """A wrong access, or a false claim to the compiler, that did not stop its launch."""

    MISALIGNED = "misaligned"
    UNINITIALIZED = "uninitialized"
    CONFLICTING_WRITES = "conflicting_writes"
    UNORDERED_READ = "unordered_read"
    UNORDERED_WARPS = "unordered_warps"
    FALSE_ASSUMPTION = "false_assumption"
    FALSE_HINT = "false_hint"


class ProgramAccess(Message, frozen=True):
    """A load, store or atomic of one program; the line is None if it is not in the candidate's file."""

    access: Word
    program: tuple[Count, Count, Count]
    line: LineNumber | None


class MemoryReport(Message, frozen=True):
    """Faulty accesses of one operation to one tensor: the first of `count` elements.

    `index` counts from the start of the storage of `tensor`, which has `elements`; `other` is the earlier access of a
    conflict, `detail` what the machine adds.  A claim has no tensor: `count` is its number of programs.
    """

    fault: MemoryFault
    kernel: Word
    tensor: Word
    index: Count
    elements: Count
    count: Count
    access: ProgramAccess
    other: ProgramAccess | None = None
    detail: Word = ""


class InterpretedKernel(Message, frozen=True):
    """A kernel that Triton's interpreter ran; `reason` names what the machine does not support, with its line."""

    kernel: Word
    reason: Word


class TunedKernel(Message, frozen=True):
    """A kernel whose autotuner has several configurations, of which it chose the first that runs."""

    kernel: Word
    configurations: Count
    line: LineNumber | None


class Executed(Message, frozen=True):
    """New facts about the launches of a call."""

    interpreted: Annotated[tuple[InterpretedKernel, ...], msgspec.Meta(max_length=MOST_REPORTS)] = ()
    memory: Annotated[tuple[MemoryReport, ...], msgspec.Meta(max_length=MOST_REPORTS)] = ()
    tuned: Annotated[tuple[TunedKernel, ...], msgspec.Meta(max_length=MOST_REPORTS)] = ()
