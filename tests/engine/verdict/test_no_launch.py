"""A right answer without a launch, by what the operator leaves to the framework."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.model import CaseResult, FrameworkWork, Outcome, OutputReport, Severity, Tier
from engine.verdict.no_launch import no_launch
from tests.operators import find


def result(outcome: Outcome = Outcome.PASS, total: int = 4) -> CaseResult:
    report = OutputReport(name="return", outcome=outcome, total=total)
    return CaseResult(case="one", tier=Tier.SMOKE, outcome=outcome, elapsed_s=0.0, calls=1, seed=1, outputs=(report,))


def test_right_answer_without_a_launch_is_suspect() -> None:
    finding = no_launch(find("softmax"), [result()])
    assert finding is not None
    assert finding.severity is Severity.SUSPECT


def test_idle_case_without_a_launch_is_no_finding() -> None:
    assert no_launch(find("softmax"), [result()], idle=True) is None


def test_launches_of_native_code_are_not_counted() -> None:
    finding = no_launch(find("softmax"), [result()], is_native=True)
    assert finding is not None
    assert finding.severity is Severity.NOTE


@pytest.mark.parametrize("work", FrameworkWork)
def test_operator_left_to_the_framework_needs_no_launch(work: FrameworkWork) -> None:
    finding = no_launch(replace(find("softmax"), framework=(work,)), [result()])
    assert finding is not None
    assert (finding.severity, finding.message) == (
        Severity.NOTE,
        f"no kernel was launched; this operator may be left to PyTorch ({work})",
    )


@pytest.mark.parametrize("one", [result(Outcome.WRONG_VALUE), result(total=0)])
def test_failed_or_empty_case_has_no_launch_finding(one: CaseResult) -> None:
    assert no_launch(find("softmax"), [one]) is None
