"""The state of a run and its sentence in the strip."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.model import (
    Candidate,
    Diagnosis,
    DiagnosisKind,
    Explanation,
    Location,
    Outcome,
    Plan,
    Stage,
    Verdict,
)
from engine.model.events import (
    CaseFinished,
    RunFinished,
    StageFinished,
    StageStarted,
)
from engine.model.proof import CaseProof, Gap
from engine.reports.reducer import reduce_all
from engine.reports.run_record import NO_RUN, StageRecord
from kgtui.state.format.glyphs import ASCII, UNICODE, State
from kgtui.state.format.lines import plain_text
from kgtui.state.run.error_notes import error_notes
from kgtui.state.workbench.status import Mode, is_stale, status_of
from kgtui.state.workbench.strip import head, progress, progress_within, sentence, sentence_within
from tests.kgtui import fakes
from tests.kgtui.fakes import timed_runs
from tests.kgtui.state.strip_lines import CONTEXT, started, view_of


@pytest.mark.parametrize(
    ("script", "state"),
    [
        ("all_pass", State.PASSED),
        ("some_fail", State.FAILED),
        ("suspicious", State.FLAGGED),
        ("stops_half_way", State.FAILED),
    ],
)
def test_a_run_is_in_one_state(candidate: Candidate, plan: Plan, script: str, state: State) -> None:
    assert status_of(view_of(getattr(fakes, script)(candidate, plan)), CONTEXT).state is state


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        (Outcome.COMPILE_ERROR, State.FAILED),
        (Outcome.TIMEOUT, State.FAILED),
        (Outcome.CANCELLED, State.CANCELLED),
        (Outcome.UNSUPPORTED, State.UNSUPPORTED),
        (Outcome.ENGINE_ERROR, State.ENGINE_ERROR),
    ],
)
def test_an_outcome_has_its_state(candidate: Candidate, outcome: Outcome, state: State) -> None:
    verdict = Verdict(outcome=outcome, sentence="why", passed=0, total=1)
    view = view_of([started(candidate), RunFinished(at_s=1.0, verdict=verdict)])
    assert status_of(view, CONTEXT).state is state


@pytest.mark.parametrize(
    ("script", "state", "detail"),
    [
        ("waits_for_the_device", State.QUEUED, ""),
        ("times_two_of_five", State.BENCHMARKING, "2/5"),
        ("all_timed", State.PASSED, ""),
        ("wrong_while_timed", State.FAILED, ""),
    ],
)
def test_timed_run_has_one_state(candidate: Candidate, script: str, state: State, detail: str) -> None:
    view = view_of(getattr(timed_runs, script)(candidate, timed_runs.bench_plan(timed_runs.timed_problem())))
    status = status_of(view, CONTEXT)
    assert (status.state, status.detail) == (state, detail)


def test_waiting_strip_names_device_holder(candidate: Candidate) -> None:
    view = view_of(timed_runs.waits_for_the_device(candidate, timed_runs.bench_plan(timed_runs.timed_problem())))
    assert plain_text((progress(view, UNICODE, short=True), sentence(view, CONTEXT))) == (
        "verify 8/8 0.14s ✔ ▸ compile 1/1 0.22s ✔ ▸ bench –\n"
        "process 4242 has held the device since 2026-03-14 15:02 UTC: python train.py --batch [32]; "
        "8/8 cases passed"
    )


def test_timing_strip_states_progress(candidate: Candidate) -> None:
    view = view_of(timed_runs.times_two_of_five(candidate, timed_runs.bench_plan(timed_runs.timed_problem())))
    assert plain_text((progress(view, UNICODE, short=True, timed=False), sentence(view, CONTEXT))) == (
        "verify 8/8 ✔ ▸ compile 1/1 ✔ ▸ BENCH 2/5\n8/8 cases passed; 2 of 5 bench cases timed"
    )


@pytest.mark.parametrize(
    ("gaps", "words"), [([None, None], "prove 2/2"), ([None, Gap.UNSTEADY], "prove 2/2 1 unproven"), ([], "prove 0/2")]
)
def test_strip_counts_proofs(gaps: list[Gap | None], words: str) -> None:
    proofs = tuple(
        CaseProof(case=str(place), gap=gap, reason="calls differ" if gap else "") for place, gap in enumerate(gaps)
    )
    stage = StageRecord(stage=Stage.PROVE, started_s=0.0, total=2, outcome=Outcome.PASS, elapsed_s=1.0)
    assert f"{words} 1.00s +" in plain_text((progress(replace(NO_RUN, stages=(stage,), proofs=proofs), ASCII),))


def test_unsaved_text_and_pause_are_separate_states(candidate: Candidate, plan: Plan) -> None:
    done, going = view_of(fakes.all_pass(candidate, plan)), view_of(fakes.stops_half_way(candidate, plan))
    assert status_of(done, replace(CONTEXT, unsaved=True)).state is State.EDITED
    assert status_of(done, replace(CONTEXT, paused=True)).state is State.PAUSED
    assert status_of(going, replace(CONTEXT, unsaved=True, paused=True)).state is State.FAILED
    assert status_of(NO_RUN, CONTEXT).state is State.IDLE


def test_results_are_stale_when_file_differs(candidate: Candidate, plan: Plan) -> None:
    view = view_of(fakes.all_pass(candidate, plan))
    assert not is_stale(view, replace(CONTEXT, content_digest=candidate.digest))
    assert is_stale(view, replace(CONTEXT, content_digest="another"))
    assert is_stale(view, replace(CONTEXT, content_digest=candidate.digest, unsaved=True))
    assert not is_stale(view, replace(CONTEXT, content_digest="another", opened=True))


@pytest.mark.parametrize(
    ("room", "stages"),
    [
        (80, "saved ▸ read ✔ ▸ load 48ms ✔ ▸ VERIFY 8/8 2 wrong ✗ ▸ compile 1/1 0.22s ✔"),
        (72, "VERIFY 8/8 2 wrong ✗ ▸ compile 1/1 0.22s ✔"),
        (40, "VERIFY 8/8 2 wrong ✗ ▸ compile 1/1 ✔"),
        (10, "VERIFY 8/8 2 wrong ✗ ▸ compile 1/1 ✔"),
    ],
)
def test_stages_without_room_lose_passed_ones_and_times(
    candidate: Candidate, plan: Plan, room: int, stages: str
) -> None:
    view = view_of(fakes.some_fail(candidate, plan))
    assert plain_text((progress_within(room, view, UNICODE),)) == stages


def test_the_strip_of_a_failed_run(candidate: Candidate, plan: Plan) -> None:
    view = view_of(fakes.some_fail(candidate, plan))
    left, right = head(view, CONTEXT, UNICODE)
    assert plain_text((left, right, progress(view, UNICODE), sentence(view, CONTEXT))) == (
        "✗ failed 0.42 s · aten::softmax · softmax.py · cpu to sm_90\n"
        "run #42  WATCH\n"
        "saved ▸ read ✔ ▸ load 48ms ✔ ▸ VERIFY 8/8 2 wrong ✗ ▸ compile 1/1 0.22s ✔\n"
        "2 of 8 cases failed, first 127x128 f32: 127 of 16,256 elements differ, worst at [3, 127]"
    )


def test_strip_states_symptom_of_first_failure(candidate: Candidate, plan: Plan) -> None:
    view = view_of(fakes.some_fail(candidate, plan))
    looks = Diagnosis(
        kind=DiagnosisKind.TAIL_MASK, sentence="only the end is wrong", evidence="e", explained=1, wrong=1
    )
    report = replace(view.failed[0].outputs[0], explanation=Explanation(diagnoses=(looks,)))
    cases = tuple(replace(case, outputs=(report,)) if case.case == view.failed[0].case else case for case in view.cases)
    reported = replace(view, cases=cases)
    assert plain_text((sentence(reported, CONTEXT),)) == "2 of 8 cases failed, first 127x128 f32: only the end is wrong"
    running = replace(reported, verdict=None)
    assert plain_text((sentence(running, CONTEXT),)) == "2 of 8 cases failed, first 127x128 f32: only the end is wrong"
    halfway = replace(running, cases=running.cases[:-1])
    assert "failed so far, first 127x128 f32: only the end is wrong" in plain_text((sentence(halfway, CONTEXT),))


def test_long_sentence_loses_the_count_of_failed_cases(candidate: Candidate, plan: Plan) -> None:
    view = view_of(fakes.some_fail(candidate, plan))
    whole = plain_text((sentence(view, CONTEXT),))
    assert plain_text((sentence_within(len(whole), view, CONTEXT),)) == whole
    assert whole.startswith("2 of 8 cases failed, first 127x128 f32: ")
    narrow = plain_text((sentence_within(len(whole) - 1, view, CONTEXT),))
    assert narrow == whole.removeprefix("2 of 8 cases failed, ")


def test_strip_states_symptom_of_only_failure(candidate: Candidate, plan: Plan) -> None:
    view = view_of(fakes.some_fail(candidate, plan))
    looks = Diagnosis(
        kind=DiagnosisKind.TAIL_MASK, sentence="only the end is wrong", evidence="e", explained=1, wrong=1
    )
    first = view.failed[0]
    wrong = replace(first, outputs=(replace(first.outputs[0], explanation=Explanation(diagnoses=(looks,))),))
    said = f"case {first.case} failed: {first.message}"
    assert view.verdict is not None
    alone = replace(view, planned=1, cases=(wrong,), verdict=replace(view.verdict, sentence=said))
    assert plain_text((sentence(alone, CONTEXT),)) == "case 127x128 f32 failed: only the end is wrong"


def test_running_strip_in_ascii(candidate: Candidate, plan: Plan) -> None:
    view, strip_context = (
        view_of(fakes.stops_half_way(candidate, plan)),
        replace(CONTEXT, mode=Mode.EDIT, elapsed_s=1.5),
    )
    left, right = head(view, strip_context, ASCII)
    assert plain_text((left, right, progress(view, ASCII), sentence(view, strip_context))) == (
        "x failed 1/8 so far, verifying 5/8 1.50 s | aten::softmax | softmax.py | cpu to sm_90\n"
        "run #42  EDIT\n"
        "saved > read + > load 48ms + > VERIFY 5/8 1 wrong > compile -\n"
        "1 failed so far, first 127x128 f32: 127 of 16,256 elements differ, worst at [3, 127]"
    )


def test_cancelled_run_states_its_progress(candidate: Candidate, plan: Plan) -> None:
    verdict = Verdict(outcome=Outcome.CANCELLED, sentence="cancelled before it was finished", passed=4, total=8)
    view = view_of([*fakes.stops_half_way(candidate, plan), RunFinished(at_s=0.2, verdict=verdict)])
    assert plain_text((progress(view, UNICODE, short=True), sentence(view, CONTEXT))) == (
        "VERIFY 5/8 1 wrong ⊘ ▸ compile –\ncancelled: 5 of 8 cases were run, 1 of them wrong"
    )
    paused = replace(CONTEXT, paused=True, content_digest=view.digest)
    assert plain_text((sentence(view, paused),)) == (
        "paused: saves are not run; the last run: cancelled: 5 of 8 cases were run, 1 of them wrong"
    )


def test_syntax_error_is_shown_at_first_stage(candidate: Candidate) -> None:
    verdict = Verdict(
        outcome=Outcome.COMPILE_ERROR, sentence="syntax error", passed=0, total=8, location=Location(line=3)
    )
    failed = StageFinished(at_s=0.01, stage=Stage.PARSE, outcome=Outcome.COMPILE_ERROR, elapsed_s=0.01)
    view = view_of([started(candidate), failed, RunFinished(at_s=0.01, verdict=verdict)])
    assert plain_text((progress(view, UNICODE),)) == "saved ▸ READ ✗ ▸ load – ▸ verify – ▸ compile –"
    assert error_notes(view) == {3: ""}
    assert plain_text((sentence(view, CONTEXT),)) == "line 3: syntax error"
    at_column = replace(view, verdict=replace(verdict, location=Location(line=3, column=9)))
    assert plain_text((sentence(at_column, CONTEXT),)) == "line 3, column 9: syntax error"


def test_state_between_stages_is_last_ended_one(candidate: Candidate) -> None:
    def begun(stage: Stage) -> StageStarted:
        return StageStarted(at_s=0.1, stage=stage, total=None)

    def ended(stage: Stage) -> StageFinished:
        return StageFinished(at_s=0.2, stage=stage, outcome=Outcome.PASS, elapsed_s=0.1)

    events = [started(candidate), begun(Stage.PARSE), ended(Stage.PARSE)]
    assert status_of(view_of(events), CONTEXT).state is State.LOADING
    events += [begun(Stage.VERIFY), ended(Stage.VERIFY)]
    assert status_of(view_of(events), CONTEXT).state is State.VERIFYING
    events += [begun(Stage.BENCHMARK)]
    assert status_of(view_of(events), CONTEXT).state is State.BENCHMARKING


def test_compiling_beside_cases_is_not_the_state(candidate: Candidate, plan: Plan) -> None:
    begun = [started(candidate), StageStarted(at_s=0.1, stage=Stage.VERIFY, total=8)]
    judged = [CaseFinished(at_s=0.2, number=1, total=8, result=fakes.passed(plan.cases[0]))]
    both = view_of([*begun, StageStarted(at_s=0.15, stage=Stage.COMPILE, total=None), *judged])
    assert status_of(both, CONTEXT).state is State.VERIFYING
    assert plain_text((sentence(both, CONTEXT),)) == "1 of 8 cases run, none failed"
    done = reduce_all(both, (StageFinished(at_s=0.3, stage=Stage.VERIFY, outcome=Outcome.PASS, elapsed_s=0.2),))
    assert status_of(done, CONTEXT).state is State.COMPILING
    assert plain_text((sentence(done, CONTEXT),)) == "1/1 cases passed; compiling their launches for sm_90"


def test_file_changed_during_pause_is_not_called_passed(candidate: Candidate, plan: Plan) -> None:
    view = view_of(fakes.all_pass(candidate, plan))
    paused = replace(CONTEXT, paused=True, content_digest=view.digest)
    assert plain_text((sentence(view, paused),)) == ("paused: saves are not run; the last run: right on 8 of 8 cases")
    changed = replace(paused, content_digest="another")
    assert plain_text((sentence(view, changed),)) == "file changed while paused; p resumes"


def test_pause_is_stated_once(candidate: Candidate, plan: Plan) -> None:
    paused = replace(CONTEXT, paused=True)
    assert plain_text(head(view_of(fakes.all_pass(candidate, plan)), paused, UNICODE)) == (
        "‖ paused · aten::softmax · softmax.py · cpu to sm_90\nrun #42  WATCH"
    )
    assert plain_text(head(view_of(fakes.stops_half_way(candidate, plan)), paused, UNICODE)).endswith(
        "run #42  ‖ paused  WATCH"
    )
