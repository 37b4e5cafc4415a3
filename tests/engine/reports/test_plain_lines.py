"""One message of many kernels or cases is one line with their number."""

from __future__ import annotations

import pytest

from engine.model import Finding, Location, Outcome, Severity, Stage
from engine.model.events import CaseProven, FindingRaised, StageFinished
from engine.model.proof import CaseProof, Gap
from engine.reports.plain_lines import KERNEL, JoinedLines, PlainLine
from engine.reports.text import as_plain

KERNELS = 36


def offsets(number: int) -> FindingRaised:
    message = f"part_{number} computes offsets in 32 bits: use tl.int64"
    finding = Finding(check="offsets", severity=Severity.NOTE, message=message, location=Location(line=9 + 7 * number))
    return FindingRaised(at_s=1.0, finding=finding)


def unproven(number: int, *, reason: str = "the host reads results (`Tensor.item`, line 20)") -> CaseProven:
    proof = CaseProof(case=f"case {number}", gap=Gap.HOST_READS, reason=reason)
    return CaseProven(at_s=1.0, number=number, total=KERNELS, proof=proof)


def failed(kernel: str, message: str = "out of shared memory") -> PlainLine:
    text = f"1/2 {kernel} {message}"
    return PlainLine(label=KERNEL, state=Outcome.COMPILE_ERROR, text=text, message=message, of=kernel)


def texts(*lines: PlainLine) -> list[str]:
    joined = JoinedLines()
    printed = [one for line in lines for one in joined.add(line)] + list(joined.end())
    return [line.text for line in printed]


def test_note_of_36_kernels_is_one_line() -> None:
    assert as_plain([offsets(number) for number in range(KERNELS)], file="add.py") == (
        "finding  note offsets add.py:9: part_0 computes offsets in 32 bits: use tl.int64 "
        "(36 times in all, also part_1 in line 16, part_2 in line 23, part_3 in line 30, ...)\n"
    )


def test_reason_of_several_unproven_cases_is_one_line() -> None:
    cases = [unproven(1), unproven(2), unproven(3), unproven(4, reason="inline assembly")]
    assert as_plain(cases, file="add.py").splitlines() == [
        "proof    unproven 1/36 case 1: the host reads results (`Tensor.item`, line 20) "
        "(3 times in all, also case 2, case 3)",
        "proof    unproven 4/36 case 4: inline assembly",
    ]


def test_single_lines_keep_text_and_order() -> None:
    ended = StageFinished(at_s=2.0, stage=Stage.PROVE, outcome=Outcome.PASS, elapsed_s=1.0)
    lines = as_plain([offsets(0), unproven(1), ended, offsets(0)], file="add.py").splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["finding", "proof", "prove", "finding"]
    assert not any("in all" in line for line in lines)


def test_equal_errors_of_kernels_are_joined() -> None:
    assert texts(failed("a"), failed("b"), failed("b"), failed("c", "another")) == [
        "1/2 a out of shared memory (3 times in all, also b)",
        "1/2 c another",
    ]


def test_passing_kernel_ends_a_joined_line() -> None:
    passed = PlainLine(label=KERNEL, state=Outcome.PASS, text="2/2 b")
    assert texts(failed("a"), passed, failed("a")) == [
        "1/2 a out of shared memory",
        "2/2 b",
        "1/2 a out of shared memory",
    ]


@pytest.mark.parametrize("label", ["case", "verify", "log"])
def test_other_lines_come_after_joined_ones(label: str) -> None:
    assert texts(failed("a"), PlainLine(label=label, state="pass", text="other")) == [
        "1/2 a out of shared memory",
        "other",
    ]
