"""The log: long lines go on below, repeated ones are folded, and none is lost by either."""

from __future__ import annotations

from typing import Any

import pytest
from rich.cells import cell_len

from engine.model import Stream
from engine.model.events import Event, LogWritten
from kgtui.screens.workbench.screen import WorkbenchScreen
from kgtui.state.run.log import LONGEST, LogRows, wrapped
from kgtui.widgets.panes.log import LogPane
from kgtui.widgets.text.code_view import CodeView
from tests.kgtui import fakes

WARNING = (
    "/somewhere/lib/python3.11/site-packages/triton/runtime/interpreter.py:1042: "
    "RuntimeWarning: overflow encountered in exp"
)


def piece(text: str, stream: Stream = Stream.STDERR) -> LogWritten:
    return LogWritten(at_s=0.0, stream=stream, text=text)


def test_long_line_is_wrapped_at_a_space() -> None:
    assert LogRows(cells=60).add([piece(WARNING)]) == [
        "err /somewhere/lib/python3.11/site-packages/triton/runtime/i",
        "    nterpreter.py:1042: RuntimeWarning: overflow encountered",
        "    in exp",
    ]


@pytest.mark.parametrize("text", ["形" * 70, "x" * 119, "a b " * 40, "e\u0301" * 60, "🚀 " * 50, " " * 90, ""])
@pytest.mark.parametrize("cells", [20, 21, 58])
def test_rows_fit_the_pane_without_lost_characters(text: str, cells: int) -> None:
    rows = wrapped(text, cells=cells, indent=4)
    assert max(map(cell_len, rows)) <= cells
    assert "".join(rows).replace(" ", "") == text.replace(" ", "")


def test_repeated_line_is_shown_once_with_count() -> None:
    rows = LogRows(cells=60)
    assert rows.add([piece("a\na\na"), piece("a"), piece("b")]) == [
        "err a",
        "    (repeated 3 times more)",
        "err b",
    ]
    assert rows.add([piece("b"), piece("b", Stream.STDOUT)]) == ["    (repeated once more)", "out b"]


def test_repeats_wait_for_other_line_or_end() -> None:
    rows = LogRows(cells=60)
    assert [rows.add([piece("again")]) for _ in range(3)] == [["err again"], [], []]
    assert rows.end() == ["    (repeated 2 times more)"]
    assert rows.end() == []


def test_row_keeps_whole_line_and_overlong_is_cut() -> None:
    rows = LogRows(cells=60)
    line = f"{'x' * LONGEST}yz"
    drawn = [*rows.add([piece("short")]), *rows.add([piece(line)])]
    assert "yz" not in "".join(drawn)
    assert "... 6 more characters; y copies the whole line" in " ".join(row.strip() for row in drawn[-3:])
    assert {rows.line_of(number) for number in range(2, len(drawn) + 1)} == {f"err {line}"}
    assert (rows.line_of(1), rows.line_of(0), rows.line_of(len(drawn) + 1)) == ("err short", "", "")


def test_control_characters_are_removed_before_wrapping() -> None:
    assert LogRows(cells=60).add([piece("\x1b[31mred\x1b[0m")]) == ["err red"]


async def test_pane_wraps_to_width_and_copies_whole_line(make_bench: Any) -> None:
    def warns(candidate: Any, plan: Any) -> list[Event]:
        events = fakes.all_pass(candidate, plan)
        return [
            *events[:8],
            *(LogWritten(at_s=0.05, stream=Stream.STDERR, text=WARNING) for _ in range(4)),
            *events[8:],
        ]

    bench = make_bench(warns)
    async with bench.app.run_test(size=(80, 24)) as pilot:
        await bench.settled(pilot)
        await pilot.press("6")
        await pilot.pause()
        screen = bench.app.workbench
        assert isinstance(screen, WorkbenchScreen)
        pane, view = screen.query_one(LogPane), screen.query_one("#log-text", CodeView)
        assert shown(view)[1:] == [
            "err /somewhere/lib/python3.11/site-packages/triton/runtime/interpreter.py:1042:",
            "    RuntimeWarning: overflow encountered in exp",
            "    (repeated 3 times more)",
        ]
        assert view.max_scroll_x == 0
        view.go_to(3)
        assert pane.copied() == f"err {WARNING}"
        await pilot.resize_terminal(200, 60)
        await pilot.pause()
        assert len(shown(view)) == 4
        assert view.max_scroll_x == 0


def shown(view: CodeView) -> list[str]:
    """The rows of the view."""
    return [view.render_line(y).text.rstrip() for y in range(view.line_count)]
