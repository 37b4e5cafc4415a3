"""What History says: rows that stay in line, totals, and how a file got better."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from engine.model import Outcome, Policy, Tier
from engine.model.benchmark import Interval
from kgtui.state.format.glyphs import ASCII, UNICODE
from kgtui.state.format.lines import Tone, plain_text
from kgtui.state.history.past_runs import (
    long_time,
    money,
    one_line,
    run_columns,
    run_details,
    run_rows,
    session_details,
    session_rows,
    sparkline,
    totals_line,
    way_line,
)
from sessions.rows import ListedRun, Milestone, RunRow, RunState, SessionRow, Totals

NOW = datetime(2026, 3, 14, 15, 9, tzinfo=UTC)
RUN = RunRow(
    id=42, session=7, digest="d" * 64, problem="aten::softmax", path=Path("/k/softmax.py"), device="cuda",
    device_name="A GPU", target="sm_90", tiers=(Tier.SMOKE, Tier.FULL), policy=Policy.STRICT, started_at=NOW,
    elapsed_s=1.25, state=RunState.FINISHED, outcome=Outcome.PASS, sentence="right on 8 of 8 cases", passed=8, total=8,
    flagged=False,
    proven=None, note=None, tag=None,
)  # fmt: skip
FAST = ListedRun(run=RUN, speedup=Interval(value=1.36, low=1.3, high=1.4))


def cells(listed: ListedRun, *, wide: bool = False, **how: Any) -> dict[str, Any]:
    columns = run_columns(medium=not wide, wide=wide)
    (row,) = run_rows((listed,), columns, glyphs=how.get("glyphs", UNICODE), now=NOW)
    return {column.label: span for column, span in zip(columns, row.cells, strict=True)}


def changed(**fields: Any) -> ListedRun:
    return replace(FAST, run=replace(RUN, **fields), speedup=None)


def step(number: int, *, passed: int = 8, speedup: float | None = None, timed: int | None = None) -> Milestone:
    return Milestone(
        run_id=number,
        right=True,
        passed=passed,
        total=8,
        speedup=speedup,
        timed=timed if speedup is None or timed else 5,
    )


def test_row_states_result_of_run() -> None:
    row = cells(FAST)
    assert [span.text for span in row.values()] == [
        "#42", "✔ pass", "aten::softmax", "softmax.py", "8/8", "1.36×", "A GPU", "just now", "", "",
    ]  # fmt: skip
    assert row["eager"].tone is Tone.GOOD


def test_uncertain_speedup_is_not_green() -> None:
    assert cells(replace(FAST, speedup=Interval(value=1.1, low=0.9, high=1.3)))["eager"].tone is Tone.PLAIN


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({"flagged": True}, "⚑ flagged"),
        ({"outcome": Outcome.WRONG_VALUE}, "✗ wrong value"),
        ({"outcome": Outcome.CANCELLED}, "⊘ cancelled"),
        ({"outcome": None, "state": RunState.RUNNING}, "⟳ running"),
        ({"outcome": None, "state": RunState.INTERRUPTED}, "⊘ interrupted"),
    ],
)
def test_every_state_has_symbol_and_word(fields: dict[str, Any], state: str) -> None:
    assert cells(changed(**fields))["state"].text == state


@pytest.mark.parametrize(("medium", "wide", "room"), [(False, False, 78), (True, False, 118), (False, True, 198)])
def test_the_columns_have_room_at_every_size(medium: bool, wide: bool, room: int) -> None:
    assert sum(column.width for column in run_columns(medium=medium, wide=wide)) <= room


def test_user_texts_stay_on_one_line_unchanged() -> None:
    row = cells(changed(note="[red]a[/]\n\tb\x1b[31m", tag="日本語🚀", path=Path("/k/a\nb.py")))
    assert row["note"].text == "[red]a[/] b [31m"
    assert row["tag"].text == "日本語🚀"
    assert row["file"].text == "a b.py"
    assert one_line("\x07 \u2028 x") == "x"


def test_ascii_row_has_same_content() -> None:
    texts = [span.text for span in cells(FAST, glyphs=ASCII).values()]
    lines = run_details(FAST, (step(41, passed=3), step(42)), file="k.py", glyphs=ASCII)
    assert "".join(texts).isascii()
    assert plain_text(lines).isascii()


def test_details_hold_values_missing_in_row() -> None:
    listed = changed(tag="keep", note="tail mask")
    assert plain_text(run_details(listed, (step(42),), file="kernels/softmax.py", glyphs=UNICODE)).splitlines() == [
        "#42  ✔ pass  right on 8 of 8 cases",
        "aten::softmax · kernels/softmax.py · A GPU to sm_90 · smoke+full · strict policy",
        "started 2026-03-14 15:09 UTC, took 1.25 s · session 7 · source dddddddddddd",
        "tag keep   note tail mask",
        "best █ 8 of 8 cases passed at best, of 1 run; nothing was timed",
    ]


def test_sentence_that_repeats_the_state_is_left_out() -> None:
    listed = changed(outcome=Outcome.CANCELLED, sentence="cancelled")
    first, *_ = plain_text(run_details(listed, (step(42),), file="k.py", glyphs=UNICODE)).splitlines()
    assert first == "#42  ⊘ cancelled"


class TestWay:
    def test_best_speedup_so_far_is_drawn(self) -> None:
        way = (step(1, speedup=1.0), step(2, speedup=0.5), step(3), step(4, speedup=2.0))
        assert plain_text((way_line(way, glyphs=UNICODE),)) == "best ▅▅█ 1.00 to 2.00× eager, best #4 of 4 runs"

    def test_means_over_other_cases_are_left_out(self) -> None:
        way = (step(1, speedup=9.0, timed=1), step(2, speedup=1.0), step(3, speedup=1.5))
        assert plain_text((way_line(way, glyphs=UNICODE),)) == "best ▆█ 1.00 to 1.50× eager, best #3 of 3 runs"

    def test_passing_cases_are_drawn_without_timing(self) -> None:
        way = (step(1, passed=0), step(2, passed=6), step(3, passed=4))
        assert plain_text((way_line(way, glyphs=UNICODE),)) == (
            "best ▁▆▆ 6 of 8 cases passed at best, of 3 runs; nothing was timed"
        )

    def test_whole_run_is_better_than_few_selected_cases(self) -> None:
        way = (step(1, passed=6), replace(step(2), passed=2, total=2))
        assert "6 of 8 cases passed at best, of 2 runs" in plain_text((way_line(way, glyphs=UNICODE),))

    def test_run_without_cases_has_empty_note(self) -> None:
        none = replace(step(1), total=0, passed=0)
        words = "no case of this file has run yet, apart from tuned variants"
        assert [plain_text((way_line(way, glyphs=UNICODE),)) for way in ((none,), ())] == [words, words]

    def test_many_runs_share_a_bar(self) -> None:
        bars = sparkline([float(number) for number in range(1, 401)], glyphs=UNICODE)
        assert (len(bars), bars[0], bars[-1]) == (24, "▁", "█")
        assert cell_len(bars) == 24


def test_totals_state_results_and_cost() -> None:
    totals = Totals(
        runs=100_000,
        sessions=4,
        passed=68_001,
        flagged=2_000,
        elapsed_s=50_000.0,
        prompt_tokens=400_000,
        completion_tokens=800_000,
        cost_microusd=16_400_000,
    )
    assert plain_text((totals_line(totals, glyphs=UNICODE),)) == (
        "100,000 runs · 68,001 passed · 2,000 flagged · 13 h 53 min · $16.40 · 1.20 M tokens"
    )
    unpriced = replace(totals, cost_microusd=None)
    assert "no price known · 1.20 M tokens" in plain_text((totals_line(unpriced, glyphs=UNICODE),))
    partly = replace(totals, unpriced=2)
    assert "> $16.40 · 1.20 M tokens" in plain_text((totals_line(partly, glyphs=UNICODE),))
    only_free = replace(totals, cost_microusd=0, unpriced=2)
    assert "no price known · 1.20 M tokens" in plain_text((totals_line(only_free, glyphs=UNICODE),))
    free = replace(unpriced, prompt_tokens=0, completion_tokens=0)
    assert plain_text((totals_line(free, glyphs=UNICODE),)).endswith("13 h 53 min")


@pytest.mark.parametrize(
    ("cost", "unpriced", "words"),
    [(None, 0, "–"), (None, 1, "unknown"), (0, 2, "unknown"), (0, 0, "$0.00"), (5_000_000, 0, "$5.00"),
     (5_000_000, 1, "> $5.00")],
)  # fmt: skip
def test_session_marks_costs_that_are_not_complete(cost, unpriced, words) -> None:
    session = SessionRow(
        id=3, label="generate", started_at=NOW, ended_at=NOW, runs=2, problems=1, passed=2, flagged=0, elapsed_s=1.0,
        prompt_tokens=10, completion_tokens=10, cost_microusd=cost, unpriced=unpriced,
    )  # fmt: skip
    (row,) = session_rows((session,), glyphs=UNICODE)
    assert row.cells[6].text == words
    assert plain_text(session_details(session, glyphs=UNICODE)).endswith(f"20 tokens · cost {words}")


@pytest.mark.parametrize(
    ("microusd", "words"), [(0, "$0.00"), (12, "$0.000012"), (4_100, "$0.0041"), (41_000, "$0.04")]
)
def test_money_keeps_significant_digit(microusd: int, words: str) -> None:
    assert money(microusd) == words


def test_long_times_are_hours() -> None:
    assert [long_time(value) for value in (1.25, 120.0, 7260.0)] == ["1.25 s", "2 min", "2 h 1 min"]
