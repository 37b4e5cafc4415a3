"""The headline of a run before and after its verdict."""

from __future__ import annotations

from dataclasses import replace

from engine.model import (
    Candidate,
    Finding,
    Outcome,
    Plan,
    Severity,
    Stage,
    Tier,
)
from engine.model.events import (
    CaseFinished,
    FindingRaised,
    KernelCompiled,
    StageStarted,
    TierFinished,
)
from kgtui.state.format.glyphs import State
from kgtui.state.format.lines import plain_text
from kgtui.state.workbench.next_step import next_step
from kgtui.state.workbench.status import Status, status_of
from kgtui.state.workbench.strip import sentence
from tests.kgtui import fakes
from tests.kgtui.state.strip_lines import CONTEXT, started, view_of


def test_flagged_run_states_reason_first(candidate: Candidate, plan: Plan) -> None:
    assert plain_text((sentence(view_of(fakes.suspicious(candidate, plan)), CONTEXT),)) == (
        "not credible, line 22: torch.softmax computes the answer; the kernel's own result is not used; "
        "right on 8 of 8 cases"
    )


def cases_of(plan: Plan, *, wrong: int = 0, count: int = 8) -> list[CaseFinished]:
    """The first `count` cases of the plan, the last `wrong` of them wrong."""
    right = count - wrong
    results = [fakes.passed(case) if place < right else fakes.wrong(case) for place, case in enumerate(plan.cases)]
    return [
        CaseFinished(at_s=0.2, number=place + 1, total=8, result=result) for place, result in enumerate(results[:count])
    ]


def test_headline_shows_passed_tier(candidate: Candidate, plan: Plan) -> None:
    tier = TierFinished(at_s=0.27, tier=Tier.SMOKE, passed=3, total=3)
    verifying = StageStarted(at_s=0.1, stage=Stage.VERIFY, total=8)
    view = view_of([started(candidate), verifying, *cases_of(plan, count=3), tier])
    assert status_of(view, CONTEXT) == Status(state=State.VERIFYING, detail="3/8, smoke 3/3 passed")
    assert plain_text((sentence(view, CONTEXT),)) == "smoke passed after 0.27 s; 3 of 8 cases run, none failed"


def test_headline_is_failed_with_the_first_failed_case(candidate: Candidate, plan: Plan) -> None:
    verifying = StageStarted(at_s=0.1, stage=Stage.VERIFY, total=8)
    view = view_of([started(candidate), verifying, *cases_of(plan, wrong=1, count=4)])
    assert status_of(view, CONTEXT) == Status(state=State.FAILED, detail="1/8 so far, verifying 4/8", is_active=True)


def test_headline_with_all_cases_right_precedes_builds(candidate: Candidate, plan: Plan) -> None:
    compiling = StageStarted(at_s=0.3, stage=Stage.COMPILE)
    view = view_of([started(candidate), *cases_of(plan), compiling])
    assert status_of(view, CONTEXT) == Status(state=State.PASSED, detail="8/8, compiling 0/0", is_active=True)
    assert next_step(view, CONTEXT).words == "cancel"


def test_headline_with_a_suspect_finding_is_flagged_early(candidate: Candidate, plan: Plan) -> None:
    finding = FindingRaised(at_s=0.3, finding=Finding(check="c", severity=Severity.SUSPECT, message="m"))
    view = view_of([started(candidate), *cases_of(plan), finding])
    assert status_of(view, CONTEXT).state is State.FLAGGED


def test_headline_of_unbuilt_kernel_fails_early(candidate: Candidate, plan: Plan) -> None:
    kernel = replace(fakes.compiled(), outcome=Outcome.COMPILE_ERROR, message="too much shared memory")
    compiled = KernelCompiled(at_s=0.4, number=1, total=3, kernel=kernel)
    view = view_of([started(candidate), *cases_of(plan), StageStarted(at_s=0.3, stage=Stage.COMPILE), compiled])
    assert status_of(view, CONTEXT).state is State.FAILED
    assert plain_text((sentence(view, CONTEXT),)).endswith("does not build for sm_90: too much shared memory")
