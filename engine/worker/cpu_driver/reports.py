"""Collects the reports on the launches of a call, for the reply."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from engine import protocol
from engine.machine.reports import memory_report_of
from engine.machine.results import AccessKind, MemoryFinding
from engine.protocol.executing import (
    MOST_REPORTS,
    Executed,
    InterpretedKernel,
    MemoryFault,
    MemoryReport,
    TunedKernel,
)
from engine.protocol.probes.repeating import Access, Race

_CONFLICTS = (MemoryFault.CONFLICTING_WRITES, MemoryFault.UNORDERED_READ)
_WORD_CHARACTERS = 500
_Kernel = TypeVar("_Kernel", InterpretedKernel, TunedKernel)


class Reports:
    """Reports on the launches of one call; an interpreted or tuned kernel is reported in the first call that has it."""

    def __init__(self) -> None:
        self._filename = ""
        self._interpreted: dict[str, InterpretedKernel] = {}
        self._tuned: dict[str, TunedKernel] = {}
        self._reported: set[InterpretedKernel | TunedKernel] = set()
        self._memory: list[MemoryReport] = []

    def watch(self, filename: str) -> None:
        """Attribute accesses to lines of this file."""
        self._filename = filename

    def begin(self) -> None:
        """Begin a call."""
        self._memory.clear()

    def note_interpreted(self, kernel: str, reason: str) -> None:
        """Record that Triton's interpreter runs a kernel."""
        self._interpreted.setdefault(
            kernel, InterpretedKernel(kernel=kernel[:_WORD_CHARACTERS], reason=reason[:_WORD_CHARACTERS])
        )

    def note_tuned(self, function: Callable[..., Any], configurations: int) -> None:  # Any: kernels take everything
        """Record that an autotuner of this kernel has chosen one of so many configurations without measuring."""
        if configurations > 1:
            name, code = function.__name__[:_WORD_CHARACTERS], function.__code__
            line = code.co_firstlineno if code.co_filename == self._filename else None
            self._tuned.setdefault(name, TunedKernel(kernel=name, configurations=configurations, line=line))

    def note(self, finding: MemoryFinding, kernel: str, grid: tuple[int, int, int]) -> None:
        """Record a finding of the machine in a launch of `kernel` over `grid`."""
        if len(self._memory) >= MOST_REPORTS:
            return
        report = memory_report_of(finding, kernel, grid, self._filename)
        if report is not None:
            self._memory.append(report)

    def executed(self) -> Executed | None:
        """New reports since the call began; None without any."""
        interpreted, tuned = self._news(self._interpreted), self._news(self._tuned)
        memory = tuple(self._memory)
        if not (interpreted or memory or tuned):
            return None
        return Executed(interpreted=interpreted, memory=memory, tuned=tuned)

    @property
    def race(self) -> protocol.Race | None:
        """The first conflict of the call, as recorded by the race detector; None if there is none."""
        report = next((one for one in self._memory if one.fault in _CONFLICTS and one.other is not None), None)
        if report is None or report.other is None:
            return None
        stores = report.access.access == AccessKind.STORE.value
        first_stores = not stores or report.fault is MemoryFault.CONFLICTING_WRITES
        return Race(
            kernel=report.kernel,
            tensor=report.tensor,
            index=report.index,
            first=Access(stores=first_stores, program=report.other.program, line=report.other.line),
            second=Access(stores=stores, program=report.access.program, line=report.access.line),
        )

    def _news(self, kernels: Mapping[str, _Kernel]) -> tuple[_Kernel, ...]:
        """The kernels that were not reported before."""
        news = tuple(report for report in kernels.values() if report not in self._reported)[:MOST_REPORTS]
        self._reported.update(news)
        return news
