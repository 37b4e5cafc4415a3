"""Strips of runs that are probed, were cut short, or are not finished."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.model import (
    Candidate,
    Location,
    Outcome,
    Plan,
    Stage,
    Verdict,
)
from engine.model.events import (
    StageFinished,
    StageStarted,
)
from engine.reports.run_record import NO_RUN, RunRecord
from kgtui.state.format.glyphs import UNICODE, State
from kgtui.state.format.lines import plain_text
from kgtui.state.workbench.status import Status, status_of
from kgtui.state.workbench.strip import head, progress, sentence
from tests.kgtui import fakes
from tests.kgtui.fakes import timed_runs
from tests.kgtui.state.strip_lines import CONTEXT, view_of


def probed(candidate: Candidate, *, ended: bool) -> RunRecord:
    """A run that two of five cases are timed of, or one that is being probed."""
    plan = timed_runs.bench_plan(timed_runs.timed_problem())
    reported = list(timed_runs.times_two_of_five(candidate, plan))
    verified = next(
        at for at, event in enumerate(reported) if isinstance(event, StageFinished) and event.stage is Stage.VERIFY
    )
    began = StageStarted(at_s=0.2, stage=Stage.PROBE)
    if not ended:
        return view_of([*reported[: verified + 1], began])
    passed = StageFinished(at_s=0.25, stage=Stage.PROBE, outcome=Outcome.PASS, elapsed_s=0.05)
    return view_of([*reported[: verified + 1], began, passed, *reported[verified + 1 :]])


def test_probed_run_shows_probes(candidate: Candidate) -> None:
    view = probed(candidate, ended=False)
    assert status_of(view, CONTEXT) == Status(state=State.PASSED, detail="8/8, probing", is_active=True)
    assert plain_text((progress(view, UNICODE, short=True), sentence(view, CONTEXT))) == (
        "verify 8/8 0.14s ✔ ▸ PROBE ▸ compile – ▸ bench –\n8/8 cases passed; probing"
    )


def test_finished_probes_are_in_strip_if_space_allows(candidate: Candidate) -> None:
    view = probed(candidate, ended=True)
    assert plain_text((progress(view, UNICODE, short=True),)) == (
        "verify 8/8 0.14s ✔ ▸ probe 50ms ✔ ▸ compile 1/1 0.22s ✔ ▸ BENCH 2/5"
    )
    assert plain_text((progress(view, UNICODE, short=True, timed=False),)) == "verify 8/8 ✔ ▸ compile 1/1 ✔ ▸ BENCH 2/5"


@pytest.mark.parametrize(
    ("outcomes", "reported"),
    [
        ((Outcome.WRONG_VALUE, Outcome.NONFINITE), "VERIFY 8/8 2 wrong"),
        ((Outcome.CRASHED,), "VERIFY 8/8 1 failed"),
        ((Outcome.RUNTIME_ERROR, Outcome.WRONG_VALUE), "VERIFY 8/8 2 failed"),
    ],
)
def test_case_without_output_is_failed_not_wrong(
    outcomes: tuple[Outcome, ...], reported: str, candidate: Candidate, plan: Plan
) -> None:
    results = [fakes.passed(case) for case in plan.cases]
    for place, outcome in enumerate(outcomes):
        results[place] = replace(results[place], outcome=outcome)
    assert reported in plain_text((progress(view_of(fakes.run_events(candidate, plan, results)), UNICODE),))


def test_interrupted_run_states_its_progress(candidate: Candidate, plan: Plan) -> None:
    view = replace(view_of(fakes.stops_half_way(candidate, plan)), cut_short=True)
    strip_context = replace(CONTEXT, opened=True)
    assert (status_of(view, strip_context).state, view.running) == (State.INTERRUPTED, False)
    assert plain_text((progress(view, UNICODE, short=True), sentence(view, strip_context))) == (
        "VERIFY 5/8 1 wrong ⊘ ▸ compile –\nno verdict: 5 of 8 cases were run, 1 of them wrong"
    )


def test_active_past_run_shows_stored_part(candidate: Candidate, plan: Plan) -> None:
    view, strip_context = view_of(fakes.stops_half_way(candidate, plan)), replace(CONTEXT, opened=True, elapsed_s=3e5)
    assert plain_text((head(view, strip_context, UNICODE)[0], sentence(view, strip_context))) == (
        "✗ failed 1/8 so far, verifying 5/8 · aten::softmax · softmax.py · cpu to sm_90\n"
        "running in another process: 5 of 8 cases were run, 1 of them wrong"
    )


def test_run_without_events_is_starting() -> None:
    strip_context = replace(CONTEXT, begun=True)
    assert status_of(NO_RUN, strip_context).state is State.STARTING
    assert plain_text((sentence(NO_RUN, strip_context),)) == "starting the run..."


def test_the_line_at_fault_is_named_once(candidate: Candidate, plan: Plan) -> None:
    view = view_of(fakes.all_pass(candidate, plan))
    for said, reported in (
        ("syntax error: '(' was never closed", "line 14: syntax error: '(' was never closed"),
        ("not run: (library call, line 14: torch.softmax)", "not run: (library call, line 14: torch.softmax)"),
    ):
        verdict = Verdict(outcome=Outcome.COMPILE_ERROR, sentence=said, passed=0, total=8, location=Location(line=14))
        assert plain_text((sentence(replace(view, verdict=verdict), CONTEXT),)) == reported
