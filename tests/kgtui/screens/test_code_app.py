"""Compiled code on the screen: source and code point at each other, other targets, what changed between runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.errors import UsageError
from engine.model import Outcome, Verdict
from engine.model.events import KernelCompiled, KernelLaunched
from engine.run.retarget import PORTABILITY_TARGETS
from kgtui.screens.differences.screen import DifferencesScreen
from kgtui.screens.targets.screen import TargetsScreen
from kgtui.state.format.lines import plain_text
from kgtui.widgets.controls.bars import Bar
from kgtui.widgets.panes.base.code_pane import CodePane
from kgtui.widgets.panes.base.pane import is_seen
from kgtui.widgets.panes.ir import IrPane
from kgtui.widgets.text.code_view import CodeView
from kgtui.widgets.text.toned import Grid, Lines
from tests.kgtui import fakes

NARROW, MEDIUM, WIDE = (80, 24), (120, 36), (200, 60)
EXP_LINE, EXP_PLACES = 14, {12, 13, 14, 15}  # of the source, and of the PTX from its `.loc` on


def text_of(screen: Any, selector: str) -> str:
    """What some lines say."""
    return plain_text(screen.query_one(selector, Lines).lines)


async def opened(bench: Any, pilot: Any, *keys: str) -> Any:
    """The screen in front once a run is there and the keys were pressed."""
    await bench.until(pilot, lambda: bench.app.problems != ())
    await bench.settled(pilot)
    for key in keys:
        await pilot.press(key)
        await bench.settled(pilot)
    return bench.app.screen


# Source and code


async def test_moving_in_the_source_points_out_the_code(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=MEDIUM) as pilot:
        screen = await opened(bench, pilot, "4")
        screen.source.go_to(EXP_LINE)
        await pilot.pause()
        view = screen.query_one(IrPane).code.view
        assert view.linked == EXP_PLACES
        assert view.cursor_line == min(EXP_PLACES)


async def test_widened_terminal_shows_code_at_once(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=NARROW) as pilot:
        screen = await opened(bench, pilot)
        await pilot.resize_terminal(*WIDE)
        await bench.settled(pilot)
        assert screen.query_one("#ir-side", CodePane).view.line_count > 0


async def test_moving_in_code_highlights_source_line(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=MEDIUM) as pilot:
        screen = await opened(bench, pilot, "4")
        before = screen.source.line
        code = screen.query_one(IrPane).code
        screen.set_focus(code.view)
        code.view.go_to(max(EXP_PLACES) - 1)
        await pilot.pause()
        assert screen.source.editor._linked_row == EXP_LINE - 1
        assert (screen.source.line, code.view.linked) == (before, EXP_PLACES)


async def test_enter_moves_from_code_to_line_and_back(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=MEDIUM) as pilot:
        screen = await opened(bench, pilot, "4")
        code = screen.query_one(IrPane).code
        screen.set_focus(code.view)
        code.view.go_to(14)
        await pilot.press("enter")
        assert (screen.source.line, screen.focused) == (EXP_LINE, screen.source.editor)
        assert code.view.cursor_line == 14
        await pilot.press("enter")
        assert screen.focused is code.view


async def test_enter_on_line_waits_for_unread_code(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=MEDIUM) as pilot:
        screen = await opened(bench, pilot)
        screen.source.go_to(EXP_LINE)
        await pilot.press("enter")
        code = screen.query_one(IrPane).code
        await bench.until(pilot, lambda: code.view.has_focus)
        assert code.view.cursor_line == min(EXP_PLACES)


async def test_line_without_code_is_reported_with_kernel(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=MEDIUM, notifications=True) as pilot:
        screen = await opened(bench, pilot)
        screen.source.go_to(1)
        await pilot.press("enter")
        await bench.until(pilot, lambda: bool(bench.app._notifications))
        words = [toast.message for toast in bench.app._notifications]
        assert words == ["no code of softmax_kernel is known for line 1"]


async def test_focused_code_pane_is_searched_and_followed(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=WIDE) as pilot:
        screen = await opened(bench, pilot)
        side = screen.query_one("#ir-side", CodePane)
        screen.set_focus(side.view)
        await pilot.press("slash", *"ex2", "enter")
        assert (side.view.cursor_line, screen.focused) == (13, side.view)
        await pilot.press("enter")
        assert screen.source.line == EXP_LINE


async def test_kernel_resources_are_below_the_table(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=MEDIUM) as pilot:
        screen = await opened(bench, pilot, "4")
        words = "40 registers, no spills, 16 B shared, occupancy 75% by registers"
        assert text_of(screen, "#kernel-resources") == words


# Other targets


async def test_targets_screen_compiles_for_all_targets(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=MEDIUM) as pilot:
        screen = await opened(bench, pilot, "T")
        assert isinstance(screen, TargetsScreen)
        assert [targets for _, targets in bench.engine.ported] == [PORTABILITY_TARGETS]
        assert text_of(screen, "#ports").startswith("does not build for gfx950")
        assert [row.key for row in screen.query_one(Grid).shown] == list(PORTABILITY_TARGETS)


async def test_key_bar_names_what_escape_does_while_compiling(make_bench: Any) -> None:
    bench = make_bench()
    bench.engine.ports_only = 2
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("T")
        bar = bench.app.screen.query_one("#keys", Bar)
        await bench.until(pilot, lambda: "esc stop" in plain_text(tuple(segment.line for segment in bar.segments)))
        await pilot.press("escape")
        await bench.until(pilot, lambda: "esc back" in plain_text(tuple(segment.line for segment in bar.segments)))


async def test_compiled_targets_are_reused_and_stored(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=MEDIUM) as pilot:
        await opened(bench, pilot, "T", "escape")
        known = bench.app.workbench.bench.view.ports
        bench.app.workbench.runs.request()
        await bench.settled(pilot)
        assert bench.app.workbench.bench.shown.cached
        screen = await opened(bench, pilot, "T")
        assert (bench.app.workbench.bench.view.ports, len(bench.engine.ported)) == (known, 1)
        assert text_of(screen, "#ports").startswith("does not build for gfx950")


async def test_first_escape_stops_compiling(make_bench: Any) -> None:
    bench = make_bench()
    bench.engine.ports_only = 3
    async with bench.app.run_test(size=MEDIUM) as pilot:
        await bench.until(pilot, lambda: bench.app.problems != ())
        await bench.settled(pilot)
        await pilot.press("T")
        workbench = bench.app.workbench
        await bench.until(pilot, lambda: len(workbench.bench.view.ports.kernels) == 2)
        assert "compiling 2/8" in text_of(bench.app.screen, "#ports")
        await pilot.press("escape")
        await bench.settled(pilot)
        assert isinstance(bench.app.screen, TargetsScreen)
        assert workbench.bench.view.ports.outcome is Outcome.CANCELLED
        await pilot.press("escape")
        assert bench.app.screen is workbench


async def test_enter_shows_target_code_and_escape_returns(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=MEDIUM) as pilot:
        workbench = bench.app.workbench
        await opened(bench, pilot, "T", "enter")
        assert bench.app.screen is workbench
        pane = workbench.query_one(IrPane)
        assert (workbench.tabs.shown, pane.current.target, pane.current.registers) == ("ir", "sm_80", 31)
        assert "sm_80: softmax_kernel" in plain_text(pane.code.query_one(Lines).lines)
        await pilot.press("escape")
        await bench.settled(pilot)
        assert (pane.current.target, pane.current.registers) == ("sm_90", 40)


async def test_unfinished_work_of_ended_process_can_restart(make_bench: Any) -> None:
    def left_half_done(candidate: Any, plan: Any) -> list[Any]:
        return [*fakes.all_pass(candidate, plan), *fakes.ported((fakes.softmax_launch(),), ("sm_80", "sm_90"), 1.0)[:2]]

    bench = make_bench(left_half_done)
    async with bench.app.run_test(size=MEDIUM) as pilot:
        screen = await opened(bench, pilot, "T")
        assert (text_of(screen, "#ports").split("  ")[0], bench.engine.ported) == ("⟳ compiling 1/2", [])
        await pilot.press("r")
        await bench.settled(pilot)
        assert text_of(screen, "#ports").startswith("does not build for gfx950")


async def test_run_without_launches_has_nothing_to_compile(make_bench: Any) -> None:
    def launches_nothing(candidate: Any, plan: Any) -> list[Any]:
        events = fakes.all_pass(candidate, plan)
        return [event for event in events if not isinstance(event, KernelLaunched | KernelCompiled)]

    bench = make_bench(launches_nothing)
    async with bench.app.run_test(size=MEDIUM) as pilot:
        screen = await opened(bench, pilot, "T")
        assert text_of(screen, "#ports") == "the candidate launched no Triton kernel, so there is nothing to compile"
        assert bench.engine.ported == []


async def test_failing_kernel_is_not_reported_as_unlaunched(make_bench: Any) -> None:
    def fails(candidate: Any, plan: Any) -> list[Any]:
        events = fakes.some_fail(candidate, plan)
        return [event for event in events if not isinstance(event, KernelLaunched | KernelCompiled)]

    words = "no launch of a Triton kernel finished, so there is nothing to compile"
    bench = make_bench(fails)
    async with bench.app.run_test(size=MEDIUM) as pilot:
        screen = await opened(bench, pilot, "T")
        assert text_of(screen, "#ports") == words


# What changed


@pytest.fixture
def two_runs(make_bench: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A workbench whose second save compiles to other PTX, with fewer registers."""
    later = fakes.PTX.replace("ex2.approx.f32", "ex2.approx.ftz.f32").replace("%r2", "%r9").replace("1 9 25", "1 8 1")
    texts = {"b" * 64: fakes.PTX, "d" * 64: later}

    def compiles_to_less(candidate: Any, plan: Any) -> list[Any]:
        kernel = fakes.compiled()
        ptx = replace(kernel.artefacts[1], digest="d" * 64)
        kernel = replace(kernel, registers=32, artefacts=(kernel.artefacts[0], ptx))
        events = fakes.all_pass(candidate, plan)
        return [replace(event, kernel=kernel) if isinstance(event, KernelCompiled) else event for event in events]

    bench = make_bench()

    async def artefact(digest: str) -> str:
        return str(texts.get(digest, "module {}"))

    monkeypatch.setattr(bench.app, "artefact", artefact)
    bench.later = compiles_to_less
    return bench


async def save_another(bench: Any, pilot: Any) -> None:
    bench.engine.script = bench.later
    bench.watcher.save(bench.path.read_bytes() + b"# another\n")
    await bench.until(pilot, lambda: len(bench.engine.evaluated) == 2)
    await bench.settled(pilot)


async def test_unreadable_code_is_no_difference(two_runs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def unreadable(digest: str) -> str:
        raise UsageError("the code cannot be read")

    async with two_runs.app.run_test(size=MEDIUM) as pilot:
        await opened(two_runs, pilot)
        await save_another(two_runs, pilot)
        monkeypatch.setattr(two_runs.app, "artefact", unreadable)
        screen = await opened(two_runs, pilot, "D")
        assert isinstance(screen, DifferencesScreen)
        assert text_of(screen, "#versus").splitlines()[-1] == "the code cannot be read"
        assert screen._shown == ()


async def test_differences_to_previous_run_cover_code_only(two_runs: Any) -> None:
    async with two_runs.app.run_test(size=MEDIUM) as pilot:
        await opened(two_runs, pilot)
        await save_another(two_runs, pilot)
        screen = await opened(two_runs, pilot, "D")
        assert isinstance(screen, DifferencesScreen)
        assert text_of(screen, "#versus").splitlines() == [
            "Differences  run #1 ▸ run #2  x  ttir  [ptx]  sass   sm_90: softmax_kernel",
            "registers 40 ▸ 32   spilled 0 B   shared 16 B   occupancy 75% ▸ 100%",
            "1 line removed, 1 added  ignoring locations, numbering and register names",
        ]
        changed = [text for text in screen._shown if text[:2] in ("- ", "+ ")]
        assert changed == ["-     ex2.approx.f32 %r3, %r2;", "+     ex2.approx.ftz.f32 %r3, %r9;"]


async def test_history_cursor_selects_run_to_compare(two_runs: Any) -> None:
    async with two_runs.app.run_test(size=MEDIUM) as pilot:
        await opened(two_runs, pilot)
        await save_another(two_runs, pilot)
        two_runs.app.workbench.runs.request(again=True)
        await two_runs.settled(pilot)
        screen = await opened(two_runs, pilot, "5", "j", "D")
        assert text_of(screen, "#versus").startswith("Differences  run #2 ▸ run #3")
        assert "the code is the same" in text_of(screen, "#versus")
        await pilot.press("left_square_bracket")
        await two_runs.settled(pilot)
        assert text_of(screen, "#versus").startswith("Differences  run #1 ▸ run #3")


async def save_what_compiles_nothing(bench: Any, pilot: Any) -> None:
    def compiles_nothing(candidate: Any, plan: Any) -> list[Any]:
        return [event for event in fakes.all_pass(candidate, plan) if not isinstance(event, KernelCompiled)]

    bench.engine.script, judged = compiles_nothing, len(bench.engine.evaluated)
    bench.watcher.save(bench.path.read_bytes() + b"# nothing\n")
    await bench.until(pilot, lambda: len(bench.engine.evaluated) == judged + 1)
    await bench.settled(pilot)


async def save_and_cancel(bench: Any, pilot: Any) -> None:
    def is_cancelled(candidate: Any, plan: Any) -> list[Any]:
        *events, finished, _ = fakes.all_pass(candidate, plan)
        cancelled = Verdict(outcome=Outcome.CANCELLED, sentence="cancelled", passed=0, total=len(plan.cases))
        return [*events, replace(finished, verdict=cancelled)]

    bench.engine.script, judged = is_cancelled, len(bench.engine.evaluated)
    bench.watcher.save(bench.path.read_bytes() + b"# cancelled\n")
    await bench.until(pilot, lambda: len(bench.engine.evaluated) == judged + 1)
    await bench.settled(pilot)


async def save_later_run(bench: Any, pilot: Any) -> None:
    bench.engine.script = bench.later
    bench.watcher.save(bench.path.read_bytes() + b"# another\n")
    await bench.until(pilot, lambda: len(bench.engine.evaluated) == 3)
    await bench.settled(pilot)


async def test_differences_prefer_whole_runs_to_cancelled_ones(two_runs: Any) -> None:
    async with two_runs.app.run_test(size=MEDIUM) as pilot:
        await opened(two_runs, pilot)
        await save_and_cancel(two_runs, pilot)
        await save_later_run(two_runs, pilot)
        screen = await opened(two_runs, pilot, "D")
        assert text_of(screen, "#versus").startswith("Differences  run #1 ▸ run #3")


async def test_runs_that_compiled_nothing_are_passed_over(two_runs: Any) -> None:
    async with two_runs.app.run_test(size=MEDIUM) as pilot:
        await opened(two_runs, pilot)
        await save_what_compiles_nothing(two_runs, pilot)
        await save_later_run(two_runs, pilot)
        screen = await opened(two_runs, pilot, "D")
        assert text_of(screen, "#versus").startswith("Differences  run #1 ▸ run #3")
        await pilot.press("right_square_bracket")
        await two_runs.settled(pilot)
        assert text_of(screen, "#versus") == (
            "run #2 compiled no softmax_kernel for sm_90 for the same element types, nor did any after it; "
            "[ selects an older run, ] a newer one"
        )
        await pilot.press("left_square_bracket")
        await two_runs.settled(pilot)
        assert text_of(screen, "#versus").startswith("Differences  run #1 ▸ run #3")


async def test_compared_run_without_code_is_reported(two_runs: Any) -> None:
    async with two_runs.app.run_test(size=MEDIUM) as pilot:
        await opened(two_runs, pilot)
        await save_what_compiles_nothing(two_runs, pilot)
        two_runs.engine.script = two_runs.later
        two_runs.watcher.save(two_runs.path.read_bytes() + b"# another\n")
        await two_runs.until(pilot, lambda: len(two_runs.engine.evaluated) == 3)
        await two_runs.settled(pilot)
        screen = await opened(two_runs, pilot, "5", "j", "D")
        assert text_of(screen, "#versus") == (
            "run #2 compiled no softmax_kernel for sm_90 for the same element types; "
            "[ selects an older run, ] a newer one"
        )


async def test_the_next_form_is_compared_too(two_runs: Any) -> None:
    async with two_runs.app.run_test(size=MEDIUM) as pilot:
        await opened(two_runs, pilot)
        await save_another(two_runs, pilot)
        screen = await opened(two_runs, pilot, "D", "x", "x")
        assert "[ttir]" in text_of(screen, "#versus")
        assert screen.query_one(CodeView).line_count == 0


async def test_single_run_has_nothing_to_compare(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=MEDIUM) as pilot:
        screen = await opened(bench, pilot, "D")
        words = "no other run of aten::softmax is saved; save another version of the file"
        assert text_of(screen, "#versus") == words


# Pictures


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])
def test_linked_source_and_code_match_snapshot(make_bench: Any, snap_compare: Any, size: tuple[int, int]) -> None:
    bench = make_bench()

    async def drive(pilot: Any) -> None:
        screen = await opened(bench, pilot, "4")
        view = next(pane for pane in screen.query(CodePane) if is_seen(pane)).view
        screen.set_focus(view)
        view.go_to(13)
        await pilot.pause()

    assert snap_compare(bench.app, terminal_size=size, run_before=drive)
