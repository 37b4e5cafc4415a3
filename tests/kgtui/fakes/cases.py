"""Results of single cases: passed, wrong at the end of a row, read out of bounds."""

from __future__ import annotations

from engine.model import (
    Case,
    CaseResult,
    Location,
    Outcome,
    OutOfBounds,
    OutputReport,
    WrongElement,
)

WRONG_TAIL = OutputReport(
    name="return",
    outcome=Outcome.WRONG_VALUE,
    message="127 of 16,256 elements are out of tolerance",
    shape=(127, 128),
    dtype="float32",
    mismatched=127,
    total=16256,
    nonfinite_got=127,
    nonfinite_expected=0,
    max_absolute_error=3.1e-2,
    max_relative_error=0.98,
    max_ulp_error=262144.0,
    worst=WrongElement(index=(3, 127), expected="0.031622776", got="nan"),
    first_wrong=(0, 127),
    last_wrong=(126, 127),
    error_map=tuple("." * 31 + sign for sign in "999999#99999999#"),
)


def passed(case: Case, seed: int = 7) -> CaseResult:
    """A case that passed."""
    return CaseResult(
        case=case.name, tier=case.tier, outcome=Outcome.PASS, elapsed_s=0.004, calls=2, seed=seed,
        outputs=(OutputReport(name="return", outcome=Outcome.PASS, shape=(1, 1), dtype=case.dtype, total=1,
                              max_absolute_error=2.4e-7, max_relative_error=1.1e-6, max_ulp_error=2.0),),
    )  # fmt: skip


def wrong(case: Case, report: OutputReport = WRONG_TAIL) -> CaseResult:
    """A case whose last column is wrong."""
    return CaseResult(
        case=case.name,
        tier=case.tier,
        outcome=Outcome.WRONG_VALUE,
        elapsed_s=0.006,
        calls=2,
        seed=11,
        message="127 of 16,256 elements differ, worst at [3, 127]",
        location=Location(line=12),
        outputs=(report,),
    )


def out_of_bounds(case: Case) -> CaseResult:
    """A case that read past the end of a tensor."""
    return CaseResult(
        case=case.name, tier=case.tier, outcome=Outcome.RUNTIME_ERROR, elapsed_s=0.002, calls=1, seed=3,
        message="load out of bounds", location=Location(line=12),
        out_of_bounds=OutOfBounds(access="load", kernel="softmax_kernel", tensor="x_ptr", index=16256, elements=16256,
                                  program=(126, 0, 0), location=Location(line=12)),
    )  # fmt: skip
