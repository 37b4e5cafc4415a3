"""Rows of cases, findings and kernels, and notes on lines that failed."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from engine.model import (
    Candidate,
    Diagnosis,
    DiagnosisKind,
    Explanation,
    Outcome,
    Plan,
)
from engine.model.events import (
    CaseFinished,
)
from engine.reports.run_record import NO_RUN
from kgtui.state.format.glyphs import ASCII, UNICODE
from kgtui.state.format.lines import plain_text
from kgtui.state.run.cases import (
    case_brief,
    case_rows,
)
from kgtui.state.run.endings import ago
from kgtui.state.run.error_notes import error_notes
from kgtui.state.run.suspects import Suspects
from kgtui.state.run.tables import finding_rows, kernel_rows
from kgtui.state.workbench.workbench import Workbench
from tests.kgtui import fakes
from tests.kgtui.state.strip_lines import started, view_of


def test_failed_lines_state_number_of_failed_cases(candidate: Candidate, plan: Plan) -> None:
    assert error_notes(view_of(fakes.some_fail(candidate, plan))) == {12: "2 failing"}


def test_suspect_finding_marks_line_but_hint_does_not(candidate: Candidate, plan: Plan) -> None:
    assert error_notes(view_of(fakes.suspicious(candidate, plan))) == {22: "library call"}


def test_short_case_text_is_symptom_and_line(plan: Plan) -> None:
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


def test_wrong_case_note_begins_with_symptom(plan: Plan) -> None:
    result = fakes.wrong(plan.cases[4])
    looks = Diagnosis(kind=DiagnosisKind.TAIL_MASK, sentence="only the end", evidence="e", explained=1, wrong=1)
    report = replace(result.outputs[0], explanation=Explanation(diagnoses=(looks,)))
    view = replace(NO_RUN, digest="d", cases=(replace(result, outputs=(report,)),))
    row = case_rows(plan.cases, view, NO_RUN, glyphs=UNICODE)[0]
    assert row.cells[-1].text == "tail mask; 127 of 16,256 elements differ, worst at [3, 127]"


def test_pending_cases_keep_result_of_previous_run(candidate: Candidate, plan: Plan) -> None:
    before, now = view_of(fakes.all_pass(candidate, plan)), view_of(fakes.stops_half_way(candidate, plan))
    rows = {row.key: row for row in case_rows(plan.cases, now, before, glyphs=UNICODE)}
    assert (rows["127x128 f32"].stale, rows["127x128 f32"].cells[1].text) == (False, "✗ wrong value")
    assert (rows["128x127 f16"].stale, rows["128x127 f16"].cells[1].text) == (True, "✔ pass")
    assert rows["128x127 f16"].cells[-1].text == "stale"


def test_partial_run_shows_other_cases_as_not_run(candidate: Candidate, plan: Plan) -> None:
    before = view_of(fakes.all_pass(candidate, plan))
    now = view_of(fakes.run_events(candidate, plan, [fakes.passed(plan.cases[0])]))
    rows = case_rows(plan.cases, now, before, glyphs=UNICODE)
    assert [row.cells[1].text for row in rows][:2] == ["✔ pass", "· not run"]


def test_case_omitted_by_run_states_earlier_result(candidate: Candidate, plan: Plan) -> None:
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


def test_ten_thousand_cases_are_table_of_two_hundred(candidate: Candidate, plan: Plan) -> None:
    results = [replace(fakes.passed(plan.cases[0]), case=f"case {number}") for number in range(10_000)]
    view = view_of([started(candidate), *(CaseFinished(at_s=0.1, number=1, total=1, result=one) for one in results)])
    assert len(view.cases) == 10_000
    assert len(case_rows(plan.cases, view, NO_RUN, glyphs=UNICODE)) == 200


def test_cases_are_filtered_by_any_word_of_row(candidate: Candidate, plan: Plan) -> None:
    view = view_of(fakes.some_fail(candidate, plan))
    wanted = [row.key for row in case_rows(plan.cases, view, NO_RUN, glyphs=UNICODE, wanted="WRONG")]
    assert wanted == ["127x128 f32", "127x128 f16"]


def test_findings_are_sorted_by_severity_with_brackets(candidate: Candidate, plan: Plan) -> None:
    rows = finding_rows(view_of(fakes.suspicious(candidate, plan)), glyphs=UNICODE)
    assert [[cell.text for cell in row.cells] for row in rows] == [
        ["22", "suspect", "library call", "torch.softmax computes the answer; the kernel's own result is not used"],
        ["19", "hint", "handler", "a try in [softmax]"],
    ]


def test_kernel_row_states_its_resources(candidate: Candidate, plan: Plan) -> None:
    view = view_of(fakes.all_pass(candidate, plan))
    row = kernel_rows(view.kernels, view, glyphs=UNICODE)[0]
    assert [cell.text for cell in row.cells] == [
        "softmax_kernel", "✔ pass", "BLOCK=128 fp32", "1x781 f32", "40", "0 B", "16 B", "75%", "4", "3", "0.21 s", ""
    ]  # fmt: skip


def test_new_run_remembers_earlier_result_of_case(candidate: Candidate, plan: Plan) -> None:
    bench = Workbench(problem=plan.problem, path=Path("softmax.py"), saved=fakes.SOURCE, device="cpu", target="sm_90")
    bench = bench.run_began(number=1, cached=False).with_events(fakes.all_pass(candidate, plan))
    bench = bench.run_began(number=2, cached=False).with_events(
        fakes.run_events(candidate, plan, [fakes.wrong(plan.cases[4])])
    )
    bench = bench.run_began(number=3, cached=False)
    assert bench.view == NO_RUN
    assert len(bench.before.cases) == 8
    assert [result.outcome for result in bench.before.cases][4] is Outcome.WRONG_VALUE


def test_recent_times_are_relative() -> None:
    now = fakes.NOW
    moments = [
        now - timedelta(seconds=5),
        now - timedelta(minutes=7),
        now - timedelta(hours=3),
        now - timedelta(days=40),
    ]
    assert [ago(moment, now) for moment in moments] == ["just now", "7 min ago", "3 h ago", "2026-02-02"]
