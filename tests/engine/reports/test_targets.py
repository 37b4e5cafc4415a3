"""What the builds of one target come to."""

from __future__ import annotations

import pytest

from engine.model import CompiledKernel, Launch, Outcome
from engine.reports.targets import TargetReport

LAUNCH = Launch(
    kernel="k", signature={}, constants={}, divisible_by_16=(), num_warps=4, num_stages=3, grid=(1,), line=1
)
PASS, FAILED, UNSUPPORTED = Outcome.PASS, Outcome.COMPILE_ERROR, Outcome.UNSUPPORTED


@pytest.mark.parametrize(
    ("outcomes", "first_failed", "outcome"),
    [
        ((), None, None),
        ((PASS,), None, None),
        ((PASS, PASS), None, PASS),
        ((PASS, FAILED), 1, FAILED),
        ((UNSUPPORTED, PASS), 0, UNSUPPORTED),
        ((UNSUPPORTED, FAILED), 1, FAILED),
    ],
)
def test_known_failure_comes_before_what_was_not_checked(
    outcomes: tuple[Outcome, ...], first_failed: int | None, outcome: Outcome | None
) -> None:
    kernels = tuple(CompiledKernel(launch=LAUNCH, target="sm_80", outcome=one, elapsed_s=0.1) for one in outcomes)
    report = TargetReport(target="sm_80", launches=2, kernels=kernels)
    assert report.first_failed is (None if first_failed is None else kernels[first_failed])
    assert report.outcome is outcome
    assert report.built == tuple(one for one in kernels if one.outcome is PASS)


def test_target_without_launches_has_no_outcome() -> None:
    assert TargetReport(target="sm_80", launches=0, kernels=()).outcome is None
