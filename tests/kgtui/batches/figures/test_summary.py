"""A batch summed up: what counts, by group, and the suites' own metrics."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.model import (
    CaseResult,
    Category,
    Diagnosis,
    DiagnosisKind,
    Explanation,
    Location,
    Outcome,
    OutputReport,
    Tier,
)
from kgtui.batches.documents import as_csv, as_html, as_markdown, as_text, plain_result
from kgtui.batches.figures.summary import summary_of
from kgtui.batches.lines import counts_text, duration_text, ending_text, result_line
from kgtui.batches.results import BatchProgress, CandidateResult, counts_of
from sessions.candidates.checked import CheckedRow, ListedCandidate
from sessions.candidates.generation_rows import RunResult


def result(
    problem="aten::add", outcome=Outcome.PASS, *, place=1, speedup=None, flagged=False, refusal="",
    category=Category.POINTWISE_BINARY, digest="d", rule=None, weakness="",
):  # fmt: skip
    passed = 3 if outcome is Outcome.PASS else 0
    run = RunResult(
        number=place, outcome=outcome, sentence="as prepared", flagged=flagged, passed=passed, total=3, elapsed_s=0.5,
        benchmark_s=0.0, speedup=speedup, proven=passed, rule_calls=None if rule is None else 3, rule_passed=rule,
    )  # fmt: skip
    candidate = ListedCandidate(
        name=f"{place}.py", problem=problem, sample=place, digest="" if refusal else digest, refusal=refusal
    )
    row = CheckedRow(place=place, candidate=candidate, run=None if refusal else run)
    return CandidateResult(row=row, category=category, weakness=weakness)


def explained(*, case="4x33 f32", location=None):
    """A wrong result with a diagnosis of this case, and the location of its verdict."""
    found = Diagnosis(kind=DiagnosisKind.MISSING_SCALE, sentence="exp2 used", evidence="3 match", explained=3, wrong=3)
    output = OutputReport(name="return", outcome=Outcome.WRONG_VALUE, explanation=Explanation(diagnoses=(found,)))
    diagnosed = CaseResult(
        case=case, tier=Tier.SMOKE, outcome=Outcome.WRONG_VALUE, elapsed_s=0.1, calls=1, seed=1, outputs=(output,)
    )
    wrong = result(outcome=Outcome.WRONG_VALUE)
    assert wrong.run is not None
    run = replace(wrong.run, sentence="case 4x33 f32 failed")
    return replace(wrong, row=replace(wrong.row, run=run, location=location, diagnosed=diagnosed))


DIAGNOSIS = "return: looks like missing scale: exp2 used (explains all wrong elements; 3 match)"


@pytest.mark.parametrize(
    ("reported", "reason"),
    [
        (explained(), f"case 4x33 f32 failed; {DIAGNOSIS}"),
        (explained(case="1x1 f32"), f"case 4x33 f32 failed; 1x1 f32: {DIAGNOSIS}"),
        (explained(location=Location(line=98, column=7)), f"1.py:98:7: case 4x33 f32 failed; {DIAGNOSIS}"),
        (result(refusal="no code"), "no code"),
    ],
    ids=["diagnosis", "another case", "location", "neither"],
)
def test_reason_has_location_and_diagnosis(reported, reason):
    assert result_line(reported, number=1, total=1).partition(": ")[2] == reason
    assert as_markdown([reported], title="a batch").splitlines()[-3].endswith(f"| {reason} |")
    assert f"<td>{reason}</td></tr>" in as_html([reported], title="a batch")


def test_documents_have_location_and_diagnosis_apart():
    plain = plain_result(explained(location=Location(line=98)))
    names = ("reason", "line", "column", "diagnosis")
    assert [plain[name] for name in names] == ["case 4x33 f32 failed", 98, None, DIAGNOSIS]
    assert (
        as_csv([explained(location=Location(line=98, column=7))], title="")
        .splitlines()[1]
        .endswith(f",case 4x33 f32 failed,,98,7,{DIAGNOSIS}")
    )


def test_engine_errors_are_not_counted():
    found = summary_of([result(), result(outcome=Outcome.UNSUPPORTED), result(problem="", refusal="unknown")]).all
    assert (found.candidates, found.not_counted, found.rates.attempts, found.rates.correct.value) == (3, 2, 1, 1.0)


def test_an_answer_without_code_is_a_failure():
    found = summary_of([result(), result(refusal="no code block")]).all
    assert (found.rates.with_code, found.rates.compiled, found.rates.correct.value) == (0.5, 0.5, 0.5)


def test_a_flagged_candidate_is_not_correct():
    found = summary_of([result(flagged=True)]).all
    assert (found.rates.correct.value, found.counts.flagged, found.rates.unsolved) == (0.0, 1, 1)


def test_pass_at_k_is_unbiased_over_operators():
    wrong = [result(outcome=Outcome.WRONG_VALUE, place=place) for place in range(2, 6)]
    found = summary_of([result(), *wrong]).all.rates
    assert {k: value.value for k, value in found.pass_at.items()} == {1: pytest.approx(0.2), 5: pytest.approx(1.0)}


def test_failures_lower_the_mean_speedup():
    found = summary_of([result(speedup=4.0), result("aten::mm", Outcome.WRONG_VALUE)]).all.rates
    assert (found.speedup_correct.value, found.speedup_all.value) == (pytest.approx(4.0), pytest.approx(2.0))


def test_level_named_like_category_is_left_out():
    one, other = ("kernelbenchx::Loss/kl_div", "kernelbenchx::Math/erf")
    groups = summary_of([result(one, category="Loss"), result(other, category="Math")]).groups
    assert [group.name for group in groups] == ["all", "kernelbenchx Loss", "kernelbenchx Math"]


def test_groups_are_libraries_and_categories():
    other = result("vllm::silu_and_mul", Outcome.WRONG_VALUE, category=Category.NORMALISATION)
    groups = summary_of([result(), other]).groups
    assert [(group.kind, group.name, group.rates.correct.value) for group in groups] == [
        ("all", "all", 0.5),
        ("library", "aten", 1.0),
        ("library", "vllm", 0.0),
        ("category", str(Category.NORMALISATION), 0.0),
        ("category", str(Category.POINTWISE_BINARY), 1.0),
    ]


def test_a_level_of_a_suite_is_a_group():
    names = ("kernelbench::level1/1_A", "kernelbench::level2/1_B")
    assert [result(name).library for name in names] == ["kernelbench level1", "kernelbench level2"]


def test_fast_1_counts_all_problems():
    name = "kernelbench::level1/{}"
    fast, slow = result(name.format(1), speedup=2.0), result(name.format(2), speedup=0.5)
    (found,) = summary_of([fast, slow, result(name.format(3), Outcome.WRONG_VALUE)]).headlines
    assert (found.suite, found.metric, found.value) == ("kernelbench", "fast_1", pytest.approx(1 / 3))


def test_a_headline_without_times_is_not_measured():
    (found,) = summary_of([result("kernelbench::level1/1")]).headlines
    assert found.value is None


def test_results_are_counted_by_word():
    results = [result(), result(outcome=Outcome.WRONG_VALUE), result(flagged=True), result(refusal="no code")]
    assert counts_text(counts_of(results)) == "1 passed (1 proven), 2 failed, 1 flagged"
    assert ending_text(7, results) == "batch 7: 4/4 candidates: 1 passed (1 proven), 2 failed, 1 flagged"


def test_summary_names_remaining_candidates():
    assert ending_text(7, [result(outcome=Outcome.CANCELLED)]) == (
        "batch 7: 0/1 candidates: 0 passed, 1 not run; 1 left, the same command with --resume runs the rest"
    )
    running = ending_text(7, [result(outcome=Outcome.CANCELLED)], is_running=True)
    assert running == "batch 7: 0/1 candidates: 0 passed, 1 not run; 1 left"


def test_one_candidate_without_verdict_is_singular():
    text = as_text([result(), result(outcome=Outcome.CANCELLED, place=2)])
    assert "; not counted: 1 candidate without a verdict)" in text


def test_time_left_follows_the_rate_of_new_results():
    progress = BatchProgress(batch=1, total=10, done=6, fresh=2, began_s=100.0)
    assert progress.left_s(now_s=110.0) == 20.0
    assert BatchProgress(batch=1, total=10, done=6, fresh=0, began_s=100.0).left_s(now_s=110.0) is None
    assert [duration_text(value) for value in (45, 720, 6000)] == ["45 s", "12 min", "1 h 40 min"]


def test_every_form_names_each_candidate():
    results = [result(place=1), result(place=2, outcome=Outcome.WRONG_VALUE)]
    for form in (as_csv, as_markdown, as_html):
        text = form(results, title="Batch 1")
        assert all(name in text for name in ("1.py", "2.py", "wrong value")), form
    assert "aten" not in as_text(results)  # the one library is no group
    assert as_html(results, title="<script>").count("<script>") == 0


WEAK = (
    result(weakness="zeros pass in every case"),
    result(outcome=Outcome.WRONG_VALUE, place=2, weakness="zeros pass in every case"),
    result("aten::mm", place=3),
)


def test_weak_operators_are_counted_in_every_report():
    assert "Operators that accept wrong candidates" in as_text(WEAK)
    assert "1 of 2 operators: a candidate that passed there may be wrong" in as_markdown(WEAK, title="b")
    assert "zeros pass in every case" in as_html(WEAK, title="b")
    assert [row.split(",")[-4] for row in as_csv(WEAK, title="b").splitlines()[1:]] == [*[WEAK[0].weakness] * 2, ""]
    assert ending_text(3, WEAK).endswith("; 1 of 2 operators accept some wrong candidates")


def test_batch_without_weak_operators_names_none():
    assert summary_of([result()]).weak == ()
    assert "cannot tell" not in as_text([result()]) + ending_text(3, [result()])


def test_weak_operator_counts_candidates_that_passed():
    (weak,) = summary_of(WEAK).weak
    assert (weak.operator, weak.candidates, weak.passed) == ("aten::add", 2, 1)
