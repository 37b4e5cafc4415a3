"""Collects the reports on the launches of a call, for the reply."""

from __future__ import annotations

from engine import protocol
from engine.machine.ir import SourceLocation
from engine.machine.results import AccessKind, FindingKind, MemoryFinding
from engine.protocol.executing import (
    MOST_REPORTS,
    Executed,
    InterpretedKernel,
    MemoryFault,
    MemoryReport,
    ProgramAccess,
)
from engine.protocol.probes.repeating import Access, Race
from engine.worker.cpu_driver.findings import line_in, program_at

_FAULTS = {
    FindingKind.MISALIGNED: MemoryFault.MISALIGNED,
    FindingKind.UNINITIALIZED: MemoryFault.UNINITIALIZED,
    FindingKind.WRITE_CONFLICT: MemoryFault.CONFLICTING_WRITES,
    FindingKind.READ_CONFLICT: MemoryFault.UNORDERED_READ,
    FindingKind.ASSUMPTION: MemoryFault.FALSE_ASSUMPTION,
    FindingKind.HINT: MemoryFault.FALSE_HINT,
}
_CONFLICTS = (MemoryFault.CONFLICTING_WRITES, MemoryFault.UNORDERED_READ)
_WORD_CHARACTERS = 500


class Reports:
    """Reports on the launches of one call; an interpreted kernel is reported in the first call that launches it."""

    def __init__(self) -> None:
        self._filename = ""
        self._interpreted: dict[str, InterpretedKernel] = {}
        self._reported: set[str] = set()
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

    def note(self, finding: MemoryFinding, kernel: str, grid: tuple[int, int, int]) -> None:
        """Record a finding of the machine in a launch of `kernel` over `grid`."""
        fault = _FAULTS.get(finding.kind)
        if fault is None or len(self._memory) >= MOST_REPORTS:
            return
        other = finding.other_program
        before = None if other is None else self._access("access", other, finding.other_location, grid)
        self._memory.append(
            MemoryReport(
                fault=fault,
                kernel=kernel[:_WORD_CHARACTERS],
                tensor=finding.storage[:_WORD_CHARACTERS],
                index=max(0, finding.element),
                elements=finding.elements,
                count=finding.count,
                access=self._access(finding.access.value, finding.program, finding.location, grid),
                other=before,
                detail=finding.detail[:_WORD_CHARACTERS],
            )
        )

    def executed(self) -> Executed | None:
        """New reports since the call began; None without any."""
        news = tuple(report for name, report in self._interpreted.items() if name not in self._reported)[:MOST_REPORTS]
        self._reported.update(report.kernel for report in news)
        memory = tuple(self._memory)
        return Executed(interpreted=news, memory=memory) if news or memory else None

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

    def _access(
        self, access: str, program: int, location: SourceLocation | None, grid: tuple[int, int, int]
    ) -> ProgramAccess:
        return ProgramAccess(access=access, program=program_at(program, grid), line=line_in(location, self._filename))
