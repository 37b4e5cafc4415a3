"""The view of a run, made from its events, and the lines and rows that are drawn from it."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta
from types import ModuleType
from typing import Any

import pytest

from engine.model import (
    Candidate,
    Diagnosis,
    DiagnosisKind,
    DType,
    Explanation,
    Finding,
    Location,
    Outcome,
    OutputReport,
    Plan,
    Severity,
    Stage,
    Stream,
    Tier,
    Verdict,
    WrongElement,
)
from engine.model.events import (
    CaseFinished,
    FindingRaised,
    KernelCompiled,
    LogWritten,
    RunFinished,
    RunStarted,
    StageFinished,
    StageStarted,
    TierFinished,
    from_json,
    to_json,
)
from engine.model.problems.form import CandidateForm
from engine.model.problems.suite_origin import SuiteOrigin
from engine.reports.reducer import reduce_all
from engine.reports.run_record import NO_RUN, RunRecord
from kgtui.state.format.glyphs import ASCII, UNICODE, State
from kgtui.state.format.lines import plain_text
from kgtui.state.operators import (
    Facets,
    Progress,
    choices,
    operator_rows,
    preview,
    progress_line,
    progress_of,
    rail_rows,
)
from kgtui.state.run.cases import (
    case_brief,
    case_detail,
    case_rows,
    error_map,
    largest,
    max_errors,
    reading,
)
from kgtui.state.run.error_notes import error_notes
from kgtui.state.run.failed_case import failed_case
from kgtui.state.run.suspects import Suspects
from kgtui.state.run.tables import ago, finding_rows, kernel_note, kernel_rows
from kgtui.state.workbench.markdown import run_markdown
from kgtui.state.workbench.next_step import next_step
from kgtui.state.workbench.status import Mode, Status, StripContext, is_stale, status_of
from kgtui.state.workbench.strip import head, progress, sentence
from kgtui.state.workbench.workbench import Workbench

CONTEXT = StripContext(operator="aten::softmax", filename="softmax.py", device="cpu", target="sm_90", number=42)


@pytest.fixture
def candidate(fakes: ModuleType) -> Candidate:
    return Candidate(source=fakes.SOURCE, problem="aten::softmax", filename="softmax.py")


@pytest.fixture
def plan(fakes: ModuleType) -> Plan:
    problem = fakes.softmax_problem()
    return Plan.for_tiers(problem, tiers=(Tier.SMOKE, Tier.FULL), device="cpu", target="sm_90")


def view_of(events: list[object]) -> RunRecord:
    return reduce_all(NO_RUN, events)  # type: ignore[arg-type]  # the doubles are not typed here


def test_a_batch_gives_the_same_view_as_its_events_one_by_one(
    fakes: ModuleType, candidate: Candidate, plan: Plan
) -> None:
    events = fakes.some_fail(candidate, plan)
    one_by_one = NO_RUN
    for event in events:
        one_by_one = reduce_all(one_by_one, (event,))
    assert one_by_one == view_of(events)


def test_a_replay_of_stored_events_gives_the_same_view(fakes: ModuleType, candidate: Candidate, plan: Plan) -> None:
    for script in (fakes.all_pass, fakes.some_fail, fakes.suspicious):
        events = script(candidate, plan)
        assert view_of([from_json(to_json(event)) for event in events]) == view_of(events)


@pytest.mark.parametrize("script", ["all_timed", "two_baselines", "times_two_of_five", "waits_for_the_device"])
def test_a_replay_of_a_timed_run_gives_the_same_view(
    fakes: ModuleType, bench_fakes: ModuleType, candidate: Candidate, script: str
) -> None:
    events = getattr(bench_fakes, script)(candidate, bench_fakes.bench_plan(bench_fakes.timed_problem()))
    one_by_one = NO_RUN
    for event in events:
        one_by_one = reduce_all(one_by_one, (from_json(to_json(event)),))
    assert one_by_one == view_of(events)


def test_the_view_keeps_benchmarks_summaries_and_the_profile(bench_fakes: ModuleType, candidate: Candidate) -> None:
    view = view_of(bench_fakes.all_timed(candidate, bench_fakes.bench_plan(bench_fakes.timed_problem())))
    assert [one.case for one in view.benchmarks][::4] == ["1024x256 f32", "16384x8192 bf16"]
    assert (view.benchmarks_planned, view.summaries) == (5, (bench_fakes.summary(),))
    assert [span.name for span in view.profile] == ["compile"]
    assert view.benchmark("4096x781 f32") is view.benchmarks[1]


def test_who_holds_the_device_is_known_until_the_benchmark_begins_or_the_run_ends(
    bench_fakes: ModuleType, candidate: Candidate
) -> None:
    waiting = view_of(bench_fakes.waits_for_the_device(candidate, bench_fakes.bench_plan(bench_fakes.timed_problem())))
    assert waiting.holder == bench_fakes.HOLDER
    assert reduce_all(waiting, (StageStarted(at_s=2.0, stage=Stage.BENCHMARK, total=5),)).holder is None
    assert reduce_all(waiting, (StageStarted(at_s=2.0, stage=Stage.LOAD),)).holder is None
    verdict = Verdict(outcome=Outcome.CANCELLED, sentence="cancelled", passed=8, total=8)
    assert reduce_all(waiting, (RunFinished(at_s=2.0, verdict=verdict),)).holder is None


def test_the_next_run_starts_from_nothing(fakes: ModuleType, candidate: Candidate, plan: Plan) -> None:
    events = fakes.some_fail(candidate, plan)
    assert view_of(events + events) == view_of(events)


def test_machine_code_that_comes_after_the_verdict_joins_its_kernel_and_not_the_time(
    fakes: ModuleType, candidate: Candidate, plan: Plan
) -> None:
    view = view_of(fakes.all_pass(candidate, plan))
    assert [artefact.kind for artefact in view.kernels[0].artefacts] == ["ttir", "ptx", "sass"]
    assert (view.finished_s, view.at_s) == (0.42, 0.9)


def test_a_view_is_never_changed(fakes: ModuleType, candidate: Candidate, plan: Plan) -> None:
    events = fakes.some_fail(candidate, plan)
    half = view_of(events[:12])
    before = replace(half)
    reduce_all(half, events[12:])
    assert half == before


def test_a_stage_that_never_said_it_began_is_shown_as_finished() -> None:
    view = reduce_all(NO_RUN, (StageFinished(at_s=0.5, stage=Stage.LOAD, outcome=Outcome.TIMEOUT, elapsed_s=0.2),))
    assert [(stage.stage, stage.started_s, stage.outcome) for stage in view.stages] == [
        (Stage.LOAD, 0.3, Outcome.TIMEOUT)
    ]


def test_lines_that_failed_say_how_many_cases_failed_on_them(
    fakes: ModuleType, candidate: Candidate, plan: Plan
) -> None:
    assert error_notes(view_of(fakes.some_fail(candidate, plan))) == {12: "2 failing"}


def test_a_suspect_finding_marks_its_line_and_a_hint_does_not(
    fakes: ModuleType, candidate: Candidate, plan: Plan
) -> None:
    assert error_notes(view_of(fakes.suspicious(candidate, plan))) == {22: "library call"}


@pytest.mark.parametrize(
    ("script", "state"),
    [
        ("all_pass", State.PASSED),
        ("some_fail", State.FAILED),
        ("suspicious", State.FLAGGED),
        ("stops_half_way", State.FAILED),
    ],
)
def test_a_run_is_in_one_state(fakes: ModuleType, candidate: Candidate, plan: Plan, script: str, state: State) -> None:
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
def test_a_run_that_is_timed_is_in_one_state(
    bench_fakes: ModuleType, candidate: Candidate, script: str, state: State, detail: str
) -> None:
    view = view_of(getattr(bench_fakes, script)(candidate, bench_fakes.bench_plan(bench_fakes.timed_problem())))
    status = status_of(view, CONTEXT)
    assert (status.state, status.detail) == (state, detail)


def test_the_strip_of_a_run_that_waits_names_the_holder(bench_fakes: ModuleType, candidate: Candidate) -> None:
    view = view_of(bench_fakes.waits_for_the_device(candidate, bench_fakes.bench_plan(bench_fakes.timed_problem())))
    assert plain_text((progress(view, UNICODE, short=True), sentence(view, CONTEXT))) == (
        "verify 8/8 0.14s ✔ ▸ compile 1/1 0.22s ✔ ▸ bench –\n"
        "process 4242 has held the device since 2026-03-14 15:02 UTC: python train.py --batch [32]; "
        "8/8 cases passed"
    )


def test_the_strip_while_it_times_says_how_far_it_is(bench_fakes: ModuleType, candidate: Candidate) -> None:
    view = view_of(bench_fakes.times_two_of_five(candidate, bench_fakes.bench_plan(bench_fakes.timed_problem())))
    assert plain_text((progress(view, UNICODE, short=True, timed=False), sentence(view, CONTEXT))) == (
        "verify 8/8 ✔ ▸ compile 1/1 ✔ ▸ BENCH 2/5\n8/8 cases passed; 2 of 5 bench cases timed"
    )


def test_unsaved_text_and_a_pause_are_states_of_their_own(fakes: ModuleType, candidate: Candidate, plan: Plan) -> None:
    done, going = view_of(fakes.all_pass(candidate, plan)), view_of(fakes.stops_half_way(candidate, plan))
    assert status_of(done, replace(CONTEXT, unsaved=True)).state is State.EDITED
    assert status_of(done, replace(CONTEXT, paused=True)).state is State.PAUSED
    assert status_of(going, replace(CONTEXT, unsaved=True, paused=True)).state is State.FAILED
    assert status_of(NO_RUN, CONTEXT).state is State.IDLE


def test_results_are_stale_when_the_file_holds_something_else(
    fakes: ModuleType, candidate: Candidate, plan: Plan
) -> None:
    view = view_of(fakes.all_pass(candidate, plan))
    assert not is_stale(view, replace(CONTEXT, content_digest=candidate.digest))
    assert is_stale(view, replace(CONTEXT, content_digest="another"))
    assert is_stale(view, replace(CONTEXT, content_digest=candidate.digest, unsaved=True))
    assert not is_stale(view, replace(CONTEXT, content_digest="another", opened=True))


def test_the_strip_of_a_failed_run(fakes: ModuleType, candidate: Candidate, plan: Plan) -> None:
    view = view_of(fakes.some_fail(candidate, plan))
    left, right = head(view, CONTEXT, UNICODE)
    assert plain_text((left, right, progress(view, UNICODE), sentence(view, CONTEXT))) == (
        "✗ failed 0.42 s · aten::softmax · softmax.py · cpu to sm_90\n"
        "run #42  WATCH\n"
        "saved ▸ read ✔ ▸ load 48ms ✔ ▸ VERIFY 8/8 2 wrong ✗ ▸ compile 1/1 0.22s ✔\n"
        "2 of 8 cases failed, first 127x128 f32: 127 of 16,256 elements differ, worst at [3, 127]"
    )


def test_the_strip_says_what_the_first_failure_looks_like(fakes: ModuleType, candidate: Candidate, plan: Plan) -> None:
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


def test_the_strip_while_it_verifies_in_ascii(fakes: ModuleType, candidate: Candidate, plan: Plan) -> None:
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


def test_a_case_in_brief_is_what_it_looks_like_and_the_line(fakes: ModuleType, plan: Plan) -> None:
    result = fakes.wrong(plan.cases[4])
    assert plain_text(case_brief(result, glyphs=UNICODE)) == (
        "127x128 f32  only the end of the last dimension is wrong: check the mask of the tail block\ncheck    line 12"
    )
    looks = Diagnosis(kind=DiagnosisKind.TAIL_MASK, sentence="only the end", evidence="e", explained=1, wrong=1)
    report = replace(result.outputs[0], explanation=Explanation(diagnoses=(looks,)))
    explained = replace(result, outputs=(report,), location=None)
    suspected = Suspects(what="what is stored", lines=((7, "tl.store(a)"), (9, "tl.store(b)")))
    assert plain_text(case_brief(explained, glyphs=ASCII, suspected=suspected)) == (
        "127x128 f32  only the end\ncheck    line 7, line 9  | what is stored"
    )
    assert plain_text(case_brief(result, glyphs=UNICODE, stale=True)).startswith("127x128 f32  stale: only the end")
    crashed = replace(result, outputs=(), message="IndexError: [1]\n  in f", location=None)
    assert plain_text(case_brief(crashed, glyphs=UNICODE)) == "127x128 f32  IndexError: [1] in f"


def test_the_row_of_a_wrong_case_begins_its_note_with_the_kind_of_mistake(fakes: ModuleType, plan: Plan) -> None:
    result = fakes.wrong(plan.cases[4])
    looks = Diagnosis(kind=DiagnosisKind.TAIL_MASK, sentence="only the end", evidence="e", explained=1, wrong=1)
    report = replace(result.outputs[0], explanation=Explanation(diagnoses=(looks,)))
    view = replace(NO_RUN, digest="d", cases=(replace(result, outputs=(report,)),))
    row = case_rows(plan.cases, view, NO_RUN, glyphs=UNICODE)[0]
    assert row.cells[-1].text == "tail mask; 127 of 16,256 elements differ, worst at [3, 127]"


def test_a_run_that_was_cancelled_says_how_far_it_was(fakes: ModuleType, candidate: Candidate, plan: Plan) -> None:
    verdict = Verdict(outcome=Outcome.CANCELLED, sentence="cancelled before it was finished", passed=4, total=8)
    view = view_of([*fakes.stops_half_way(candidate, plan), RunFinished(at_s=0.2, verdict=verdict)])
    assert plain_text((progress(view, UNICODE, short=True), sentence(view, CONTEXT))) == (
        "VERIFY 5/8 1 wrong ⊘ ▸ compile –\ncancelled: 5 of 8 cases were run, 1 of them wrong"
    )
    paused = replace(CONTEXT, paused=True, content_digest=view.digest)
    assert plain_text((sentence(view, paused),)) == (
        "paused: saves are not run; the last run: cancelled: 5 of 8 cases were run, 1 of them wrong"
    )


def test_a_syntax_error_is_said_at_the_first_stage(candidate: Candidate) -> None:
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


def test_between_two_stages_the_one_that_ended_last_is_the_state(candidate: Candidate) -> None:
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


def test_while_cases_are_judged_what_is_compiled_beside_them_is_not_the_state(
    fakes: ModuleType, candidate: Candidate, plan: Plan
) -> None:
    begun = [started(candidate), StageStarted(at_s=0.1, stage=Stage.VERIFY, total=8)]
    judged = [CaseFinished(at_s=0.2, number=1, total=8, result=fakes.passed(plan.cases[0]))]
    both = view_of([*begun, StageStarted(at_s=0.15, stage=Stage.COMPILE, total=None), *judged])
    assert status_of(both, CONTEXT).state is State.VERIFYING
    assert plain_text((sentence(both, CONTEXT),)) == "1 of 8 cases run, none failed"
    done = reduce_all(both, (StageFinished(at_s=0.3, stage=Stage.VERIFY, outcome=Outcome.PASS, elapsed_s=0.2),))
    assert status_of(done, CONTEXT).state is State.COMPILING
    assert plain_text((sentence(done, CONTEXT),)) == "1/1 cases passed; compiling what they launched for sm_90"


def test_a_file_that_changed_during_a_pause_is_not_called_right(
    fakes: ModuleType, candidate: Candidate, plan: Plan
) -> None:
    view = view_of(fakes.all_pass(candidate, plan))
    paused = replace(CONTEXT, paused=True, content_digest=view.digest)
    assert plain_text((sentence(view, paused),)) == ("paused: saves are not run; the last run: right on 8 of 8 cases")
    changed = replace(paused, content_digest="another")
    assert plain_text((sentence(view, changed),)) == "file changed while paused; p resumes"


def test_a_pause_is_said_once(fakes: ModuleType, candidate: Candidate, plan: Plan) -> None:
    paused = replace(CONTEXT, paused=True)
    assert plain_text(head(view_of(fakes.all_pass(candidate, plan)), paused, UNICODE)) == (
        "‖ paused · aten::softmax · softmax.py · cpu to sm_90\nrun #42  WATCH"
    )
    assert plain_text(head(view_of(fakes.stops_half_way(candidate, plan)), paused, UNICODE)).endswith(
        "run #42  ‖ paused  WATCH"
    )


def test_a_failed_case_says_what_how_much_and_where(fakes: ModuleType, plan: Plan) -> None:
    detail = plain_text(case_detail(fakes.wrong(plan.cases[4]), glyphs=UNICODE)).splitlines()
    assert detail[:10] == [
        "127x128 f32  ✗ wrong value line 12",
        "output    return  float32[127, 128]",
        "worst at  [3, 127]",
        "expected  0.031622776  got nan",
        "max error nan; of the finite elements abs 3.1e-02  rel 9.8e-01  ulp 262144",
        "wrong     127 of 16,256 elements (0.781 %)",
        "nan, inf  127, expected 0",
        "bounds    [0, 127] to [126, 127]",
        "only the end of the last dimension is wrong: check the mask of the tail block",
        "where     · right  █ all wrong, one cell per tile",
    ]
    assert detail[10] == "·" * 31 + "▓"


def test_a_message_that_an_output_repeats_is_said_once(fakes: ModuleType, plan: Plan) -> None:
    message = "return is float32, expected bfloat16"
    report = OutputReport(
        name="return",
        outcome=Outcome.WRONG_DTYPE,
        shape=(4,),
        dtype=DType.FLOAT32,
        total=4,
        mismatched=4,
        message=message,
    )
    result = replace(fakes.passed(plan.cases[0]), outcome=Outcome.WRONG_DTYPE, message=message, outputs=(report,))
    assert plain_text(case_detail(result, glyphs=UNICODE)).count(message) == 1


def test_the_reason_of_an_earlier_text_says_so(fakes: ModuleType, plan: Plan) -> None:
    heading = plain_text(case_detail(fakes.wrong(plan.cases[4]), glyphs=UNICODE, stale=True)).splitlines()[0]
    assert heading == "127x128 f32  ✗ wrong value line 12  stale: of an earlier text"


def test_an_access_out_of_bounds_names_tensor_index_and_line(fakes: ModuleType, plan: Plan) -> None:
    assert plain_text(case_detail(fakes.out_of_bounds(plan.cases[0]), glyphs=UNICODE)).splitlines() == [
        "1x781 f32  ✗ runtime error line 12",
        "load out of bounds in softmax_kernel at line 12",
        "tensor    x_ptr  has 16,256 elements",
        "index     16,256  counted from its first element",
        "program   (126, 0, 0)",
        "1 call, 2 ms, inputs from seed 3",
    ]


def test_the_error_map_begins_at_the_first_wrong_tile(fakes: ModuleType, plan: Plan) -> None:
    report = replace(fakes.WRONG_TAIL, error_map=("....", "....", "...9", "...."))
    reported = plain_text(case_detail(fakes.wrong(plan.cases[4], report), glyphs=UNICODE)).splitlines()
    assert reported[reported.index("where     · right  █ all wrong, one cell per tile") + 1 :][:3] == [
        "          the first 2 of 4 rows of tiles are right",
        "···▓",
        "····",
    ]
    page = plain_text(failed_case(fakes.wrong(plan.cases[4], report), glyphs=UNICODE, width=80, number=1)).splitlines()
    assert [text.split() for text in page[-5:-2]] == [
        ["the", "first", "2", "of", "4", "rows", "of", "tiles", "are", "right"],
        ["64", "···▓"],
        ["96", "····"],
    ]


def test_the_largest_error_is_nan_where_a_number_was_expected(fakes: ModuleType, plan: Plan) -> None:
    cells = [cell.text for cell in case_rows(plan.cases[4:5], NO_RUN, NO_RUN, glyphs=UNICODE)[0].cells]
    assert cells[3:6] == ["–", "–", "–"]
    view = replace(NO_RUN, cases=(fakes.wrong(plan.cases[4]),))
    assert [cell.text for cell in case_rows(plan.cases[4:5], view, NO_RUN, glyphs=UNICODE)[0].cells][3:6] == ["nan"] * 3
    infinite = replace(fakes.WRONG_TAIL, worst=WrongElement(index=(0, 0), expected="1.0", got="-inf"))
    assert max_errors(infinite) == (math.inf, math.inf, math.inf)
    finite = replace(fakes.WRONG_TAIL, worst=WrongElement(index=(0, 0), expected="1.0", got="2.0"))
    assert max_errors(finite) == (3.1e-2, 0.98, 262144.0)
    assert math.isnan(largest([1.0, math.nan, 2.0]))


def test_the_error_map_darkens_with_the_share_of_wrong_elements() -> None:
    assert plain_text(error_map((".12345678", "9#......."), glyphs=UNICODE)) == "·░░░▒▒▒▓▓\n▓█·······"
    assert plain_text(error_map((".15#",), glyphs=ASCII)) == ".-+#"


@pytest.mark.parametrize(
    ("rows", "hint"),
    [
        ((".......#", ".......3"), "tail block"),
        (("#.......", "3......."), "first block"),
        (("........", "###11111"), "last rows"),
        (("........", "###11111", "........"), "band of rows"),
        (("1.1.1.1.", "1.1.1.1."), ""),
    ],
)
def test_a_pattern_of_wrong_elements_hints_where_to_look(fakes: ModuleType, rows: tuple[str, ...], hint: str) -> None:
    said = reading(replace(fakes.WRONG_TAIL, error_map=rows))
    assert hint in said and bool(hint) == bool(said)


def test_cases_not_judged_yet_keep_the_result_of_the_run_before(
    fakes: ModuleType, candidate: Candidate, plan: Plan
) -> None:
    before, now = view_of(fakes.all_pass(candidate, plan)), view_of(fakes.stops_half_way(candidate, plan))
    rows = {row.key: row for row in case_rows(plan.cases, now, before, glyphs=UNICODE)}
    assert (rows["127x128 f32"].stale, rows["127x128 f32"].cells[1].text) == (False, "✗ wrong value")
    assert (rows["128x127 f16"].stale, rows["128x127 f16"].cells[1].text) == (True, "✔ pass")
    assert rows["128x127 f16"].cells[-1].text == "stale"


def test_a_run_of_some_cases_does_not_dress_the_others_in_old_results(
    fakes: ModuleType, candidate: Candidate, plan: Plan
) -> None:
    before = view_of(fakes.all_pass(candidate, plan))
    now = view_of(fakes.run_events(candidate, plan, [fakes.passed(plan.cases[0])]))
    rows = case_rows(plan.cases, now, before, glyphs=UNICODE)
    assert [row.cells[1].text for row in rows][:2] == ["✔ pass", "· not run"]


def test_a_case_that_a_run_ended_without_says_what_it_was_before(
    fakes: ModuleType, candidate: Candidate, plan: Plan
) -> None:
    before = view_of(fakes.some_fail(candidate, plan))
    now = view_of(fakes.run_events(candidate, plan, [fakes.passed(plan.cases[0])]))
    rows = {row.key: row for row in case_rows(plan.cases, now, before, glyphs=UNICODE)}
    said = {name: (rows[name].cells[1].text, rows[name].cells[-1].text) for name in ("127x128 f32", "128x127 f16")}
    assert said == {
        "127x128 f32": ("· not run", "before: ✗ wrong value"),
        "128x127 f16": ("· not run", "before: ✔ pass"),
    }
    alone = case_rows(plan.cases, now, NO_RUN, glyphs=UNICODE)
    assert {row.cells[-1].text for row in alone[1:]} == {""}


def test_ten_thousand_cases_stay_a_table_of_two_hundred(fakes: ModuleType, candidate: Candidate, plan: Plan) -> None:
    results = [replace(fakes.passed(plan.cases[0]), case=f"case {number}") for number in range(10_000)]
    view = view_of([started(candidate), *(CaseFinished(at_s=0.1, number=1, total=1, result=one) for one in results)])
    assert len(view.cases) == 10_000
    assert len(case_rows(plan.cases, view, NO_RUN, glyphs=UNICODE)) == 200


def test_cases_are_filtered_by_any_word_of_their_row(fakes: ModuleType, candidate: Candidate, plan: Plan) -> None:
    view = view_of(fakes.some_fail(candidate, plan))
    wanted = [row.key for row in case_rows(plan.cases, view, NO_RUN, glyphs=UNICODE, wanted="WRONG")]
    assert wanted == ["127x128 f32", "127x128 f16"]


def test_findings_are_listed_heaviest_first_and_with_their_brackets(
    fakes: ModuleType, candidate: Candidate, plan: Plan
) -> None:
    rows = finding_rows(view_of(fakes.suspicious(candidate, plan)), glyphs=UNICODE)
    assert [[cell.text for cell in row.cells] for row in rows] == [
        ["22", "suspect", "library call", "torch.softmax computes the answer; the kernel's own result is not used"],
        ["19", "hint", "handler", "a try in [softmax]"],
    ]


def test_a_kernel_row_tells_its_resources(fakes: ModuleType, candidate: Candidate, plan: Plan) -> None:
    view = view_of(fakes.all_pass(candidate, plan))
    row = kernel_rows(view.kernels, view, glyphs=UNICODE)[0]
    assert [cell.text for cell in row.cells] == [
        "softmax_kernel", "✔ pass", "BLOCK=128 fp32", "1x781 f32", "40", "0 B", "16 B", "75%", "4", "3", "0.21 s", ""
    ]  # fmt: skip


def test_a_run_without_a_target_says_that_nothing_was_compiled(candidate: Candidate) -> None:
    view = reduce_all(NO_RUN, (replace(started(candidate), target=None),))
    assert plain_text((kernel_note(view),)) == "nothing was compiled: this run had no target; t chooses one"


def test_the_result_as_markdown_holds_verdict_cases_reason_and_kernels(
    fakes: ModuleType, candidate: Candidate, plan: Plan
) -> None:
    text = run_markdown(view_of(fakes.some_fail(candidate, plan)), CONTEXT, glyphs=UNICODE)
    assert text.startswith("### aten::softmax: wrong value (run #42)\n")
    assert "| 127x128 f32 | wrong value | 127 | nan | nan | 6 ms |" in text
    assert "only the end of the last dimension is wrong" in text
    assert "| softmax_kernel | sm_90 | 40 | 0 | 16 |" in text


def test_the_log_keeps_order_and_streams(candidate: Candidate) -> None:
    texts = [LogWritten(at_s=0.1, stream=Stream.STDOUT, text="a"), LogWritten(at_s=0.2, stream=Stream.STDERR, text="b")]
    view = view_of([started(candidate), *texts])
    assert [(line.stream, line.text) for line in view.log] == [(Stream.STDOUT, "a"), (Stream.STDERR, "b")]


def test_a_new_run_remembers_what_earlier_ones_said_of_each_case(
    fakes: ModuleType, candidate: Candidate, plan: Plan
) -> None:
    bench = Workbench(
        problem=plan.problem, path=fakes.Path("softmax.py"), saved=fakes.SOURCE, device="cpu", target="sm_90"
    )
    bench = bench.run_began(number=1, cached=False).happened(fakes.all_pass(candidate, plan))
    bench = bench.run_began(number=2, cached=False).happened(
        fakes.run_events(candidate, plan, [fakes.wrong(plan.cases[4])])
    )
    bench = bench.run_began(number=3, cached=False)
    assert bench.view == NO_RUN
    assert len(bench.before.cases) == 8
    assert [result.outcome for result in bench.before.cases][4] is Outcome.WRONG_VALUE


def test_targets_are_chosen_round_and_round(fakes: ModuleType) -> None:
    bench = Workbench(problem=fakes.softmax_problem(), path=fakes.Path("k.py"), saved=b"", device="cpu", target="sm_90")
    seen = []
    for _ in range(8):
        bench = bench.next_target()
        seen.append(bench.target)
    assert seen == ["sm_80", "sm_100", "sm_120", "gfx90a", "gfx942", "gfx950", "gfx1100", "sm_90"]


def test_the_list_of_operators_is_found_by_a_few_letters(fakes: ModuleType) -> None:
    found = choices(fakes.descriptions(), (), {}, Facets(query="rms"))
    assert [choice.problem.name for choice in found] == ["vllm::rms_norm"]


def test_a_facet_goes_through_what_occurs_and_back_to_all(fakes: ModuleType) -> None:
    facets, seen = Facets(), []
    for _ in range(4):
        facets = facets.cycled("source", fakes.descriptions(), {})
        seen.append(facets.source)
    assert seen == ["aten", "cublas", "vllm", None]
    categories = {Facets(source="aten").cycled("category", fakes.descriptions(), {}).category}
    assert categories == {problem.category for problem in fakes.descriptions() if problem.library == "aten"}
    assert [choice.problem.name for choice in choices(fakes.descriptions(), (), {}, Facets(dtype="f16"))] == [
        "aten::softmax"
    ]


def test_recent_files_stand_on_top_and_operators_with_runs_before_the_others(fakes: ModuleType) -> None:
    recent = (fakes.recent_file(fakes.Path("/k/rms_v3.py"), problem="vllm::rms_norm"),)
    run = fakes.PastRun(
        number=3,
        problem="vllm::rms_norm",
        digest="d",
        filename="rms_v3.py",
        device="cpu",
        target=None,
        started_at=fakes.NOW - timedelta(minutes=5),
        outcome=Outcome.PASS,
    )
    last = {"vllm::rms_norm": fakes.LastRun(run=run, runs=3, touched_at=run.started_at)}
    rows = operator_rows(choices(fakes.descriptions(), recent, last, Facets()), last, glyphs=UNICODE, now=fakes.NOW)
    assert [row.cells[0].text for row in rows] == [
        "▸ rms_v3.py",
        "vllm::rms_norm",
        "aten::softmax",
        "cublas::cublasSaxpy_v2",
    ]
    assert [cell.text for cell in rows[1].cells[3:]] == ["✔ pass", "5 min ago", "3"]


@pytest.mark.parametrize(
    ("changes", "best", "progress"),
    [
        ({}, None, Progress.RIGHT),
        ({}, 0.9, Progress.RIGHT),
        ({}, 1.42, Progress.FASTER),
        ({"flagged": True}, 1.42, Progress.FAILING),
        ({"outcome": Outcome.WRONG_VALUE}, 1.42, Progress.FAILING),
        ({"outcome": Outcome.CANCELLED}, None, Progress.UNTRIED),
        ({"outcome": None}, None, Progress.UNTRIED),
        ({"picked": True}, None, Progress.UNTRIED),
    ],
)
def test_progress_follows_the_last_verdict_and_the_best_speedup(
    fakes: ModuleType, changes: dict[str, Any], best: float | None, progress: Progress
) -> None:
    run = fakes.PastRun(number=3, problem="vllm::rms_norm", digest="d", filename="k.py", device="cpu", target=None,
                        started_at=fakes.NOW, outcome=Outcome.PASS)  # fmt: skip
    last = fakes.LastRun(run=replace(run, **changes), runs=1, touched_at=fakes.NOW, best_speedup=best)
    known = {"vllm::rms_norm": last}
    assert progress_of(last) is progress
    shown = [choice.problem.name for choice in choices(fakes.descriptions(), (), known, Facets(progress=progress))]
    assert "vllm::rms_norm" in shown
    assert ("aten::softmax" in shown) is (progress is Progress.UNTRIED)


def test_summary_counts_right_and_faster_operators(fakes: ModuleType) -> None:
    run = fakes.PastRun(number=3, problem="vllm::rms_norm", digest="d", filename="k.py", device="cpu", target=None,
                        started_at=fakes.NOW, outcome=Outcome.PASS)  # fmt: skip
    right = fakes.LastRun(run=run, runs=1, touched_at=fakes.NOW)
    known = {"vllm::rms_norm": right, "aten::softmax": replace(right, best_speedup=1.42)}
    assert "".join(span.text for span in progress_line(fakes.descriptions(), known)) == "2 of 3 right, 1 faster"
    rows = operator_rows(choices(fakes.descriptions(), (), known, Facets()), known, glyphs=UNICODE, now=fakes.NOW)
    assert {row.key: row.cells[3].text for row in rows} == {
        "vllm::rms_norm": "✔ pass",
        "aten::softmax": "✔ pass 1.42x",
        "cublas::cublasSaxpy_v2": "–",
    }


def test_an_operator_with_picked_cases_alone_has_no_verdict_yet(fakes: ModuleType) -> None:
    run = fakes.PastRun(number=3, problem="vllm::rms_norm", digest="d", filename="k.py", device="cpu", target=None,
                        started_at=fakes.NOW, outcome=Outcome.PASS, picked=True)  # fmt: skip
    last = {"vllm::rms_norm": fakes.LastRun(run=run, runs=1, touched_at=fakes.NOW)}
    rows = operator_rows(choices(fakes.descriptions(), (), last, Facets()), last, glyphs=UNICODE, now=fakes.NOW)
    assert [cell.text for cell in rows[0].cells[3:]] == ["– none yet", "just now", "1"]
    rail = {row.key: row.cells[1].text for row in rail_rows(fakes.descriptions(), last, glyphs=UNICODE)}
    assert rail["vllm::rms_norm"] == UNICODE.state(State.IDLE)


def test_every_recent_file_says_what_it_came_to_itself(fakes: ModuleType) -> None:
    older, newer = fakes.NOW - timedelta(minutes=9), fakes.NOW - timedelta(minutes=5)
    recent = tuple(
        fakes.recent_file(fakes.Path(f"/k/{name}.py"), problem="vllm::rms_norm", started_at=at, outcome=outcome)
        for name, at, outcome in (("right", newer, Outcome.PASS), ("wrong", older, Outcome.WRONG_VALUE))
    )
    last = {"vllm::rms_norm": fakes.LastRun(run=recent[0].run, runs=3, touched_at=recent[0].run.started_at)}
    rows = operator_rows(choices(fakes.descriptions(), recent, last, Facets()), last, glyphs=UNICODE, now=fakes.NOW)
    assert [[cell.text for cell in row.cells if cell.text] for row in rows[:2]] == [
        ["▸ right.py", "vllm", "rms_norm", "✔ pass", "5 min ago"],
        ["▸ wrong.py", "vllm", "rms_norm", "✗ wrong value", "9 min ago"],
    ]


def test_the_preview_says_what_opening_will_do(fakes: ModuleType) -> None:
    problem, path = fakes.softmax_problem(), "kernels/softmax.py"
    words = [
        plain_text(
            preview(fakes.described(problem), problem, file=path, file_exists=exists, sample=sample)
        ).splitlines()[-1]
        for exists, sample in ((True, True), (False, True), (False, False))
    ]
    assert words == [
        "file       enter opens kernels/softmax.py",
        "file       enter copies the sample to kernels/softmax.py",
        "file       n makes kernels/softmax.py from a template",
    ]


def test_preview_of_a_foreign_problem_states_no_tolerance_or_work(fakes: ModuleType) -> None:
    suite = SuiteOrigin(suite="kernelbench", form=CandidateForm.MODULE, own_rule="")
    problem = replace(fakes.softmax_problem(), suite=suite)
    shown = preview(fakes.described(problem), problem, file="k.py", file_exists=True, sample=False)
    assert plain_text(shown).splitlines()[4:-1] == [
        "cases      4 smoke, 4 full, 1 bench",
        "tolerance  calibrated when the reference runs",
        "cost       measured when the reference runs",
    ]


def test_moments_are_said_relative_to_now(fakes: ModuleType) -> None:
    now = fakes.NOW
    moments = [
        now - timedelta(seconds=5),
        now - timedelta(minutes=7),
        now - timedelta(hours=3),
        now - timedelta(days=40),
    ]
    assert [ago(moment, now) for moment in moments] == ["just now", "7 min ago", "3 h ago", "2026-02-02"]


def started(candidate: Candidate) -> RunStarted:
    return RunStarted(
        at_s=0.0,
        problem="aten::softmax",
        digest=candidate.digest,
        device="cpu",
        device_name="Triton interpreter",
        target="sm_90",
        cases=8,
    )


def probed(bench_fakes: ModuleType, candidate: Candidate, *, ended: bool) -> RunRecord:
    """A run that two of five cases are timed of, or one that is being probed."""
    plan = bench_fakes.bench_plan(bench_fakes.timed_problem())
    reported = list(bench_fakes.times_two_of_five(candidate, plan))
    verified = next(
        at for at, event in enumerate(reported) if isinstance(event, StageFinished) and event.stage is Stage.VERIFY
    )
    began = StageStarted(at_s=0.2, stage=Stage.PROBE)
    if not ended:
        return view_of([*reported[: verified + 1], began])
    passed = StageFinished(at_s=0.25, stage=Stage.PROBE, outcome=Outcome.PASS, elapsed_s=0.05)
    return view_of([*reported[: verified + 1], began, passed, *reported[verified + 1 :]])


def test_a_run_that_is_probed_says_so(bench_fakes: ModuleType, candidate: Candidate) -> None:
    view = probed(bench_fakes, candidate, ended=False)
    assert status_of(view, CONTEXT) == Status(state=State.PASSED, detail="8/8, probing", going_on=True)
    assert plain_text((progress(view, UNICODE, short=True), sentence(view, CONTEXT))) == (
        "verify 8/8 0.14s ✔ ▸ PROBE ▸ compile – ▸ bench –\n8/8 cases passed; probing"
    )


def test_probes_that_ran_stand_in_the_strip_where_there_is_room(bench_fakes: ModuleType, candidate: Candidate) -> None:
    view = probed(bench_fakes, candidate, ended=True)
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
def test_what_came_to_no_answer_failed_and_is_not_wrong(
    outcomes: tuple[Outcome, ...], reported: str, fakes: ModuleType, candidate: Candidate, plan: Plan
) -> None:
    results = [fakes.passed(case) for case in plan.cases]
    for place, outcome in enumerate(outcomes):
        results[place] = replace(results[place], outcome=outcome)
    assert reported in plain_text((progress(view_of(fakes.run_events(candidate, plan, results)), UNICODE),))


def test_a_run_that_was_cut_short_says_so_and_how_far_it_was(
    fakes: ModuleType, candidate: Candidate, plan: Plan
) -> None:
    view = replace(view_of(fakes.stops_half_way(candidate, plan)), cut_short=True)
    strip_context = replace(CONTEXT, opened=True)
    assert (status_of(view, strip_context).state, view.running) == (State.CUT_SHORT, False)
    assert plain_text((progress(view, UNICODE, short=True), sentence(view, strip_context))) == (
        "VERIFY 5/8 1 wrong ⊘ ▸ compile –\nno verdict: 5 of 8 cases were run, 1 of them wrong"
    )


def test_a_past_run_that_still_goes_on_is_shown_as_far_as_it_was(
    fakes: ModuleType, candidate: Candidate, plan: Plan
) -> None:
    view, strip_context = view_of(fakes.stops_half_way(candidate, plan)), replace(CONTEXT, opened=True, elapsed_s=3e5)
    assert plain_text((head(view, strip_context, UNICODE)[0], sentence(view, strip_context))) == (
        "✗ failed 1/8 so far, verifying 5/8 · aten::softmax · softmax.py · cpu to sm_90\n"
        "running in another process: 5 of 8 cases were run, 1 of them wrong"
    )


def test_a_run_that_has_said_nothing_yet_begins() -> None:
    strip_context = replace(CONTEXT, begun=True)
    assert status_of(NO_RUN, strip_context).state is State.STARTING
    assert plain_text((sentence(NO_RUN, strip_context),)) == "the run begins"


def test_the_line_at_fault_is_named_once(fakes: ModuleType, candidate: Candidate, plan: Plan) -> None:
    view = view_of(fakes.all_pass(candidate, plan))
    for said, reported in (
        ("syntax error: '(' was never closed", "line 14: syntax error: '(' was never closed"),
        ("not run: (library call, line 14: torch.softmax)", "not run: (library call, line 14: torch.softmax)"),
    ):
        verdict = Verdict(outcome=Outcome.COMPILE_ERROR, sentence=said, passed=0, total=8, location=Location(line=14))
        assert plain_text((sentence(replace(view, verdict=verdict), CONTEXT),)) == reported


def test_what_makes_a_right_run_not_credible_stands_first(fakes: ModuleType, candidate: Candidate, plan: Plan) -> None:
    assert plain_text((sentence(view_of(fakes.suspicious(candidate, plan)), CONTEXT),)) == (
        "not credible, line 22: torch.softmax computes the answer; the kernel's own result is not used; "
        "right on 8 of 8 cases"
    )


def cases_of(fakes: ModuleType, plan: Plan, *, wrong: int = 0, count: int = 8) -> list[CaseFinished]:
    """The first `count` cases of the plan, the last `wrong` of them wrong."""
    right = count - wrong
    results = [fakes.passed(case) if place < right else fakes.wrong(case) for place, case in enumerate(plan.cases)]
    return [
        CaseFinished(at_s=0.2, number=place + 1, total=8, result=result) for place, result in enumerate(results[:count])
    ]


def test_headline_with_a_passed_tier_names_it(fakes: ModuleType, candidate: Candidate, plan: Plan) -> None:
    tier = TierFinished(at_s=0.27, tier=Tier.SMOKE, passed=3, total=3)
    verifying = StageStarted(at_s=0.1, stage=Stage.VERIFY, total=8)
    view = view_of([started(candidate), verifying, *cases_of(fakes, plan, count=3), tier])
    assert status_of(view, CONTEXT) == Status(state=State.VERIFYING, detail="3/8, smoke 3/3 passed")
    assert plain_text((sentence(view, CONTEXT),)) == "smoke passed after 0.27 s; 3 of 8 cases run, none failed"


def test_headline_is_failed_with_the_first_failed_case(fakes: ModuleType, candidate: Candidate, plan: Plan) -> None:
    verifying = StageStarted(at_s=0.1, stage=Stage.VERIFY, total=8)
    view = view_of([started(candidate), verifying, *cases_of(fakes, plan, wrong=1, count=4)])
    assert status_of(view, CONTEXT) == Status(state=State.FAILED, detail="1/8 so far, verifying 4/8", going_on=True)


def test_headline_with_all_cases_right_passes_before_the_builds(
    fakes: ModuleType, candidate: Candidate, plan: Plan
) -> None:
    compiling = StageStarted(at_s=0.3, stage=Stage.COMPILE)
    view = view_of([started(candidate), *cases_of(fakes, plan), compiling])
    assert status_of(view, CONTEXT) == Status(state=State.PASSED, detail="8/8, compiling 0/0", going_on=True)
    assert next_step(view, CONTEXT).words == "cancel"


def test_headline_with_a_suspect_finding_is_flagged_early(fakes: ModuleType, candidate: Candidate, plan: Plan) -> None:
    finding = FindingRaised(at_s=0.3, finding=Finding(check="c", severity=Severity.SUSPECT, message="m"))
    view = view_of([started(candidate), *cases_of(fakes, plan), finding])
    assert status_of(view, CONTEXT).state is State.FLAGGED


def test_headline_of_a_kernel_that_does_not_build_fails_early(
    fakes: ModuleType, candidate: Candidate, plan: Plan
) -> None:
    kernel = replace(fakes.compiled(), outcome=Outcome.COMPILE_ERROR, message="too much shared memory")
    compiled = KernelCompiled(at_s=0.4, number=1, total=3, kernel=kernel)
    view = view_of([started(candidate), *cases_of(fakes, plan), StageStarted(at_s=0.3, stage=Stage.COMPILE), compiled])
    assert status_of(view, CONTEXT).state is State.FAILED
    assert plain_text((sentence(view, CONTEXT),)).endswith("does not build for sm_90: too much shared memory")
