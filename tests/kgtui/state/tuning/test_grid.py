"""A grid of variants as the screen knows it: tunables and their values, progress, ending, the table, the patch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.errors import UsageError
from engine.model import Candidate, Outcome
from engine.model.benchmark import Interval
from engine.reports.reducer import record_of
from engine.tuning.trials import Trial
from engine.tuning.tunables import Tunable, tunables_of
from kgtui.state.format.glyphs import ASCII, UNICODE
from kgtui.state.format.lines import plain_text
from kgtui.state.tuning.grid import (
    Ending,
    VariantGrid,
    left_s,
    progress_line,
    proposal_lines,
    tried_detail,
    tuning_markdown,
)
from kgtui.state.tuning.tunables import (
    Tunables,
    grid_line,
    nothing_found,
    parse_values,
    tunable_rows,
    tunables_in,
    usual_values,
    written,
)
from kgtui.state.tuning.variant_table import (
    Sorting,
    drawn_columns,
    in_order,
    trial_columns,
    trial_rows,
    values_of,
)
from tests.kgtui import fakes
from tests.kgtui.fakes import timed_runs

SOURCE = b"BLOCK = 1024\nRADIX = 10\n\n\ndef f(x):\n    k[(1,)](x, BLOCK=BLOCK)\n"
TUNED = b"""@triton.autotune(configs=[triton.Config({"B": 64}, num_warps=4), triton.Config({"B": 128})], key=["n"])
@triton.jit
def k(x, n, B):
    pass


def f(x):
    k[(1,)](x, 1)
"""


# Values


@pytest.mark.parametrize(
    ("text", "values"),
    [("64, 128", (64, 128)), ("64 128,64", (64, 128)), ("  ", ()), ("", ()), ("-1", (-1,)), ("1_024", (1024,))],
)
def test_values_are_whole_numbers_between_commas_or_spaces(text: str, values: tuple[int, ...]) -> None:
    assert parse_values(text) == values


@pytest.mark.parametrize("text", ["big", "64, 1.5", "0x", "[64]", "９e9", "9" * 5000])
def test_non_integer_is_refused_with_example(text: str) -> None:
    with pytest.raises(UsageError, match=r"not an integer: .*; expected values such as 64, 128, 256"):
        parse_values(text)


@pytest.mark.parametrize(
    ("name", "value", "usual"),
    [
        ("BLOCK", "1_024", "512, 1024, 2048"),
        ("BLOCK", "2", "1, 2, 4"),
        ("RADIX", "10", "10"),
        ("ONE", "1", "1"),
        ("num_warps", None, "1, 2, 4, 8, 16"),
        ("num_stages", "3", "1, 2, 3, 4"),
        ("HEX", "0x40", "32, 64, 128"),
        ("BLOCK", "(1024)", ""),
    ],
)
def test_power_of_two_offers_its_neighbours(name: str, value: str | None, usual: str) -> None:
    assert usual_values(Tunable(name=name, value=value, line=1, places=())) == usual


# Knobs


def test_every_tunable_is_row_with_its_values() -> None:
    rows = tunable_rows(tunables_in(SOURCE, chosen={"BLOCK": (64, 128)}), glyphs=UNICODE)
    assert [tuple(cell.text for cell in row.cells) for row in rows] == [
        ("BLOCK", "1024", "64, 128", "line 1"),
        ("RADIX", "10", "–", "line 2"),
        ("num_warps", "not given", "–", "added in line 6"),
        ("num_stages", "not given", "–", "added in line 6"),
    ]


def test_grid_has_baseline_first_and_once() -> None:
    tunables = tunables_in(SOURCE, chosen={"BLOCK": (512, 1024), "num_warps": (8,)})
    assert [one.name for one in tunables.grid] == ["as it is", "BLOCK=512 num_warps=8", "BLOCK=1024 num_warps=8"]
    assert [one.name for one in tunables_in(SOURCE, chosen={"BLOCK": (1024, 64)}).grid] == ["as it is", "BLOCK=64"]


def test_autotune_entries_are_tried_without_values() -> None:
    tunables = tunables_in(TUNED, chosen={})
    assert [one.name for one in tunables.grid] == ["as it is", "B=64 num_warps=4", "B=128"]
    assert [cell.text for cell in tunable_rows(tunables, glyphs=ASCII)[-1].cells] == [
        "autotune list",
        "2 entries",
        "each of them alone",
        "",
    ]


def test_values_of_removed_tunables_are_forgotten() -> None:
    assert tunables_in(b"RADIX = 10\n", chosen={"BLOCK": (64,), "RADIX": (2,)}).chosen == {"RADIX": (2,)}


@pytest.mark.parametrize(
    ("tunables", "words"),
    [
        (
            tunables_in(SOURCE, chosen={}),
            "enter on a tunable chooses its values; r then tries every combination, each a run",
        ),
        (
            tunables_in(SOURCE, chosen={"BLOCK": (64,)}),
            "1 variant: r runs the baseline, then each; nothing is timed here",
        ),
        (
            tunables_in(SOURCE, chosen={"BLOCK": (1024,)}),
            "these are the values in the file; choose others",
        ),
        (
            tunables_in(SOURCE, chosen={"BLOCK": tuple(range(300))}),
            "300 variants are too many for one grid of 256; try fewer values",
        ),
    ],
    ids=["nothing chosen", "one", "as it is", "too many"],
)
def test_effect_of_r_is_stated(tunables: Tunables, words: str) -> None:
    assert plain_text((grid_line(tunables, timed=False),)) == words


def test_file_without_tunables_states_searched_names() -> None:
    said = plain_text(nothing_found(tunables_in(b"def f(x):\n    return x\n", chosen={}))).splitlines()
    assert said[0] == "no tunable parameters found.  Each of these would be one:"
    assert [part in "\n".join(said) for part in ("BLOCK = 1024", "kernel[grid]", "num_warps", "triton.autotune")]
    assert len(said) == 5


@pytest.mark.parametrize("source", [b"def f(:\n", b"x = 1\0\n", b"\xff\xfe = 1\n"])
def test_invalid_python_gives_reason(source: bytes) -> None:
    tunables = tunables_in(source, chosen={})
    assert (tunables.has_any, tunables.grid) == (False, ())
    assert tunables.complaint.startswith("no tunable parameters: ")
    assert tunables.complaint.endswith("; correct the file and save it")


# Progress


def grid_of(*values: int, tuned: bool = False) -> VariantGrid:
    tunables = tunables_in(TUNED, chosen={}) if tuned else tunables_in(SOURCE, chosen={"BLOCK": values})
    return VariantGrid(
        path=Path("/k/[soft]max.py"),
        problem="aten::softmax",
        device="cuda",
        target="sm_90",
        variants=tunables.grid,
        now={} if tuned else tunables.now,
        began_s=100.0,
        last_s=100.0,
    )


@pytest.fixture
def tried() -> Any:
    """Tries the next variant of a grid; its speed-up over eager, or that it was not timed, wrong or flagged."""

    def next_of(
        grid: VariantGrid,
        speedup: tuple[float, float, float] | None = None,
        *,
        script: Any = None,
        now_s: float = 110.0,
        number: int | None = 7,
    ) -> VariantGrid:
        variant = grid.variants[len(grid.tried)]
        plan = timed_runs.bench_plan(timed_runs.timed_problem())
        events = list(
            (script or (timed_runs.all_timed if speedup else fakes.all_pass))(
                Candidate(source=variant.source, problem="aten::softmax"), plan
            )
        )
        if speedup is not None:
            events = [with_speedup(event, speedup) for event in events]
        run = record_of(events, file="softmax.py", number=number)
        return grid.finished(Trial(variant=variant, run=run), now_s=now_s)

    return next_of


def with_speedup(event: Any, speedup: tuple[float, float, float]) -> Any:
    if not hasattr(event, "summaries"):
        return event
    value, low, high = speedup
    (one,) = event.summaries
    return replace(event, summaries=(replace(one, speedup=Interval(value=value, low=low, high=high)),))


def said(grid: VariantGrid, *, now_s: float = 110.0, stale: bool = False) -> str:
    return plain_text((progress_line(grid, now_s=now_s, glyphs=ASCII, stale=stale),))


def test_progress_states_share_and_remaining_time(tried: Any) -> None:
    grid = grid_of(64, 128, 256)
    assert said(grid) == "* 0/4 tried  starting; esc stops"
    grid = tried(grid, now_s=110.0)
    assert said(grid, now_s=112.0) == "* 1/4 tried  starting, about 28 s left; esc stops"
    assert left_s(grid, 500.0) == 0.0
    grid = tried(grid, now_s=220.0)
    assert said(grid, now_s=220.0) == "* 2/4 tried  starting, about 2 min left; esc stops"


def test_running_variant_states_its_stage(tried: Any) -> None:
    grid = tried(grid_of(64, 128))
    plan = timed_runs.bench_plan(timed_runs.timed_problem())
    candidate = Candidate(source=b"", problem="aten::softmax")
    grid = grid.run_began().with_events(fakes.stops_half_way(candidate, plan))
    assert said(grid).startswith("* 1/3 tried  verifying 5/8")
    columns = trial_columns(grid, timed=False, room=77, glyphs=ASCII)
    running = trial_rows(grid, columns, Sorting(), glyphs=ASCII, stale=False)[-1]
    assert [cell.text for cell in running.cells] == ["", "64", "* 5/8", "-", "-", "-", "-", "-"]


def test_a_winner_is_proposed_with_its_patch(tried: Any) -> None:
    grid = grid_of(64, 128)
    for speedup in ((1.0, 0.98, 1.02), (1.5, 1.47, 1.53), (1.2, 1.17, 1.23)):
        grid = tried(grid, speedup)
    assert grid.ending is Ending.WHOLE
    assert said(grid) == "3/3 tried in 10.0 s; BLOCK=64 is 1.50x +-0.06 as fast as the file: w writes it"
    assert plain_text(proposal_lines(grid)).splitlines() == [
        "--- a/[soft]max.py",
        "+++ b/[soft]max.py",
        "@@ -1,2 +1,2 @@",
        "-BLOCK = 1024",
        "+BLOCK = 64",
        " RADIX = 10",
    ]


@pytest.mark.parametrize(
    ("speedups", "words"),
    [
        (((1.0, 0.9, 1.1), (1.15, 1.05, 1.2)), "no variant was measured to be faster than the baseline"),
        (
            (None, None),
            "nothing was timed on this device, so no variant is proposed: resource usage alone does not predict speed",
        ),
    ],
    ids=["within the interval", "not timed"],
)
def test_without_a_measured_winner_none_is_proposed(tried: Any, speedups: tuple[Any, ...], words: str) -> None:
    grid = grid_of(64)
    for speedup in speedups:
        grid = tried(grid, speedup)
    assert (grid.winner, proposal_lines(grid)) == (None, ())
    assert said(grid).endswith(f"; {words}")


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        (Ending.STOPPED, "stopped, 2/3 tried; BLOCK=64 is 1.50x +-0.06 as fast as the file: w writes it"),
        (Ending.SAVED, "stopped: [soft]max.py was saved, 2/3 tried; r tunes the new version"),
    ],
)
def test_stopped_grid_keeps_tried_variants(tried: Any, ending: Ending, words: str) -> None:
    grid = tried(tried(grid_of(64, 128), (1.0, 0.98, 1.02)), (1.5, 1.47, 1.53)).ended(ending)
    assert said(grid) == words
    assert len(grid.tried) == 2


def test_grid_stopped_at_once_states_next_step() -> None:
    assert said(grid_of(64).ended(Ending.STOPPED)) == "stopped, 0/2 tried; r restarts"


def test_a_grid_of_an_earlier_text_proposes_nothing(tried: Any) -> None:
    grid = tried(tried(grid_of(64), (1.0, 0.98, 1.02)), (1.5, 1.47, 1.53))
    assert said(grid, stale=True) == "2/2 tried in 10.0 s; [soft]max.py has changed: r tunes the new version"
    assert said(replace(grid, is_written=True), stale=True) == ("BLOCK=64 was written into [soft]max.py; details below")


# The table


def cells(grid: VariantGrid, *, timed: bool = True, room: int = 117) -> list[list[str]]:
    columns = trial_columns(grid, timed=timed, room=room, glyphs=ASCII)
    rows = trial_rows(grid, columns, Sorting(), glyphs=ASCII, stale=False)
    return [[column.label for column in columns], *([cell.text for cell in row.cells] for row in rows)]


def test_each_variant_is_row_with_values_and_results(tried: Any) -> None:
    grid = grid_of(64, 128)
    for speedup in ((1.0, 0.98, 1.02), (1.5, 1.47, 1.53), None):
        grid = tried(grid, speedup)
    header, first, second, third = cells(grid)
    assert header == ["", "BLOCK", "verdict", "device us", "x file", "regs", "spill", "shared", "occup.", "run"]
    assert [*first[:3], *first[4:]] == ["=", "1024", "+ passed", "the file", "40", "0 B", "16 B", "75%", "#7"]
    assert [*second[:3], *second[4:]] == ["*", "64", "+ passed", "1.50 +-0.06", "40", "0 B", "16 B", "75%", "#7"]
    assert third == ["", "128", "+ passed", "-", "-", "40", "0 B", "16 B", "75%", "#7"]
    assert first[3] == second[3] != "-"


def test_failing_or_flagged_variant_has_no_ratio(tried: Any) -> None:
    grid = tried(tried(tried(grid_of(64, 128), (1.0, 0.98, 1.02)), script=fakes.some_fail), script=fakes.suspicious)
    assert [row[2:5] for row in cells(grid)[2:]] == [["x wrong value", "-", "-"], ["! flagged", "-", "-"]]


def test_spill_of_thousands_of_bytes_is_not_cut(tried: Any) -> None:
    grid = tried(grid_of(64))
    heavy = replace(grid, tried=tuple(replace(one, spill_bytes=4264) for one in grid.tried))
    widths = {one.label: one.width for one in trial_columns(heavy, timed=False, room=77, glyphs=ASCII)}
    assert cells(heavy, timed=False)[1][4] == "4,264 B"
    assert widths["spill"] == len("4,264 B") + 1


def test_untimed_grid_has_no_time_columns(tried: Any) -> None:
    assert cells(tried(grid_of(64)), timed=False)[0] == [
        "",
        "BLOCK",
        "verdict",
        "regs",
        "spill",
        "shared",
        "occup.",
        "run",
    ]


def test_run_number_is_dropped_at_eighty_columns(tried: Any) -> None:
    header = cells(tried(grid_of(64)), room=77)[0]
    assert header[-1] == "occup."
    assert sum(one.width for one in trial_columns(grid_of(64), timed=True, room=77, glyphs=ASCII)) <= 77


def test_variants_of_different_tunables_share_one_column(tried: Any) -> None:
    grid = tried(grid_of(tuned=True))
    header, first, second = cells(grid, timed=False)
    assert (header[1], first[1], second[1]) == ("variant", "as it is", "B=64 num_warps=4")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("A=1 B=2", {"A": "1", "B": "2"}),
        ("as it is", None),
        ("A=x + 1", None),
        ("A=f(b=1)", {"A": "f(b=1)"}),
        ("Config(**[x])", None),
    ],
)
def test_values_are_listed_with_their_name(name: str, values: dict[str, str] | None) -> None:
    assert values_of(name) == values


def order_of(grid: VariantGrid, sorting: Sorting) -> list[str]:
    columns = trial_columns(grid, timed=True, room=200, glyphs=ASCII)
    return [one.name for one in in_order(grid, columns, sorting)]


def test_fastest_is_first_and_unknown_last_both_ways(tried: Any) -> None:
    grid = grid_of(64, 128, 256)
    for speedup in ((1.0, 0.98, 1.02), (1.2, 1.17, 1.23), None, (1.5, 1.47, 1.53)):
        grid = tried(grid, speedup)
    assert order_of(grid, Sorting(by="ratio")) == ["BLOCK=256", "BLOCK=64", "as it is", "BLOCK=128"]
    assert order_of(grid, Sorting(by="ratio", reversed=True)) == ["BLOCK=64", "BLOCK=256", "as it is", "BLOCK=128"]
    assert order_of(grid, Sorting(by="knob BLOCK")) == ["BLOCK=64", "BLOCK=128", "BLOCK=256", "as it is"]
    assert order_of(grid, Sorting()) == ["as it is", "BLOCK=64", "BLOCK=128", "BLOCK=256"]


def test_sorting_cycles_through_columns_to_grid_order(tried: Any) -> None:
    columns = trial_columns(tried(grid_of(64)), timed=False, room=77, glyphs=ASCII)
    seen, sorting = [], Sorting()
    for _ in range(8):
        sorting = sorting.after(columns)
        seen.append(sorting.by)
    assert seen == ["knob BLOCK", "verdict", "registers", "spill", "shared", "occupancy", "run", "order"]
    shown = drawn_columns(columns, Sorting(by="registers"))
    assert [column.label for column in shown] == [
        "",
        "BLOCK",
        "verdict",
        "regs<",
        "spill",
        "shared",
        "occup.",
        "run",
    ]
    assert Sorting(by="registers").on("registers") == Sorting(by="registers", reversed=True)


def test_variant_under_cursor_is_shown_in_full(tried: Any) -> None:
    grid = tried(tried(grid_of(64), (1.0, 0.98, 1.02)), script=fakes.some_fail, number=None)
    assert plain_text(tried_detail(grid.tried[0], grid, glyphs=ASCII)) == (
        "the file as it is  run #7  right on 8 of 8 cases\n"
        "40 registers, 0 B spilled, 16 B shared, 75% occupancy; times are geometric means of 5 cases"
    )
    first, second = plain_text(tried_detail(grid.tried[1], grid, glyphs=ASCII)).splitlines()
    assert first.startswith("BLOCK=64  not saved  failed: 2 of 8 cases failed, first 127x128 f32")
    assert second == "40 registers, 0 B spilled, 16 B shared, 75% occupancy"


def test_table_and_patch_are_copied_as_markdown(tried: Any) -> None:
    grid = tried(tried(grid_of(64), (1.0, 0.98, 1.02)), (1.5, 1.47, 1.53))
    assert tuning_markdown(grid, ["a", "b"], [["1", "x|y"]]).splitlines() == [
        "### aten::softmax: 2 of 2 variants tried", "",
        "- file `[soft]max.py`", "- device cuda, compiled for sm_90", "",
        "| a | b |", "|---|---|", "| 1 | x\\|y |", "", "BLOCK=64 was measured to be the fastest:", "", "```diff",
        "--- a/[soft]max.py", "+++ b/[soft]max.py", "@@ -1,2 +1,2 @@", "-BLOCK = 1024", "+BLOCK = 64", " RADIX = 10",
        "```",
    ]  # fmt: skip


def test_chosen_values_are_written_as_typed() -> None:
    assert written(parse_values("4 8,16")) == "4, 8, 16"
    assert [tunable.name for tunable in tunables_of(SOURCE)] == ["BLOCK", "RADIX", "num_warps", "num_stages"]


def test_a_wrong_outcome_is_named_as_such(tried: Any) -> None:
    grid = tried(grid_of(64), script=fakes.some_fail)
    assert grid.tried[0].trial.run.final.outcome is Outcome.WRONG_VALUE
    assert cells(grid, timed=False)[1][2] == "x wrong value"


def test_syntax_error_is_stated_with_its_line() -> None:
    complaint = tunables_in(b"x = 1\ndef softmax(:\n", chosen={}).complaint
    assert complaint == "no tunable parameters: line 2: invalid syntax; correct the file and save it"
