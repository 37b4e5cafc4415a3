"""Cells and metrics from stored generations, and the forms of a report."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from engine.model import Outcome
from kgtui.generation.comparing.comparison import comparison_of
from kgtui.generation.comparing.groups import groups_from, source_of
from kgtui.generation.reports import documents, tables
from kgtui.generation.reports.costs import costs_table, costs_text
from kgtui.generation.reports.tables import Table, cell_text, interval_text, per_correct_text, per_faster_text
from sessions.candidates.generation_rows import (
    CostBy,
    CostRow,
    GenerationRow,
    GenerationState,
    RunResult,
    Stop,
    TokenUsage,
)
from tests.kgtui.fakes import descriptions


def row(
    problem="aten::add", model="alpha", *, outcome=Outcome.PASS, flagged=False, speedup=None, cost=100, code=True,
    state=GenerationState.SETTLED, number=1,
):  # fmt: skip
    run = RunResult(
        number=number, outcome=outcome, sentence="a sentence", flagged=flagged, passed=1, total=1, elapsed_s=1.0,
        benchmark_s=0.0, speedup=speedup,
    )  # fmt: skip
    return GenerationRow(
        id=1, session=1, batch=1, problem=problem, provider="openai", model=model, place="sample-1", state=state,
        sent="[]", received="", stop=Stop.COMPLETE, extraction="" if code else "no code",
        usage=TokenUsage(input_tokens=1, output_tokens=1), cost_microusd=cost, reserved_microusd=500, reserved_tokens=9,
        digest="d" if code else None, elapsed_s=1.0, run=run if code else None,
    )  # fmt: skip


def metrics(*rows):
    return comparison_of(rows).metrics[0]


def test_a_cell_shows_the_fastest_correct_answer():
    found = comparison_of([row(speedup=1.2, number=1), row(speedup=1.5, number=2), row(outcome=Outcome.CRASHED)])
    (cell,) = found.cells
    assert (cell.word, cell.correct, cell.speedup, cell.cost.microusd) == ("passed", 2, 1.5, 300)
    assert cell_text(cell) == "passed 1.50x 2/3 $0.000300 #2"


@pytest.mark.parametrize(
    ("rows", "word"),
    [
        ([row(flagged=True)], "flagged"),
        ([row(outcome=Outcome.WRONG_VALUE)], "wrong value"),
        ([row(code=False)], "no code"),
        ([row(outcome=Outcome.ENGINE_ERROR)], "not run"),
    ],
)
def test_cell_without_correct_answer_gives_reason(rows, word):
    assert comparison_of(rows).cells[0].word == word


def test_flagged_and_missing_code_count_as_failures():
    found = metrics(row(), row(flagged=True), row(code=False), row(outcome=Outcome.COMPILE_ERROR))
    assert (found.rates.attempts, found.rates.correct.value) == (4, 0.25)
    assert (found.rates.with_code, found.rates.compiled) == (0.75, 0.5)


def test_engine_error_is_not_an_attempt():
    assert metrics(row(), row(outcome=Outcome.ENGINE_ERROR)).rates.attempts == 1


def test_lost_answer_costs_without_attempt():
    found = metrics(row(), row(state=GenerationState.LOST, cost=None, code=False))
    assert (found.rates.attempts, found.cost.unpriced, found.microusd_for_correct) == (1, 1, None)


def test_fast_p_needs_more_than_p():
    found = metrics(row(speedup=1.0), row(speedup=1.6), row(speedup=3.0, flagged=True), row(outcome=Outcome.CRASHED))
    assert {p: value.value for p, value in found.rates.fast.items()} == {
        0.0: 0.5, 0.5: 0.5, 0.8: 0.5, 1.0: 0.25, 1.5: 0.25, 2.0: 0.0
    }  # fmt: skip


def test_nothing_timed_has_no_fast_p_above_zero():
    found = metrics(row())
    assert (list(found.rates.fast), found.rates.speedup_correct, found.microusd_for_faster) == ([0.0], None, None)


@pytest.mark.parametrize(("cost", "per_correct"), [(300, "$0.000300"), (None, "unknown")])
def test_untimed_batch_has_no_cost_per_speedup(cost, per_correct):
    found = metrics(row(cost=cost))
    assert (per_correct_text(found), per_faster_text(found)) == (per_correct, "-")


def test_failures_lower_the_mean_over_all():
    found = metrics(row("aten::add", speedup=4.0), row("aten::mm", outcome=Outcome.WRONG_VALUE))
    assert (found.rates.speedup_correct.value, found.rates.speedup_all.value) == (
        pytest.approx(4.0),
        pytest.approx(2.0),
    )


def test_costs_are_shared_by_correct_and_faster_kernels():
    found = metrics(row(speedup=2.0), row(speedup=0.5), row(outcome=Outcome.CRASHED))
    assert (found.microusd_for_correct, found.microusd_for_faster) == (150.0, 300.0)


def test_groups_have_metrics_of_their_own():
    rows = [row("aten::add"), row("vllm::rms_norm", outcome=Outcome.CRASHED)]
    found = comparison_of(rows, groups_of=lambda name: (name.partition("::")[0], "normalization"))
    assert [one.group for one in found.partial_groups] == ["aten", "vllm"]
    found = comparison_of(rows)
    assert [(one.group, one.rates.correct.value) for one in found.by_group] == [("aten", 1.0), ("vllm", 0.0)]


def test_two_models_are_tested_over_common_operators():
    rows = [row(problem, model) for problem in ("a::x", "a::y") for model in ("alpha", "beta")]
    rows += [row("a::z", "alpha")]
    (test,) = comparison_of(rows).tests
    assert (test.first, test.second, test.operators, test.p) == ("openai:alpha", "openai:beta", 2, None)


@pytest.fixture
def found():
    return comparison_of([row(speedup=1.5), row("aten::mm", "beta<b>", outcome=Outcome.WRONG_VALUE, cost=None)])


def test_html_escapes_and_loads_nothing(found):
    page = documents.as_html(found, title="a <title>")
    assert "beta<b>" not in page
    assert "beta&lt;b&gt;" in page
    assert "a &lt;title&gt;" in page
    assert not any(word in page for word in ("<script", "src=", "href=", "url("))
    titles = re.findall("<figcaption>(.*)</figcaption>", page)
    assert titles == [
        "Solved operators against answers of each operator",
        "Solved operators against cost of each operator",
        "Speed-up (all) against answers of each operator",
        "Speed-up (all) against cost of each operator",
        "fast_p",
    ]
    assert page.count('<li class="note">openai:beta&lt;b&gt;: the cost of 1 answer is unknown</li>') == 2


def test_curves_have_colours_without_style_sheet(found):
    page = documents.as_html(found, title="a title")
    lines = re.findall("<polyline [^>]*>", page)
    assert len(lines) == 6
    assert all('fill="none" stroke="#' in one for one in lines)


def test_json_has_null_for_unknown_values(found):
    document = json.loads(documents.as_json(found))
    beta = next(cell for cell in document["cells"] if cell["model"] == "openai:beta<b>" and cell["attempts"])
    assert (beta["cost_microusd"], beta["speedup"], beta["verdict"]) == (None, None, "wrong value")


def test_json_has_four_curves_of_each_model(found):
    curves = json.loads(documents.as_json(found))["curves"]
    assert [
        (one["quantity"], one["against"], one["points"], one["why"]) for one in curves if "alpha" in one["model"]
    ] == [
        ("solved", "answers", [[0, 0], [1, 1]], ""),
        ("solved", "cost", [[0, 0], [100, 1]], ""),
        ("speedup", "answers", [[0, 1], [1, 1.5]], ""),
        ("speedup", "cost", [[0, 1], [100, 1.5]], ""),
    ]


def test_quantities_that_were_not_measured_have_no_column(found):
    header = tables.metrics_table(found).header
    assert "pass@1" in header and "speed-up (all)" in header and "pass@5" not in header
    untimed = comparison_of([row()])
    assert "speed-up (all)" not in tables.metrics_table(untimed).header
    assert tables.fast_table(untimed).rows == ()


def test_one_operator_has_no_interval():
    assert interval_text(metrics(row()).rates.correct, percent=True) == "100%"


def test_csv_has_a_row_for_each_answer(found):
    assert documents.as_csv(found).splitlines() == [
        "operator,model,place,run,outcome,flagged,speedup,input_tokens,output_tokens,cost_microusd,no_code",
        "aten::add,openai:alpha,sample-1,1,pass,0,1.5,1,1,100,",
        "aten::mm,openai:beta<b>,sample-1,1,wrong_value,0,,1,1,,",
    ]


def test_markdown_and_text_have_the_same_tables(found):
    titles = ("Models and operators", "Metrics", "fast_p", "Differences between models")
    assert all(title in documents.as_text(found) for title in titles)
    assert all(f"## {title}" in documents.as_markdown(found, title="t") for title in titles)


def test_unknown_cost_is_a_word():
    one = CostRow(
        group="openai:m", answers=2, uncounted=0, unpriced=2, input_tokens=1, cached_tokens=0, output_tokens=1,
        reasoning_tokens=0, cost_microusd=None, wall_s=1.0, engine_s=0.0, device_s=0.0, correct=1, faster=0,
    )  # fmt: skip
    assert "unknown" in costs_text([one], CostBy.MODEL)
    assert "$0" not in costs_text([one], CostBy.MODEL)


@pytest.mark.parametrize(
    ("uncounted", "cells"),
    [(0, ("1,200", "0", "70", "0")), (1, ("> 1,200", "> 0", "> 70", "> 0")), (2, ("unknown",) * 4)],
)
def test_unknown_tokens_are_never_0(uncounted, cells):
    row = CostRow(
        group="m", answers=2, unpriced=2, uncounted=uncounted, input_tokens=1200, cached_tokens=0, output_tokens=70,
        reasoning_tokens=0, cost_microusd=None, wall_s=1.0, engine_s=0.0, device_s=None, correct=1, faster=None,
    )  # fmt: skip
    assert costs_table([row], CostBy.MODEL).rows[0][2:6] == cells


def test_cost_without_timed_run_has_no_faster_kernels():
    row = CostRow(
        group="m", answers=1, uncounted=0, unpriced=0, input_tokens=1, cached_tokens=0, output_tokens=1,
        reasoning_tokens=0, cost_microusd=1, wall_s=1.0, engine_s=2.0, device_s=None, correct=1, faster=None,
    )  # fmt: skip
    assert costs_table([row], CostBy.MODEL).rows[0][-6:] == ("2.0", "-", "1", "$0.000001", "-", "-")


def test_columns_of_numbers_are_known():
    table = Table(
        title="", header=("a",) * 4, rows=(("m", "1,200", "67% [50%, 100%]", "-"), ("n", "-", "unknown", "-"))
    )
    assert [table.is_number(place) for place in range(4)] == [False, True, True, False]


def test_task_of_suite_is_grouped_by_level():
    assert source_of("kernelbench::level1/23_Softmax") == ("kernelbench", "kernelbench::level1")
    assert source_of("aten::softmax") == ("aten",)


def test_suite_category_is_named_with_suite():
    task = replace(descriptions()[0], name="s::level1/a", category="fusions", reference={"a.py": "..."})
    groups = groups_from([task, replace(task, name="s::easy/b", category="easy")])
    assert groups("s::level1/a") == ("s", "s::level1", "s::fusions")
    assert groups("s::easy/b") == ("s", "s::easy")
