"""Faults of executions become findings with one sentence, and those that are proofs fail the case."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.model import Finding, Location, Outcome, Severity
from engine.protocol.executing import Executed, InterpretedKernel, MemoryFault, MemoryReport, ProgramAccess, TunedKernel
from engine.verdict.decide import Stop
from engine.verdict.executed_launches import findings_of, stop_of

RACE = "race in k: programs (0, 0, 0) and (1, 0, 0) store different values to out[8] at lines 5 and 7 (3 elements)"


def access(kind: str, number: int, line: int | None) -> ProgramAccess:
    return ProgramAccess(access=kind, program=(number, 0, 0), line=line)


def report(
    fault: MemoryFault, now: ProgramAccess, other: ProgramAccess | None = None, *, count: int = 1, detail: str = ""
) -> MemoryReport:
    return MemoryReport(
        fault=fault, kernel="k", tensor="out", index=8, elements=16, count=count, access=now, other=other, detail=detail
    )


WRITES = report(MemoryFault.CONFLICTING_WRITES, access("store", 1, 7), access("access", 0, 5), count=3)
TWO_LANES = report(MemoryFault.CONFLICTING_WRITES, access("store", 1, 7), access("store", 1, 7))
LATE_READ = report(MemoryFault.UNORDERED_READ, access("load", 1, 7), access("access", 0, 5))
LATE_WRITE = report(MemoryFault.UNORDERED_READ, access("store", 1, 7), access("access", 0, 5))
WARPS_LOAD = report(MemoryFault.UNORDERED_WARPS, access("load", 1, 7), access("access", 1, 5))
WARPS_STORE = report(MemoryFault.UNORDERED_WARPS, access("store", 1, 7), access("access", 1, None), count=4)
SCOPED_WRITES = replace(WRITES, detail="not atomic")
SCOPED_READ = replace(LATE_READ, detail="not atomic")
UNWRITTEN = report(MemoryFault.UNINITIALIZED, access("load", 1, 7))
MISALIGNED = report(MemoryFault.MISALIGNED, access("store", 1, None), detail="address 0x41 is odd")
ASSUMPTION = MemoryReport(
    fault=MemoryFault.FALSE_ASSUMPTION, kernel="k", tensor="", index=0, elements=0, count=3, access=access("load", 1, 7)
)
ONE_ASSUMPTION = replace(ASSUMPTION, count=1, access=access("load", 1, None))
FALSE_HINT = replace(ASSUMPTION, fault=MemoryFault.FALSE_HINT, detail="tl.multiple_of(i, 4) is false: it is 3")


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (WRITES, RACE),
        (TWO_LANES, "race in k: program (1, 0, 0) stores two values to out[8] at line 7"),
        (LATE_READ, "race in k: program (1, 0, 0) loads out[8] at line 7, which program (0, 0, 0) stores at line 5 "
         "without synchronization"),
        (LATE_WRITE, "race in k: program (0, 0, 0) loads out[8] at line 5, which program (1, 0, 0) stores at line 7 "
         "without synchronization"),
        (WARPS_LOAD, "race in k: out[8] is stored at line 5 and loaded at line 7 by different warps of program "
         "(1, 0, 0) without tl.debug_barrier() between"),
        (WARPS_STORE, "race in k: out[8] is loaded and stored at line 7 by different warps of program (1, 0, 0) "
         "without tl.debug_barrier() between (4 elements)"),
        (SCOPED_WRITES, "race in k: programs (0, 0, 0) and (1, 0, 0) change out[8] at lines 5 and 7 (3 elements): "
         "not atomic"),
        (SCOPED_READ, "race in k: program (1, 0, 0) loads out[8] at line 7, which program (0, 0, 0) stores at line 5 "
         "without synchronization: not atomic"),
        (UNWRITTEN, "uninitialized memory: load of out[8] in k at line 7 by program (1, 0, 0), which was "
         "never written"),
        (MISALIGNED, "misaligned store of out[8] in k by program (1, 0, 0): address 0x41 is odd; "
         "a GPU stops the kernel there"),
        (replace(MISALIGNED, tensor="", count=3), "misaligned tensor descriptor in k by program (1, 0, 0): address "
         "0x41 is odd; on a GPU it needs multiples of 16 bytes"),
        (ASSUMPTION, "false assumption in k at line 7: the condition of tl.assume is false in 3 programs, the first is "
         "(1, 0, 0); code compiled for a GPU may rely on it"),
        (ONE_ASSUMPTION, "false assumption in k: the condition of tl.assume is false in program (1, 0, 0); "
         "code compiled for a GPU may rely on it"),
        (FALSE_HINT, "false hint in k at line 7: tl.multiple_of(i, 4) is false: it is 3 in program (1, 0, 0); "
         "a GPU may access other elements"),
    ],
    ids=[
        "writes", "two lanes", "late read", "late write", "warps load", "warps store",
        "scoped writes", "scoped read", "unwritten", "misaligned", "descriptor",
        "assumption", "one program", "hint",
    ],
)  # fmt: skip
def test_fault_names_element_programs_and_lines(found: MemoryReport, message: str) -> None:
    (finding,) = findings_of(Executed(memory=(found,)), "4x4")
    assert (finding.message, finding.case) == (message, "4x4")


@pytest.mark.parametrize(
    ("found", "check", "severity"),
    [
        (WRITES, "race", Severity.PROOF),
        (LATE_READ, "race", Severity.PROOF),
        (UNWRITTEN, "memory_access", Severity.HINT),
        (MISALIGNED, "memory_access", Severity.PROOF),
        (ASSUMPTION, "compiler_hint", Severity.PROOF),
        (FALSE_HINT, "compiler_hint", Severity.NOTE),
    ],
)
def test_fault_has_the_weight_of_its_certainty(found: MemoryReport, check: str, severity: Severity) -> None:
    (finding,) = findings_of(Executed(memory=(found,)), "4x4")
    assert (finding.check, finding.severity) == (check, severity)


def test_race_fails_the_case_at_its_line() -> None:
    stop = stop_of(Executed(memory=(UNWRITTEN, WRITES)))
    assert stop == Stop(outcome=Outcome.RUNTIME_ERROR, message=RACE, location=Location(line=7))


def test_false_assumption_fails_the_case_at_its_line() -> None:
    stop = stop_of(Executed(memory=(UNWRITTEN, ASSUMPTION)))
    assert stop is not None
    assert (stop.outcome, stop.location) == (Outcome.RUNTIME_ERROR, Location(line=7))


def test_uninitialized_read_alone_fails_no_case() -> None:
    assert stop_of(Executed(memory=(UNWRITTEN,))) is None


def test_interpreted_kernel_is_a_note_with_the_operation() -> None:
    kernel = InterpretedKernel(kernel="k", reason="a.py:7: tt.elementwise_inline_asm: inline assembly is not executed")
    assert list(findings_of(Executed(interpreted=(kernel,)), "4x4")) == [
        Finding(
            check="interpreter",
            severity=Severity.NOTE,
            message="k ran in Triton's interpreter: a.py:7: tt.elementwise_inline_asm: inline assembly is not executed",
        )
    ]


def test_configurations_of_a_tuner_are_a_note() -> None:
    executed = Executed(tuned=(TunedKernel(kernel="k", configurations=3, line=7),))
    (finding,) = findings_of(executed, "one")
    assert (finding.check, finding.severity, finding.location) == ("autotuner", Severity.NOTE, Location(line=7))
    assert finding.message.startswith("k has 3 configurations: only the first that runs was verified")
    assert stop_of(executed) is None
