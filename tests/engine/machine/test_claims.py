"""Assumptions and hints that a kernel gives to the compiler: false ones are found, true ones are not."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from engine.machine.results import FindingKind, MemoryFinding
from tests.engine.machine.launching import launching


@triton.jit
def assumes(out_ptr, n):
    pid = tl.program_id(0)
    if pid % 2 == 1:
        for step in range(3):
            tl.assume(pid + step < n)
    tl.store(out_ptr + pid, pid)


def findings_of_assumption(programs: int, bound: int) -> tuple[MemoryFinding, ...]:
    out = torch.full((programs,), -1, dtype=torch.int32)
    with launching() as launched:
        assumes[(programs,)](out, bound)
    assert out.tolist() == list(range(programs))
    return launched.executions[0].findings


def test_false_assumption_counts_its_programs_once() -> None:
    (finding,) = findings_of_assumption(10, 6)
    assert (finding.kind, finding.program, finding.count) == (FindingKind.ASSUMPTION, 5, 3)
    assert finding.location is not None
    assert finding.message == f"false assumption: program 5 at test_claims.py:{finding.location.line} (3 programs)"


def test_assumption_of_programs_that_skip_it_is_not_evaluated() -> None:
    assert findings_of_assumption(10, 12) == ()
    assert findings_of_assumption(1, -7) == ()
