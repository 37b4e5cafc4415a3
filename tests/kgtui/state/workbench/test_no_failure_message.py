"""A case without a failure: that it was right is told apart from that it was not run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.model import Candidate, Outcome, Plan, Tier, Verdict
from engine.model.events import RunFinished
from engine.reports.reducer import reduce_all
from engine.reports.run_record import NO_RUN, RunRecord
from kgtui.state.workbench.no_failure_message import why_nothing_failed
from kgtui.state.workbench.workbench import Shown, Workbench
from tests.kgtui import fakes


@pytest.fixture
def half() -> RunRecord:
    """Five of eight cases are done, of which one is wrong."""
    candidate = Candidate(source=fakes.SOURCE, problem="aten::softmax")
    plan = Plan.for_tiers(fakes.softmax_problem(), tiers=(Tier.SMOKE, Tier.FULL), device="cpu", target=None)
    return reduce_all(NO_RUN, fakes.stops_half_way(candidate, plan))


def bench(view: RunRecord) -> Workbench:
    return Workbench(
        problem=fakes.softmax_problem(),
        path=Path("k.py"),
        saved=fakes.SOURCE,
        device="cpu",
        target=None,
        live=Shown(view=view),
    )


def ended(view: RunRecord, outcome: Outcome, sentence: str) -> RunRecord:
    verdict = Verdict(outcome=outcome, sentence=sentence, passed=4, total=8)
    return reduce_all(view, [RunFinished(at_s=1.0, verdict=verdict)])


def test_passed_case_has_no_failure_message(half: RunRecord) -> None:
    assert why_nothing_failed(bench(half), half.cases[0].case) == (
        f"{half.cases[0].case} did not fail; n shows a case that failed"
    )


def test_case_not_run_is_not_called_passed(half: RunRecord) -> None:
    name = "128x127 f16"
    said = {
        "before": why_nothing_failed(bench(NO_RUN), name),
        "during": why_nothing_failed(bench(half), name),
        "cancelled": why_nothing_failed(bench(ended(half, Outcome.CANCELLED, "cancelled")), name),
        "crashed": why_nothing_failed(bench(ended(half, Outcome.CRASHED, "the worker died")), name),
        "of others": why_nothing_failed(
            bench(ended(replace(half, planned=5), Outcome.WRONG_VALUE, "1 of 5 cases failed")), name
        ),
        "no case": why_nothing_failed(bench(half), None),
    }
    assert said == {
        "before": "128x127 f16 was not run: there is no run yet; r runs the file",
        "during": (
            "128x127 f16 has not run yet: the run is in progress, 5 of 8 cases are done; n shows a case that failed"
        ),
        "cancelled": ("128x127 f16 was not run: the run was cancelled first; a runs this case, r all cases"),
        "crashed": "128x127 f16 was not run: the run ended first: the worker died; n shows a case that failed",
        "of others": (
            "128x127 f16 was not run: this run had other cases; a runs this case, r all cases"
            "; n shows a case that failed"
        ),
        "no case": "no case has run yet; r runs the file",
    }
