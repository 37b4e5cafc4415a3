"""Findings and failed cases from executions of kernels on the CPU: pure functions of one report.

Conflicts between programs, and between warps of one, are computed from the sets of addresses of one execution, so that
they are a proof, and a case with one has failed even if its values are right; so has one with a false assumption, from
which a compiler for a GPU may derive anything.  A GPU stops a kernel at a misaligned access.  Uninitialized memory may
be read and not used, so that it is a hint.  A false `tl.multiple_of` or `tl.max_contiguous` is a note: it may concern
masked elements alone, as those of `offsets % M` in many products of matrices.  Which configuration an autotuner chooses
on a GPU is not known here.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.model import Finding, Location, Outcome, Severity
from engine.protocol.executing import Executed, InterpretedKernel, MemoryFault, MemoryReport, ProgramAccess, TunedKernel
from engine.verdict.decide import Stop

RACE, MEMORY, CLAIM, INTERPRETER, TUNER = "race", "memory_access", "compiler_hint", "interpreter", "autotuner"

_SEVERITIES = {
    MemoryFault.CONFLICTING_WRITES: Severity.PROOF,
    MemoryFault.UNORDERED_READ: Severity.PROOF,
    MemoryFault.UNORDERED_WARPS: Severity.PROOF,
    MemoryFault.MISALIGNED: Severity.PROOF,
    MemoryFault.UNINITIALIZED: Severity.HINT,
    MemoryFault.FALSE_ASSUMPTION: Severity.PROOF,
    MemoryFault.FALSE_HINT: Severity.NOTE,
}
_CLAIMS = (MemoryFault.FALSE_ASSUMPTION, MemoryFault.FALSE_HINT)


def findings_of(executed: Executed, case: str) -> Iterator[Finding]:
    """The findings of the launches of one call."""
    for kernel in executed.interpreted:
        yield _of_interpreted(kernel)
    for tuned in executed.tuned:
        yield _of_tuned(tuned)
    for report in executed.memory:
        yield Finding(
            check=_check(report),
            severity=_SEVERITIES[report.fault],
            message=_sentence(report),
            case=case,
            location=_location(report),
        )


def stop_of(executed: Executed) -> Stop | None:
    """The first fault that fails a case, if any."""
    fault = next((report for report in executed.memory if _SEVERITIES[report.fault] is Severity.PROOF), None)
    if fault is None:
        return None
    return Stop(outcome=Outcome.RUNTIME_ERROR, message=_sentence(fault), location=_location(fault))


def _check(report: MemoryReport) -> str:
    if report.fault in _CLAIMS:
        return CLAIM
    return RACE if report.other is not None else MEMORY


def _location(report: MemoryReport) -> Location | None:
    return Location(line=report.access.line) if report.access.line is not None else None


def _of_interpreted(kernel: InterpretedKernel) -> Finding:
    message = f"{kernel.kernel} ran in Triton's interpreter: {kernel.reason}"
    return Finding(check=INTERPRETER, severity=Severity.NOTE, message=message)


def _of_tuned(tuned: TunedKernel) -> Finding:
    message = (
        f"{tuned.kernel} has {tuned.configurations} configurations: only the first that runs was verified, since an "
        "autotuner measures nothing on the CPU; a GPU may choose another one"
    )
    location = Location(line=tuned.line) if tuned.line is not None else None
    return Finding(check=TUNER, severity=Severity.NOTE, message=message, location=location)


def _sentence(report: MemoryReport) -> str:
    if report.fault is MemoryFault.FALSE_ASSUMPTION:
        return _assumption(report)
    if report.fault is MemoryFault.FALSE_HINT:
        where, program = f"{report.kernel}{_line(report.access)}", report.access.program
        return f"false hint in {where}: {report.detail} in program {program}; a GPU may access other elements"
    element, access, other = f"{report.tensor}[{report.index}]", report.access, report.other
    more = f" ({report.count:,} elements)" if report.count > 1 and report.tensor else ""
    cause = f": {report.detail}" if report.detail else ""
    if other is None:
        return f"{_alone(report, element)}{more}"
    if report.fault is MemoryFault.UNORDERED_WARPS:
        return f"{_between_warps(report, other, element)}{more}"
    if report.fault is MemoryFault.CONFLICTING_WRITES:
        lines = _lines(other, access)
        if other.program == access.program:
            return f"race in {report.kernel}: program {access.program} stores two values to {element}{lines}{more}"
        change = "change" if report.detail else "store different values to"
        programs = f"programs {other.program} and {access.program}"
        return f"race in {report.kernel}: {programs} {change} {element}{lines}{more}{cause}"
    reader, writer = (other, access) if access.access == "store" else (access, other)
    return (
        f"race in {report.kernel}: program {reader.program} loads {element}{_line(reader)}, which program "
        f"{writer.program} stores{_line(writer)} without synchronization{more}{cause}"
    )


def _between_warps(report: MemoryReport, earlier: ProgramAccess, element: str) -> str:
    access = report.access
    first, second = ("loaded", "stored") if access.access == "store" else ("stored", "loaded")
    return (
        f"race in {report.kernel}: {element} is {first}{_line(earlier)} and {second}{_line(access)} by different warps "
        f"of program {access.program} without tl.debug_barrier() between"
    )


def _assumption(report: MemoryReport) -> str:
    access = report.access
    where = f"{report.count:,} programs, the first is {access.program}"
    if report.count == 1:
        where = f"program {access.program}"
    return (
        f"false assumption in {report.kernel}{_line(access)}: the condition of tl.assume is false in {where}; "
        "code compiled for a GPU may rely on it"
    )


def _alone(report: MemoryReport, element: str) -> str:
    access = report.access
    where = f"{access.access} of {element} in {report.kernel}{_line(access)} by program {access.program}"
    if report.fault is MemoryFault.UNINITIALIZED:
        return f"uninitialized memory: {where}, which was never written"
    if not report.tensor:
        where = f"in {report.kernel}{_line(access)} by program {access.program}"
        return f"misaligned tensor descriptor {where}: {report.detail}; on a GPU it needs multiples of 16 bytes"
    return f"misaligned {where}: {report.detail}; a GPU stops the kernel there"


def _line(access: ProgramAccess) -> str:
    return f" at line {access.line}" if access.line is not None else ""


def _lines(one: ProgramAccess, other: ProgramAccess) -> str:
    if one.line is None or other.line is None or one.line == other.line:
        return _line(one if one.line is not None else other)
    return f" at lines {one.line} and {other.line}"
