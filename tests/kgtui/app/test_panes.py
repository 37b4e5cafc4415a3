"""Panes of the workbench: zoom, search, filters, compiled code, copied text."""

from __future__ import annotations

from typing import Any

import pytest
from textual import events
from textual.widgets import Input

from engine.model import Candidate, Finding, Plan, Severity
from engine.model.events import Event
from kgtui.state.format.glyphs import State
from kgtui.state.format.lines import plain_text
from kgtui.widgets.controls.bars import Bar
from kgtui.widgets.text.toned import Grid, Lines
from tests.kgtui import fakes
from tests.kgtui.app.workbench_state import state, workbench


def tabs(bench: Any) -> list[str]:
    return [plain_text((segment.line,)) for segment in workbench(bench).query_one("#tabs", Bar).segments]


async def test_zoom_maximises_focused_pane_and_restores(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        screen = workbench(bench)
        await pilot.press("1", "z")
        assert (screen.source.display, screen.query_one("#results").size.height) == (False, 20)
        await pilot.press("escape")
        assert screen.source.display


async def test_search_in_source_moves_to_next_match(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("slash", *"tl.load", "enter")
        assert workbench(bench).source.line == 12
        await pilot.press("slash")
        workbench(bench).query_one("#search Input", Input).value = "axis"
        await pilot.press("enter", "n")
        assert workbench(bench).source.line == 15
        await pilot.press("N")
        assert workbench(bench).source.line == 13


async def test_cases_are_filtered_and_escape_clears_filter(make_bench: Any) -> None:
    bench = make_bench(fakes.some_fail)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("1", "slash", *"bf16", "enter")
        table = workbench(bench).query_one("#cases-table", Grid)
        assert [row.key for row in table.shown] == ["1x781 bf16", "4x1 bf16"]
        assert tabs(bench)[0] == "1 Cases(2) /bf16"
        await pilot.press("escape")
        assert len(table.shown) == 8
        assert tabs(bench)[0] == "1 Cases(2)"


async def test_letters_typed_right_after_key_are_kept(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("1")
        for key, letter in (("slash", "/"), ("b", "b"), ("f", "f"), ("1", "1"), ("6", "6")):
            bench.app.post_message(events.Key(key, letter))  # as a terminal sends them in one piece
        field = workbench(bench).query_one("#search Input", Input)
        for _ in range(9):
            await pilot.pause()
        assert field.value == "bf16"
        assert workbench(bench).focused is field


async def test_filter_without_matching_case_is_reported(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("1", "slash", *"f8", "enter")
        assert [note.message for note in bench.app._notifications] == ["no case matches 'f8'; esc clears the filter"]


async def test_next_target_is_compiled_for(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("t", "t")
        await bench.settled(pilot)
        assert bench.engine.evaluated[-1][1].target == "sm_100"
        assert [note.message for note in bench.app._notifications] == ["compiling for sm_100 from now on"]


async def test_capital_y_copies_result_as_markdown(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("Y")
        assert bench.app.clipboard.startswith("### aten::softmax: pass (run #1)\n")
        await pilot.press("4", "y")
        assert bench.app.clipboard == "softmax_kernel"


async def test_kernel_code_is_shown_in_every_form(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("4")
        await bench.settled(pilot)
        pane = workbench(bench).query_one("#ir-code")
        assert plain_text(pane.query_one(Lines).lines).startswith("x  ttir  [ptx]")
        await pilot.press("x")
        await bench.settled(pilot)
        assert plain_text(pane.query_one(Lines).lines).startswith("x  ttir   ptx  [sass]")
        await pilot.press("x")
        await bench.settled(pilot)
        assert plain_text(pane.query_one(Lines).lines).startswith("x [ttir]")


async def test_failing_editor_command_is_reported(make_bench: Any) -> None:
    bench = make_bench(environment={"EDITOR": "no-such-editor"})
    async with bench.app.run_test(notifications=True) as pilot:
        await bench.settled(pilot)
        await pilot.press("E")
        await bench.until(pilot, lambda: bool(bench.app._notifications))
        assert "this terminal cannot run an editor" in next(iter(bench.app._notifications)).message
        assert state(bench) is State.PASSED


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_shown_tab_is_named_stale_with_results_of_earlier_version(make_bench: Any, size: tuple[int, int]) -> None:
    bench = make_bench(script=fakes.some_fail)
    async with bench.app.run_test(size=size) as pilot:
        await bench.settled(pilot)
        await pilot.press("1", "p")
        assert tabs(bench)[:2] == ["1 Cases(2)", "2 Findings"]
        bench.watcher.save(fakes.SOURCE + b"# changed\n")
        await pilot.pause()
        await bench.settled(pilot)
        assert tabs(bench) == ["1 Cases stale", "2 Findings", "3 Bench", "4 IR(1)", "5 History", "6 Log"]
        drawn = workbench(bench).query_one("#tabs", Bar).render().plain
        assert drawn.split() == " ".join(tabs(bench)).split()
        await pilot.press("6")
        assert tabs(bench)[0] == "1 Cases(2)"


def finds_something_about_the_file(candidate: Candidate, plan: Plan) -> list[Event]:
    findings = (Finding(check="threads", severity=Severity.HINT, message="a thread was started"),)
    return fakes.run_events(candidate, plan, [fakes.passed(case) for case in plan.cases], findings=findings)


@pytest.mark.parametrize(
    ("script", "tab", "message"),
    [
        (
            finds_something_about_the_file,
            "2",
            "this finding refers to no source line; it is about the whole file or its run",
        ),
        (fakes.all_pass, "1", "this case passed; enter on a failed one shows why it failed"),
        (fakes.never_begins, "1", "this case was not run; enter on a failed one shows why it failed"),
    ],
    ids=["finding", "passed", "not run"],
)
async def test_enter_says_why_a_row_leads_nowhere(make_bench: Any, script: Any, tab: str, message: str) -> None:
    bench = make_bench(script=script)
    async with bench.app.run_test(notifications=True) as pilot:
        await bench.until(pilot, lambda: bench.engine.evaluated != [])
        await pilot.pause()
        await pilot.press(tab, "enter")
        await pilot.pause()
        assert [toast.message for toast in bench.app._notifications] == [message]


async def test_tiny_terminal_states_required_size(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=(20, 5)) as pilot:
        await bench.settled(pilot)
        assert str(bench.app.screen.query_one("TooSmall").render()) == "terminal too small: needs 60x15, has 20x5"
        assert not workbench(bench).query_one("#body").display
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert workbench(bench).query_one("#body").display
