"""Columns in the room that there is: none is cut by the edge, and the important ones are seen first."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.app import App, ComposeResult

from engine.model import Outcome
from engine.reports.run_record import NO_RUN
from kgtui.screens.base.styled import StyledScreen
from kgtui.state.format.glyphs import UNICODE
from kgtui.state.format.lines import Column, Row, Span, laid_out
from kgtui.state.run.cases import case_columns
from kgtui.state.run.tables import HISTORY_COLUMNS, kernel_columns, kernel_rows
from kgtui.widgets.text.toned import Grid
from tests.kgtui import fakes

COLUMNS = (
    Column(label="name", width=8),
    Column(label="minor", width=6, rank=2),
    Column(label="note", width=20, least=5, rank=1),
    Column(label="major", width=6),
)
SEEN_AT_80 = 79  # a table has one cell of padding
ROOM_AT_120 = 57  # of the results beside the source


def labels(columns: tuple[Column, ...], room: int) -> list[tuple[str, int]]:
    """The columns within the edge, each with its width; asserts that the others begin behind it."""
    placed, used, seen = laid_out(columns, room=room), 0, []
    for one in placed:
        if used >= room:
            break
        seen.append((columns[one.place].label, one.width))
        used += one.width
    assert used <= room
    assert sorted(one.place for one in placed) == list(range(len(columns)))
    return seen


@pytest.mark.parametrize(
    ("room", "seen"),
    [
        (50, [("name", 8), ("minor", 6), ("note", 20), ("major", 6)]),
        (40, [("name", 8), ("minor", 6), ("note", 20), ("major", 6)]),
        (39, [("name", 8), ("note", 20), ("major", 11)]),
        (20, [("name", 8), ("note", 6), ("major", 6)]),
        (17, [("name", 8), ("major", 9)]),
        (13, [("name", 8), ("note", 5)]),
    ],
)
def test_least_important_columns_leave_view_first(room: int, seen: list[tuple[str, int]]) -> None:
    assert labels(COLUMNS, room) == seen


def test_columns_without_space_keep_preferred_width() -> None:
    assert [one.width for one in laid_out(COLUMNS, room=3)] == [8, 6, 20, 6]


def test_cases_at_80_columns_state_error_and_amount() -> None:
    seen = [label for label, _ in labels(case_columns(fakes.softmax_problem().cases), SEEN_AT_80)]
    assert seen == ["case", "outcome", "wrong", "max abs", "note"]


def test_kernels_at_80_columns_state_resources() -> None:
    seen = [label for label, _ in labels(kernel_columns((fakes.compiled(),)), SEEN_AT_80)]
    assert seen == ["kernel", "built", "specialised on", "first in", "regs", "spill", "shared", "occup."]


def test_specialisations_are_distinguished_at_120_columns() -> None:
    known = fakes.compiled().launch
    launches = (
        known,
        replace(known, constants={"BLOCK": "256"}),
        replace(known, signature={**known.signature, "x_ptr": "*fp16"}),
        replace(known, num_warps=8),
        replace(known, divisible_by_16=()),
        replace(known, signature={**known.signature, "cols": "i64"}),
        replace(known, signature={**known.signature, "cols": "constexpr"}, constants={**known.constants, "cols": "1"}),
    )
    kernels = tuple(replace(fakes.compiled(), launch=launch) for launch in launches)
    placed = dict(labels(kernel_columns(kernels), ROOM_AT_120))
    rows = kernel_rows(kernels, NO_RUN, glyphs=UNICODE)
    words = [row.cells[2].text for row in rows]
    assert words[:2] == [
        "BLOCK=128 fp32 warps=4 cols:i32 %16:x_ptr,y_ptr",
        "BLOCK=256 fp32 warps=4 cols:i32 %16:x_ptr,y_ptr",
    ]
    assert len(set(words)) == len(words)
    assert list(placed)[:3] == ["kernel", "specialised on", "first in"]


def test_constants_and_dtypes_are_complete_at_120_columns() -> None:
    known = fakes.compiled().launch
    launches = [
        replace(known, kernel="softmax_short_rows", constants=constants, signature={"x": f"*{x}", "y": f"*{y}"})
        for constants in ({"ROWS": "1", "COLS": "32768"}, {"ROWS": "16", "COLS": "128"})
        for x, y in (("bf16", "bf16"), ("fp16", "fp32"))
    ]
    kernels = tuple(replace(fakes.compiled(), launch=launch) for launch in launches)
    placed = dict(labels(kernel_columns(kernels), ROOM_AT_120))
    words = [row.cells[2].text for row in kernel_rows(kernels, NO_RUN, glyphs=UNICODE)]
    assert words == [
        "ROWS=1 COLS=32768 bf16",
        "ROWS=1 COLS=32768 fp16 fp32",
        "ROWS=16 COLS=128 bf16",
        "ROWS=16 COLS=128 fp16 fp32",
    ]
    assert placed["specialised on"] > max(map(len, words))


def test_the_case_that_launched_a_kernel_is_named() -> None:
    launch = fakes.softmax_launch()
    view = replace(NO_RUN, launches=(replace(launch, num_warps=8), launch), launched_by=("1x781 f32", "4x1 f32"))
    other = replace(fakes.compiled(), launch=replace(launch, num_warps=2))
    rows = kernel_rows((fakes.compiled(), other), view, glyphs=UNICODE)
    assert [row.cells[3].text for row in rows] == ["4x1 f32", UNICODE.dash]


def test_kernels_with_same_error_are_one_row() -> None:
    events = fakes.ported((fakes.softmax_launch(),), ("gfx950",), 0.0)
    broken = next(event.kernel for event in events if hasattr(event, "kernel"))
    wider = replace(broken, launch=replace(broken.launch, constants={"BLOCK": "256"}))
    renamed = replace(broken, launch=replace(broken.launch, kernel="other"))
    elsewhere = replace(broken, message="something else")
    rows = kernel_rows((fakes.compiled(), broken, wider, elsewhere), NO_RUN, glyphs=UNICODE)
    assert [(row.key, row.cells[0].text, row.cells[2].text) for row in rows] == [
        ("0", "softmax_kernel", "BLOCK=128 fp32"),
        ("1", "2 × softmax_kernel", "2 specialisations"),
        ("3", "softmax_kernel", "BLOCK=128 fp32"),
    ]
    assert kernel_rows((broken, renamed), NO_RUN, glyphs=UNICODE)[0].cells[0].text == "2 × softmax_kernel and 1 more"


def test_kernel_memory_is_complete_at_80_columns() -> None:
    heavy = replace(fakes.compiled(), spill_bytes=14264, shared_bytes=232448)
    widths = dict(labels(kernel_columns((fakes.compiled(), heavy)), SEEN_AT_80))
    assert {"14,264 B", "232,448 B"} <= {cell.text for cell in kernel_rows((heavy,), NO_RUN, glyphs=UNICODE)[0].cells}
    assert widths["spill"] == len("14,264 B") + 1
    assert widths["shared"] >= len("232,448 B") + 1


def test_unbuilt_kernels_give_reason_at_80_columns() -> None:
    events = fakes.ported((fakes.softmax_launch(),), ("gfx950",), 0.0)
    broken = next(event.kernel for event in events if hasattr(event, "kernel"))
    assert broken.outcome is not Outcome.PASS
    assert "options, or the error" in [label for label, _ in labels(kernel_columns((broken,)), SEEN_AT_80)]


def test_the_runs_fit_into_80_columns() -> None:
    assert len(labels(HISTORY_COLUMNS, SEEN_AT_80)) == len(HISTORY_COLUMNS)


class Stage(App[None]):
    """A table that is as wide as the terminal."""

    CSS_PATH = "../../../kgtui/styles/app.tcss"

    def get_default_screen(self) -> StyledScreen:
        return StyledScreen()  # it has the tones

    def compose(self) -> ComposeResult:
        yield Grid(COLUMNS)


def drawn(grid: Grid) -> list[str]:
    return [grid.render_line(y).text.rstrip() for y in range(grid.row_count + 1)]


def test_room_left_widens_columns_up_to_their_most() -> None:
    columns = (Column(label="name", width=8, most=12), Column(label="n", width=4), Column(label="why", width=6, most=9))
    assert [one.width for one in laid_out(columns, room=18)] == [8, 4, 6]
    assert [one.width for one in laid_out(columns, room=24)] == [12, 4, 7]
    assert [one.width for one in laid_out(columns, room=40)] == [12, 4, 9]


async def test_resized_table_is_laid_out_keeping_cursor() -> None:
    def row(key: str) -> Row:
        return Row(key=key, cells=(Span(key), Span("less"), Span("what is said of it"), Span("more")))

    async with Stage().run_test(size=(22, 10)) as pilot:
        grid = pilot.app.query_one(Grid)
        grid.show((row("one"), row("two"), row("three")))
        grid.go_to("two")
        await pilot.pause()
        assert drawn(grid)[:2] == ["name    note   major", "one     what … more"]
        await pilot.resize_terminal(60, 10)
        await pilot.pause()
        assert drawn(grid)[2] == "two     less  what is said of it  more"
        assert grid.current == "two"
        await pilot.resize_terminal(22, 10)
        await pilot.pause()
        assert drawn(grid)[3] == "three   what … more"
        assert grid.current == "two"


async def test_columns_beyond_edge_are_reached_by_scrolling() -> None:
    async with Stage().run_test(size=(22, 10)) as pilot:
        grid = pilot.app.query_one(Grid)
        grid.show((Row(key="k", cells=(Span("one"), Span("less"), Span("word"), Span("more"))),))
        await pilot.pause()
        assert "less" not in drawn(grid)[1]
        grid.scroll_to(x=grid.max_scroll_x, animate=False, force=True)
        await pilot.pause()
        assert "less" in drawn(grid)[1]
