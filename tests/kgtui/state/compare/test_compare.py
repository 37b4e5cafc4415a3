"""Runs side by side: which are chosen, what may be said of their times, and what every table tells."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from engine.errors import UsageError
from engine.model import Candidate, Outcome
from engine.model.benchmark import Interval, Standing
from kgtui.ports.protocols import BestRun, PastRun
from kgtui.state.compare.alignment import aligned
from kgtui.state.compare.facts import cost_table, findings_table, matched, resources_table
from kgtui.state.compare.report import as_json, as_markdown, as_plain
from kgtui.state.compare.sides import Choice, Side, chosen, require_one_operator, toggled
from kgtui.state.compare.speedup_comparison import ComparisonMethod, Versus, versus
from kgtui.state.compare.summary import (
    MEAN,
    Table,
    cases_table,
    change_of,
    mean_span,
    side_line,
    times_table,
)
from kgtui.state.compare.view import comparison_of, source_view
from kgtui.state.format.glyphs import ASCII, UNICODE
from kgtui.state.format.lines import Tone, plain_text
from tests.kgtui import fakes
from tests.kgtui.fakes import stored_runs, timed_runs


@pytest.fixture
def runs(tmp_path: Path) -> Any:
    """Judges on a CPU, where nothing is timed."""
    return stored_runs.Runs(tmp_path)


@pytest.fixture
def timed(tmp_path: Path) -> Any:
    """Judges on a GPU."""
    return stored_runs.Runs(tmp_path, device="cuda")


def past_run(
    number: int,
    *,
    digest: str = "",
    outcome: Outcome | None = Outcome.PASS,
    flagged: bool = False,
    total: int | None = None,
) -> PastRun:
    return PastRun(
        number=number,
        problem="p",
        digest=digest or str(number),
        path=Path("k.py"),
        device="cpu",
        target=None,
        started_at=datetime(2026, 3, 14, tzinfo=UTC),
        outcome=outcome,
        flagged=flagged,
        total=total,
    )


def cells(table: Table, key: str) -> list[str]:
    (row,) = (row for row in table.rows if row.key == key)
    return [" ".join(cell.text.split()) for cell in row.cells]


def about(table: Table, key: str) -> list[str]:
    return plain_text(table.about[key]).splitlines()


BEST = BestRun(number=2, baseline="eager", speedup=Interval(value=1.4, low=1.3, high=1.5))


class TestWhichRuns:
    def test_marked_runs_are_in_run_order(self) -> None:
        assert chosen((9, 4, 7), current=12).numbers == (4, 7, 9)

    def test_single_marked_run_is_compared_with_current(self) -> None:
        assert chosen((3,), current=5) == Choice(
            numbers=(3, 5), why="#3, which was marked, against #5, the current run"
        )

    def test_best_run_is_compared_with_current_without_marks(self) -> None:
        assert chosen((), current=5, best=BEST) == Choice(
            numbers=(2, 5), why="#2, the best run so far, against #5, the current run"
        )

    def test_best_run_is_compared_with_last_passing(self) -> None:
        others = (past_run(2, digest="d"), past_run(1, outcome=Outcome.WRONG_VALUE), past_run(0, flagged=True))
        runs = (*others, past_run(-1))
        assert chosen((), current=2, digest="d", best=BEST, runs=runs).numbers == (-1, 2)

    @pytest.mark.parametrize(
        ("best", "outcome", "why"),
        [
            (BEST, Outcome.PASS, "#2 is the best run so far; #1 is the newest other that passed"),
            (
                BEST,
                Outcome.CRASHED,
                "#2 is the best run so far; #1 is the newest other; no other run of all cases passed",
            ),
            (None, Outcome.PASS, "no best run yet; #1 is the newest other that passed"),
            (None, Outcome.CRASHED, "no best run yet; #1 is the newest other; no other run of all cases passed"),
        ],
    )
    def test_choice_of_two_runs_has_reason(self, best: BestRun | None, outcome: Outcome, why: str) -> None:
        runs = (past_run(2, digest="d"), past_run(1, outcome=outcome))
        assert chosen((), current=2, digest="d", best=best, runs=runs) == Choice(numbers=(1, 2), why=why)

    def test_last_other_version_is_compared_without_passing_run(self) -> None:
        runs = (past_run(4, digest="d"), past_run(3, digest="d"), past_run(2, outcome=Outcome.CRASHED))
        found = chosen((), current=4, digest="d", runs=runs)
        assert (found.numbers, found.why) == (
            (2, 4),
            "no best run yet; #2 is the newest other; no other run of all cases passed",
        )

    def test_run_of_selected_case_is_not_chosen(self) -> None:
        runs = (past_run(5, digest="d"), past_run(4, total=1), past_run(3, total=8), past_run(2, total=8))
        assert chosen((), current=5, digest="d", runs=runs).numbers == (3, 5)

    @pytest.mark.parametrize("partly", [{"picked": True}, {"outcome": Outcome.CANCELLED}])
    def test_partial_runs_are_chosen_on_neither_side(self, partly: dict[str, Any]) -> None:
        runs = (
            replace(past_run(9, digest="d"), **partly),
            replace(past_run(8, digest="e"), **partly),
            past_run(7, digest="d"),
            past_run(6, digest="f"),
        )
        assert chosen((), current=9, digest="d", runs=runs).numbers == (6, 7)
        assert chosen((6,), current=9, digest="d", runs=runs).numbers == (6, 7)
        assert chosen((), current=9, digest="d", runs=runs[:2]).numbers == (8, 9)

    def test_whole_run_of_another_version_replaces_no_cancelled_run(self) -> None:
        runs = (past_run(9, digest="d", outcome=Outcome.CANCELLED), past_run(8, digest="e"), past_run(7, digest="d"))
        assert chosen((), current=9, digest="d", runs=runs).numbers == (8, 7)
        assert chosen((), current=9, digest="d", runs=runs[:2]).numbers == (8, 9)

    def test_single_version_states_next_step(self) -> None:
        with pytest.raises(UsageError, match="save another one, or mark two runs there with space"):
            chosen((), current=4, digest="d", runs=(past_run(4, digest="d"), past_run(3, digest="d")))

    def test_comparison_without_run_states_next_step(self) -> None:
        with pytest.raises(UsageError, match="r runs the file"):
            chosen((1,), current=None)

    def test_mark_is_toggled_and_fifth_is_refused(self) -> None:
        assert toggled((1, 5), 3) == (1, 3, 5)
        assert toggled((1, 3, 5), 3) == (1, 5)
        with pytest.raises(UsageError, match="#1, #2, #3, #4 are marked, and more than 4 do not fit"):
            toggled((1, 2, 3, 4), 5)

    def test_runs_of_two_operators_are_not_compared(self, runs: Any) -> None:
        one = runs.side(runs.add(fakes.all_pass))
        other = replace(one, run=replace(one.run, id=2, problem="vllm::rope"))
        with pytest.raises(UsageError, match="of the same operator: #1 of aten::softmax, #2 of vllm::rope"):
            require_one_operator((one, other))


class TestTimes:
    def test_two_runs_compare_speedups_over_same_baseline(self, timed: Any) -> None:
        one = timed.side(timed.add(timed_runs.all_timed))
        two = timed.side(timed.add(stored_runs.faster(1.2), stored_runs.SECOND))
        found = versus(one, two)
        first = found.cases[0]
        assert (first.method, first.baseline) == (ComparisonMethod.BY_BASELINE, "eager")
        assert first.comparison is not None
        assert first.comparison.speedup.value == pytest.approx(1.2)
        assert first.comparison.resolution == pytest.approx(1.011**2 - 1)
        assert found.standing is Standing.FASTER
        assert found.mean is not None
        assert (found.mean.cases, found.mean.planned) == (5, 5)

    def test_difference_below_both_resolutions_is_insignificant(self, timed: Any) -> None:
        one = timed.side(timed.add(timed_runs.all_timed))
        two = timed.side(timed.add(stored_runs.faster(1.01), stored_runs.SECOND))
        found = versus(one, two)
        assert {comparison.standing for comparison in found.compared.values()} == {Standing.SAME}
        assert found.standing is Standing.SAME
        assert mean_span(found, glyphs=UNICODE).text == "= 1.01× ±0.01 #1, no difference"

    @pytest.mark.parametrize(("later", "standing"), [(True, Standing.FASTER), (False, Standing.SLOWER)])
    def test_paired_timing_is_preferred_to_baseline(self, timed: Any, later: bool, standing: Standing) -> None:
        one = timed.side(timed.add(stored_runs.faster(9.0)))
        first = Candidate(source=fakes.SOURCE, problem="")
        script = stored_runs.beside(first, 1.25, Standing.FASTER)
        two = timed.side(timed.add(script, stored_runs.SECOND))
        found = versus(one, two) if later else versus(two, one)
        case = found.cases[0]
        assert (case.method, found.standing) == (ComparisonMethod.INTERLEAVED, standing)
        assert case.comparison is not None
        assert case.comparison.speedup.value == pytest.approx(1.25 if later else 0.8)

    def test_paired_timing_with_other_version_is_ignored(self, timed: Any) -> None:
        stranger = Candidate(source=b"another", problem="")
        script = stored_runs.beside(stranger, 1.25, Standing.FASTER)
        one = timed.side(timed.add(timed_runs.all_timed))
        two = timed.side(timed.add(script, stored_runs.SECOND))
        assert {case.method for case in versus(one, two).cases} == {ComparisonMethod.BY_BASELINE}

    def test_under_other_versions_the_baseline_is_another_one(self, timed: Any) -> None:
        one = timed.side(timed.add(timed_runs.all_timed))
        later = timed.store.begin_session("later", environment={"device": "NVIDIA H100", "torch": "2.14.0"})
        two = timed.side(timed.add(timed_runs.all_timed, stored_runs.SECOND, session=later))
        found = versus(one, two)
        assert (found.mean, found.why) == (None, "the baselines differ: torch 2.13.0 and 2.14.0")

    def test_on_another_device_nothing_is_compared(self, timed: Any) -> None:
        one = timed.side(timed.add(timed_runs.all_timed))
        two = replace(one, run=replace(one.run, id=2, device_name="another GPU"))
        assert versus(one, two).why == "#1 was timed on Triton interpreter, #2 on another GPU"

    def test_failing_candidate_shows_no_speedup(self, timed: Any) -> None:
        one = timed.side(timed.add(timed_runs.all_timed))
        two = timed.side(timed.add(timed_runs.wrong_while_timed, stored_runs.SECOND))
        comparisons = [versus(one, two)]
        assert comparisons[0].why == "#2 did not pass, so no speed-up is shown"
        table = times_table((one, two), comparisons, glyphs=UNICODE)
        assert {row.cells[1].text for row in table.rows} == {"–"}
        assert cells(table, "4096x781 f32")[4:] == ["▲ 1.41 ±0.02", "–", "#2 did not pass, so no speed-up is shown"]

    def test_flagged_candidate_has_marked_ratio(self, timed: Any) -> None:
        one = timed.side(timed.add(timed_runs.all_timed))
        two = timed.side(timed.add(timed_runs.timed_and_flagged, stored_runs.SECOND))
        table = times_table((one, two), [versus(one, two)], glyphs=UNICODE)
        assert {row.cells[1].tone for row in table.rows} == {Tone.WARN}
        assert all(row.cells[1].text.startswith("⚑ ") for row in table.rows)
        assert mean_span(versus(one, two), glyphs=UNICODE).text == "⚑ 1.00× ±0.01 #1, but not credible"

    def test_missing_interpreter_times_are_reported(self, runs: Any) -> None:
        one, two = (runs.side(runs.add(fakes.all_pass)) for _ in range(2))
        table = times_table((one, two), [versus(one, two)], glyphs=UNICODE)
        assert table.rows == ()
        assert table.empty == "#1 ran on the CPU, where timings are meaningless, so nothing was timed"

    def test_every_case_has_times_ratio_and_words(self, timed: Any) -> None:
        one = timed.side(timed.add(timed_runs.all_timed))
        two = timed.side(timed.add(stored_runs.faster(1.2), stored_runs.SECOND))
        table = times_table((one, two), [versus(one, two)], glyphs=UNICODE)
        name = "4096x781 f32"
        assert [column.label for column in table.columns] == [
            "case",
            "#2 / #1",
            "#1 µs",
            "#2 µs",
            "#1 × eager",
            "#2 × eager",
            "compared",
        ]
        assert cells(table, name) == [
            name,
            "▲ 1.20 ±0.02",
            "14.3 ±0.1",
            "12.0 ±0.1",
            "▲ 1.41 ±0.02",
            "▲ 1.69 ±0.02",
            "by baseline",
        ]
        assert about(table, name) == [
            "#2 is 1.200× (1.182 to 1.219) as fast as #1, faster (up to 2.2 % counts as no difference): "
            "the ratio of their speed-ups over eager, timed at different times",
            "95 % intervals of the device time: #1 14.23 to 14.44 µs, #2 11.86 to 12.03 µs",
        ]
        assert cells(table, MEAN)[:2] == [MEAN, "▲ 1.20 ±0.01"]


class TestCases:
    @pytest.mark.parametrize(
        ("outcomes", "change"),
        [
            ((Outcome.PASS, Outcome.PASS), "same"),
            ((Outcome.PASS, Outcome.WRONG_VALUE), "regressed"),
            ((Outcome.WRONG_VALUE, Outcome.PASS), "fixed"),
            ((Outcome.WRONG_VALUE, Outcome.CRASHED), "differs"),
            ((Outcome.PASS, None), "differs"),
            ((Outcome.PASS, Outcome.PASS, Outcome.TIMEOUT), "regressed"),
            ((Outcome.CRASHED, Outcome.CRASHED, Outcome.PASS), "fixed"),
        ],
    )
    def test_change_of_case_is_one_word(self, outcomes: Sequence[Outcome | None], change: str) -> None:
        assert change_of(outcomes).text == change

    def test_differing_cases_come_first_with_errors_below(self, runs: Any) -> None:
        sides = (runs.side(runs.add(fakes.all_pass)), runs.side(runs.add(fakes.some_fail, stored_runs.THIRD)))
        table = cases_table(sides, glyphs=UNICODE)
        assert [row.cells[-1].text for row in table.rows] == ["regressed"] * 2 + ["same"] * 6
        assert table.differing == 2
        assert cells(table, "127x128 f32") == ["127x128 f32", "✔ pass", "✗ wrong value", "regressed"]
        assert about(table, "127x128 f32") == [
            "#1    ✔ pass  max abs 2.4e-07",
            "#2    ✗ wrong value  max abs 3.1e-02 · line 12 · 127 of 16,256 elements differ, worst at [3, 127]",
        ]


class TestFacts:
    def test_kernels_are_matched_by_similar_specialisation(self, runs: Any) -> None:
        one = runs.side(runs.add(fakes.all_pass))
        kernel = one.view.kernels[0]
        wide = replace(kernel, registers=90, spill_bytes=64, launch=replace(kernel.launch, constants={"BLOCK": "512"}))
        lean = replace(kernel, registers=36)
        two = replace(one, run=replace(one.run, id=2), view=replace(one.view, kernels=(wide, lean)))
        assert matched((one, two)) == ((kernel, lean), (None, wide))
        table = resources_table((one, two), glyphs=UNICODE)
        assert cells(table, "0")[1:] == ["40 0 B 16 B 75%", "36 0 B 16 B 75%", "differs", "BLOCK=128 fp32"]
        assert cells(table, "1")[1:4] == ["–", "90 64 B 16 B 31%", "only #2"]
        assert about(table, "1")[0] == "#1    no such kernel"

    def test_kernel_left_out_on_a_side_is_unknown(self, runs: Any) -> None:
        one = runs.side(runs.add(fakes.all_pass))
        partial = replace(one, view=replace(one.view, kernels=(), kernels_planned=3))
        table = resources_table((partial, one), glyphs=UNICODE)
        assert cells(table, "0")[1:4] == ["not compiled", "40 0 B 16 B 75%", "unknown"]
        assert about(table, "0")[0] == "#1    not compiled: 3 kernels were left out"
        assert table.differing == 0

    def test_kernel_for_another_target_names_the_targets(self, runs: Any) -> None:
        one = runs.side(runs.add(fakes.all_pass))
        other = replace(one.view.kernels[0], target="sm_80")
        two = replace(one, run=replace(one.run, id=2), view=replace(one.view, kernels=(other,)))
        table = resources_table((one, two), glyphs=UNICODE)
        assert about(table, "0")[1] == "#2    compiled for sm_80, not for sm_90"
        assert cells(table, "0")[1:4] == ["40 0 B 16 B 75%", "–", "only #1"]

    def test_columns_name_targets_that_differ(self, runs: Any) -> None:
        one = runs.side(runs.add(fakes.all_pass))
        two = replace(one, run=replace(one.run, id=2, target="sm_80"))
        labels = [column.label for column in resources_table((one, two), glyphs=UNICODE).columns[1:3]]
        assert labels == ["#1 sm_90 regs spill shared occ.", "#2 sm_80 regs spill shared occ."]
        alike = resources_table((one, one), glyphs=UNICODE)
        assert alike.columns[1].label == "#1 regs spill shared occ."

    def test_kernels_of_same_constants_share_a_row(self, runs: Any) -> None:
        kernel = fakes.compiled()
        half = replace(kernel, launch=replace(kernel.launch, signature={**kernel.launch.signature, "x_ptr": "*fp16"}))
        wide = replace(kernel, launch=replace(kernel.launch, constants={"BLOCK": "256"}))
        side = runs.side(runs.add(fakes.all_pass))
        one = replace(side, view=replace(side.view, kernels=(wide, kernel, half)))
        two = replace(side, view=replace(side.view, kernels=(kernel,)))
        assert matched((one, two)) == ((wide, None), (kernel, kernel), (half, None))

    def test_long_sizes_leave_room_for_next_columns(self, runs: Any) -> None:
        one = runs.side(runs.add(fakes.all_pass))
        heavy = replace(one.view.kernels[0], registers=255, spill_bytes=4264, shared_bytes=196608)
        table = resources_table((replace(one, view=replace(one.view, kernels=(heavy,))), one), glyphs=UNICODE)
        cell, column = table.rows[0].cells[1].text, table.columns[1]
        assert cell.split() == ["255", "4,264", "B", "192", "KiB", "6.2%"]
        assert len(cell) < column.width, "the last of them would be cut"

    def test_findings_are_matched_by_check_with_both_lines(self, runs: Any) -> None:
        sides = (runs.side(runs.add(fakes.suspicious)), runs.side(runs.add(stored_runs.hinted)))
        table = findings_table(sides, glyphs=UNICODE)
        assert [row.key for row in table.rows] == ["suspect library call", "hint handler"]
        assert cells(table, "hint handler") == ["hint", "handler", "1, line 19", "2, line 12, 19", "differs"]
        assert about(table, "hint handler")[-1] == "#2    line 12: a try in [形状]"

    def test_model_candidate_has_tokens_and_price(self, runs: Any) -> None:
        runs.answered(stored_runs.SECOND)
        sides = (runs.side(runs.add(fakes.all_pass)), runs.side(runs.add(fakes.all_pass, stored_runs.SECOND)))
        table = cost_table(sides, glyphs=UNICODE)
        found = {row.key: [cell.text for cell in row.cells][1:] for row in table.rows}
        assert found["model"] == ["–", "a model [8b] 模型"]
        assert (found["tokens in"], found["tokens out"]) == (["–", "1,200"], ["–", "340"])
        assert found["cost"] == ["–", "$0.00125"]
        assert found["torch"] == ["2.13.0", "2.13.0"]
        assert "a model [8b] 模型" in plain_text((side_line(sides[1], versus(*sides), glyphs=UNICODE),))

    def test_an_answer_without_a_price_is_never_free(self, runs: Any) -> None:
        runs.answered(fakes.SOURCE, cost=None)
        side = runs.side(runs.add(fakes.all_pass))
        table = cost_table((side, side), glyphs=ASCII)
        assert cells(table, "cost") == ["cost", "no price known", "no price known"]

    def test_unknown_tokens_of_an_answer_are_no_number(self, runs: Any) -> None:
        runs.answered(stored_runs.SECOND)
        side = runs.side(runs.add(fakes.all_pass, stored_runs.SECOND))
        side = replace(side, answer=replace(side.answer, prompt_tokens=None, completion_tokens=None))
        table = cost_table((side, side), glyphs=ASCII)
        assert cells(table, "tokens in") == ["tokens in", "unknown", "unknown"]
        assert cells(table, "tokens out") == ["tokens out", "unknown", "unknown"]

    def test_side_is_labelled_by_run_file_and_tag(self, runs: Any) -> None:
        number = runs.add(fakes.all_pass, filename="日本語 [red]x[bold].py")
        runs.store.set_tag(number, "keep")
        runs.store.set_note(number, "before the\nmask")
        assert plain_text((side_line(runs.side(number), None, glyphs=UNICODE),)) == (
            "#1    ✔ pass 8/8  reference  日本語 [red]x[bold].py · tag keep · before the mask"
        )


class TestSourceView:
    @pytest.fixture
    def four(self, runs: Any) -> Any:
        texts = (fakes.SOURCE, stored_runs.SECOND, stored_runs.THIRD, stored_runs.FOURTH)
        sides = [runs.side(runs.add(fakes.all_pass, text)) for text in texts]
        return comparison_of(Choice(numbers=(1, 2, 3, 4), why="marked"), sides, glyphs=UNICODE)

    @pytest.mark.parametrize(
        ("width", "narrow", "turned", "shown"),
        [
            (200, False, 0, (0, 1, 2, 3)),
            (120, False, 0, (0, 1, 2)),
            (120, False, 1, (0, 2, 3)),
            (120, False, 2, (0, 1, 3)),
            (100, False, 0, (0, 1)),
            (80, True, 0, (0, 1)),
            (80, True, 2, (0, 3)),
            (80, True, -1, (0, 3)),
        ],
    )
    def test_hidden_sides_can_be_scrolled_to(
        self, four: Any, width: int, narrow: bool, turned: int, shown: tuple[int, ...]
    ) -> None:
        view = source_view(four, width=width, narrow=narrow, turned=turned)
        assert view.shown == shown
        assert view.is_unified is narrow

    def test_every_column_title_has_run_and_file(self, four: Any) -> None:
        view = source_view(four, width=200, narrow=False, turned=0)
        assert plain_text((view.titles(four, width=200, glyphs=UNICODE),)).split() == [
            "#1", "softmax.py", "#2", "softmax.py", "#3", "softmax.py", "#4", "softmax.py", "4", "differences",
        ]  # fmt: skip

    def test_narrow_titles_explain_difference_signs(self, four: Any) -> None:
        view = source_view(four, width=80, narrow=True, turned=1)
        titles = plain_text((view.titles(four, width=80, glyphs=ASCII),))
        assert titles == "- #1 softmax.py > + #3 softmax.py  4 differences"


class TestReports:
    def report(self, sides: Sequence[Side]) -> tuple[list[Versus], Any]:
        return [versus(sides[0], side) for side in sides[1:]], aligned([side.lines for side in sides])

    def test_equal_parts_are_counted_not_listed(self, runs: Any) -> None:
        sides = (runs.side(runs.add(fakes.all_pass)), runs.side(runs.add(fakes.some_fail, stored_runs.THIRD)))
        text = as_plain(sides, *self.report(sides), glyphs=UNICODE)
        assert "  6 more are the same on all sides\n" in text
        assert "  1 is the same on all sides\n" in text
        assert "-    mask = offsets < cols\n" in text

    def test_markdown_escapes_user_text(self, runs: Any) -> None:
        numbers = [runs.add(fakes.all_pass, source) for source in (b"a\n", b"a\n```\n")]
        runs.store.set_note(numbers[0], "a | b\x1b[31m")
        sides = [runs.side(number) for number in numbers]
        text = as_markdown(sides, *self.report(sides), glyphs=UNICODE)
        assert "a \\| b [31m" in text
        assert "````diff\n" in text
        assert "\x1b" not in text

    def test_json_has_numbers_when_measured_null_otherwise(self, timed: Any) -> None:
        sides = [
            timed.side(timed.add(timed_runs.all_timed)),
            timed.side(timed.add(stored_runs.faster(1.2), stored_runs.SECOND)),
        ]
        document = json.loads(as_json(sides, *self.report(sides)))
        assert document["schema"] == "kgtui.compare/1"
        (found,) = document["versus"]
        assert found["standing"] == "faster"
        assert found["cases"][0]["how"] == "by baseline"
        assert document["sides"][0]["answer"] is None
        assert document["sides"][0]["device_us"]["4096x781 f32"]["value"] == pytest.approx(14.35, abs=0.01)
