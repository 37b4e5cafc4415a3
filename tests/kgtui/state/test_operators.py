"""The list of operators: filters, order, results and previews."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from engine.model import (
    Outcome,
)
from engine.model.problems.form import CandidateForm
from engine.model.problems.suite_origin import SuiteOrigin
from kgtui.ports.protocols import LastRun, PastRun
from kgtui.state.format.glyphs import UNICODE, State
from kgtui.state.format.lines import Tone, plain_text
from kgtui.state.operators import (
    COLUMNS,
    Facets,
    Progress,
    choices,
    facet_line,
    operator_rows,
    preview,
    progress_line,
    progress_of,
    rail_rows,
)
from kgtui.state.workbench.workbench import Workbench
from tests.kgtui import fakes


def test_targets_are_chosen_round_and_round() -> None:
    bench = Workbench(problem=fakes.softmax_problem(), path=Path("k.py"), saved=b"", device="cpu", target="sm_90")
    seen = []
    for _ in range(8):
        bench = bench.next_target()
        seen.append(bench.target)
    assert seen == ["sm_80", "sm_100", "sm_120", "gfx90a", "gfx942", "gfx950", "gfx1100", "sm_90"]


def test_operators_are_found_by_few_letters() -> None:
    found = choices(fakes.descriptions(), (), {}, Facets(query="rms"))
    assert [choice.problem.name for choice in found] == ["vllm::rms_norm"]


@pytest.mark.parametrize("place", range(len(COLUMNS)))
def test_column_has_a_gap_behind_its_label(place: int) -> None:
    assert COLUMNS[place].width > len(COLUMNS[place].label)  # a scroll bar covers the gap of the last one


def test_chosen_facets_fit_into_80_columns() -> None:
    facets = Facets(source="cublas", category="pointwise_inplace", dtype="complex", progress=Progress.UNTRIED)
    said = plain_text((facet_line(facets, 110, 210),))
    assert said == "110 of 210   s cublas   c pointwise_inplace   d complex   t untried"
    assert plain_text((facet_line(Facets(), 210, 210),)) == (
        "210 of 210   s source all   c category all   d dtype all   t state all"
    )


def test_facet_cycles_through_values_and_all() -> None:
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


def test_weak_operator_marked_in_list_and_explained() -> None:
    first, *others = fakes.descriptions()
    weak = replace(first, weakness="zeros pass in every case")
    rows = operator_rows(choices((weak, *others), (), {}, Facets()), {}, glyphs=UNICODE, now=fakes.NOW)
    assert [row.cells[0] for row in rows if row.cells[0].tone is Tone.WARN] == [(f"{first.name} !", Tone.WARN)]
    lines = preview(weak, None, file="k.py", file_exists=True, sample=False)
    assert "audit      verdicts unreliable: zeros pass in every case" in plain_text(lines).splitlines()


def test_recent_files_then_operators_with_runs_come_first() -> None:
    recent = (fakes.recent_file(Path("/k/rms_v3.py"), problem="vllm::rms_norm"),)
    run = PastRun(
        number=3,
        problem="vllm::rms_norm",
        digest="d",
        path=Path("rms_v3.py"),
        device="cpu",
        target=None,
        started_at=fakes.NOW - timedelta(minutes=5),
        outcome=Outcome.PASS,
    )
    last = {"vllm::rms_norm": LastRun(run=run, runs=3, touched_at=run.started_at)}
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
def test_progress_follows_last_verdict_and_best_speedup(
    changes: dict[str, Any], best: float | None, progress: Progress
) -> None:
    run = PastRun(number=3, problem="vllm::rms_norm", digest="d", path=Path("k.py"), device="cpu", target=None,
                        started_at=fakes.NOW, outcome=Outcome.PASS)  # fmt: skip
    last = LastRun(run=replace(run, **changes), runs=1, touched_at=fakes.NOW, best_speedup=best)
    known = {"vllm::rms_norm": last}
    assert progress_of(last) is progress
    shown = [choice.problem.name for choice in choices(fakes.descriptions(), (), known, Facets(progress=progress))]
    assert "vllm::rms_norm" in shown
    assert ("aten::softmax" in shown) is (progress is Progress.UNTRIED)


def test_summary_counts_right_and_faster_operators() -> None:
    run = PastRun(number=3, problem="vllm::rms_norm", digest="d", path=Path("k.py"), device="cpu", target=None,
                        started_at=fakes.NOW, outcome=Outcome.PASS)  # fmt: skip
    right = LastRun(run=run, runs=1, touched_at=fakes.NOW)
    known = {"vllm::rms_norm": right, "aten::softmax": replace(right, best_speedup=1.42)}
    assert "".join(span.text for span in progress_line(fakes.descriptions(), known)) == "2 of 3 passing, 1 faster"
    rows = operator_rows(choices(fakes.descriptions(), (), known, Facets()), known, glyphs=UNICODE, now=fakes.NOW)
    assert {row.key: row.cells[3].text for row in rows} == {
        "vllm::rms_norm": "✔ pass",
        "aten::softmax": "✔ pass 1.42x",
        "cublas::cublasSaxpy_v2": "–",
    }


def test_operator_with_selected_cases_only_has_no_verdict() -> None:
    run = PastRun(number=3, problem="vllm::rms_norm", digest="d", path=Path("k.py"), device="cpu", target=None,
                        started_at=fakes.NOW, outcome=Outcome.PASS, picked=True)  # fmt: skip
    last = {"vllm::rms_norm": LastRun(run=run, runs=1, touched_at=fakes.NOW)}
    rows = operator_rows(choices(fakes.descriptions(), (), last, Facets()), last, glyphs=UNICODE, now=fakes.NOW)
    assert [cell.text for cell in rows[0].cells[3:]] == ["– none yet", "just now", "1"]
    rail = {row.key: row.cells[1].text for row in rail_rows(fakes.descriptions(), last, glyphs=UNICODE)}
    assert rail["vllm::rms_norm"] == UNICODE.state(State.IDLE)


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["/k/a.py", "/k/b.py"], ["a.py", "b.py"]),
        (["/k/a.py", "/old/a.py", "/k/b.py"], ["k/a.py", "old/a.py", "b.py"]),
        (["/x/kernels/a.py", "/y/kernels/a.py"], ["x/kernels/a.py", "y/kernels/a.py"]),
        (["/a.py", "/k/a.py"], ["/a.py", "k/a.py"]),
    ],
)
def test_recent_files_of_one_name_have_their_folders(files: list[str], names: list[str]) -> None:
    recent = tuple(fakes.recent_file(Path(file), problem="vllm::rms_norm") for file in files)
    rows = operator_rows(choices(fakes.descriptions(), recent, {}, Facets()), {}, glyphs=UNICODE, now=fakes.NOW)
    assert [row.cells[0].text for row in rows[: len(files)]] == [f"{UNICODE.then} {name}" for name in names]


def test_every_recent_file_has_its_own_result() -> None:
    older, newer = fakes.NOW - timedelta(minutes=9), fakes.NOW - timedelta(minutes=5)
    recent = tuple(
        fakes.recent_file(Path(f"/k/{name}.py"), problem="vllm::rms_norm", started_at=at, outcome=outcome)
        for name, at, outcome in (("right", newer, Outcome.PASS), ("wrong", older, Outcome.WRONG_VALUE))
    )
    last = {"vllm::rms_norm": LastRun(run=recent[0].run, runs=3, touched_at=recent[0].run.started_at)}
    rows = operator_rows(choices(fakes.descriptions(), recent, last, Facets()), last, glyphs=UNICODE, now=fakes.NOW)
    assert [[cell.text for cell in row.cells if cell.text] for row in rows[:2]] == [
        ["▸ right.py", "vllm", "rms_norm", "✔ pass", "5 min ago"],
        ["▸ wrong.py", "vllm", "rms_norm", "✗ wrong value", "9 min ago"],
    ]


def test_preview_states_effect_of_enter() -> None:
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


def test_foreign_problem_preview_has_no_tolerance() -> None:
    suite = SuiteOrigin(suite="kernelbench", form=CandidateForm.MODULE, own_rule="")
    problem = replace(fakes.softmax_problem(), suite=suite)
    shown = preview(fakes.described(problem), problem, file="k.py", file_exists=True, sample=False)
    assert plain_text(shown).splitlines()[4:-1] == [
        "cases      4 smoke, 4 full, 1 bench",
        "tolerance  calibrated when the reference runs",
        "cost       measured when the reference runs",
    ]
