"""Judging picked cases again, and runs that judge none: what was known of the other cases stays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from engine.model import Candidate, Outcome, Plan, Stage, Verdict
from engine.model.events import Event, RunFinished, StageFinished
from kgtui.screens.case.screen import CaseScreen
from kgtui.screens.workbench.screen import WorkbenchScreen
from kgtui.state.format.glyphs import State
from kgtui.state.format.lines import plain_text
from kgtui.state.workbench.status import status_of
from kgtui.state.workbench.strip import sentence
from kgtui.state.workbench.workbench import number_of
from kgtui.widgets.controls.bars import Bar
from kgtui.widgets.panes.cases import CasesPane
from kgtui.widgets.panes.ir import IrPane
from kgtui.widgets.text.toned import Grid, Lines
from tests.kgtui import fakes

BROKEN = b"# kgtui: op=aten::softmax\ndef softmax(:\n"


def workbench(bench: Any) -> WorkbenchScreen:
    screen = bench.app.workbench
    assert isinstance(screen, WorkbenchScreen)
    return screen


def rows(bench: Any) -> dict[str, str]:
    grid = workbench(bench).query_one("#cases-table", Grid)
    return {row.key: f"{row.cells[1].text}{' stale' if row.stale else ''}" for row in grid.shown}


def does_not_parse(script: Callable[..., Sequence[Event]]) -> Callable[..., Sequence[Event]]:
    """As `script`, but for a text that is no Python: its run ends before any case."""

    def play(candidate: Candidate, plan: Plan) -> Sequence[Event]:
        if candidate.source != BROKEN:
            return script(candidate, plan)
        begun = [*fakes.run_events(candidate, plan, (), stop_after=0)[:2]]
        verdict = Verdict(outcome=Outcome.COMPILE_ERROR, sentence="line 2: invalid syntax", passed=0, total=8)
        stopped = StageFinished(at_s=0.01, stage=Stage.PARSE, outcome=Outcome.COMPILE_ERROR, elapsed_s=0.01)
        return [*begun, stopped, RunFinished(at_s=0.01, verdict=verdict)]

    return play


async def test_failed_cases_run_again_on_their_seeds(make_bench: Any) -> None:
    bench = make_bench(fakes.some_fail)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("f")
        await bench.settled(pilot)
        assert dict(bench.engine.evaluated[-1][1].seeds) == {"127x128 f32": 11, "127x128 f16": 11}
        await pilot.press("r")
        await bench.settled(pilot)
        assert dict(bench.engine.evaluated[-1][1].seeds) == {}


async def test_restart_keeps_seeds_of_stored_run(make_bench: Any) -> None:
    problem = fakes.softmax_problem()
    before = make_bench(fakes.some_fail, problem=problem)
    async with before.app.run_test() as pilot:
        await before.settled(pilot)
    bench = make_bench(fakes.all_pass, recording=before.recording, problem=problem)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        assert bench.engine.evaluated == []
        await pilot.press("f")
        await bench.settled(pilot)
        assert dict(bench.engine.evaluated[-1][1].seeds) == {"127x128 f32": 11, "127x128 f16": 11}


async def test_other_cases_keep_their_outcomes(make_bench: Any) -> None:
    bench = make_bench(fakes.some_fail)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        bench.engine.script = fakes.all_pass
        workbench(bench).query_one(CasesPane).go_to("127x128 f16")
        await pilot.press("a")
        await bench.settled(pilot)
        assert rows(bench)["127x128 f16"] == "✔ pass"
        assert rows(bench)["127x128 f32"] == "✗ wrong value"
        assert rows(bench)["1x781 f32"] == "✔ pass"
        assert plain_text((workbench(bench).query_one("#tabs", Bar).segments[0].line,)) == "1 Cases(1)"
        await pilot.press("f")
        await bench.settled(pilot)
        assert [case.name for case in bench.engine.evaluated[-1][1].cases] == ["127x128 f32"]
        assert set(rows(bench).values()) == {"✔ pass"}


async def test_passing_selection_of_failing_file_is_not_passed(make_bench: Any) -> None:
    bench = make_bench(fakes.some_fail)
    async with bench.app.run_test(size=(160, 36)) as pilot:
        await bench.settled(pilot)
        passing = next(case.case for case in workbench(bench).bench.view.cases if case.outcome is Outcome.PASS)
        workbench(bench).query_one(CasesPane).go_to(passing)
        await pilot.press("a")
        await bench.settled(pilot)
        assert status_of(workbench(bench).bench.view, workbench(bench).context.strip_context).state is State.FAILED
        words = plain_text((sentence(workbench(bench).bench.view, workbench(bench).context.strip_context),))
        assert words == "selected cases: right on 1 of 1 cases; 2 other cases failed before, r runs all"
        bench.engine.script = fakes.all_pass
        await pilot.press("f")
        await bench.settled(pilot)
        assert status_of(workbench(bench).bench.view, workbench(bench).context.strip_context).state is State.PASSED


async def test_case_run_alone_stays_on_its_page(make_bench: Any) -> None:
    bench = make_bench(fakes.some_fail)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        workbench(bench).query_one(CasesPane).go_to("127x128 f16")
        await pilot.press("W", "a")
        await bench.settled(pilot)
        assert isinstance(bench.app.screen, CaseScreen)
        assert workbench(bench).runs.cases.current_name == "127x128 f16"
        page = bench.app.screen.query_one("#case-whole", Lines)
        assert plain_text(page.lines).startswith("127x128 f16  ✗ wrong value")


async def test_cases_of_other_version_are_not_kept(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("p")
        bench.watcher.save(fakes.SOURCE + b"# changed\n")
        await bench.settled(pilot)
        await pilot.press("a")
        await bench.settled(pilot)
        assert rows(bench)["1x781 f32"] == "✔ pass"
        assert rows(bench)["4x1 f32"] == "· not run"


async def test_a_syntax_error_leaves_the_old_results_stale(make_bench: Any) -> None:
    bench = make_bench(does_not_parse(fakes.some_fail))
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        for _ in range(2):  # the second one forgets nothing either
            bench.watcher.save(BROKEN)
            await bench.settled(pilot)
            await pilot.press("r")
            await bench.settled(pilot)
        assert rows(bench)["1x781 f32"] == "✔ pass stale"
        assert rows(bench)["127x128 f32"] == "✗ wrong value stale"
        await pilot.press("4")
        assert [row.stale for row in workbench(bench).query_one(IrPane).query_one(Grid).shown] == [True]
        await pilot.press("1")
        bench.watcher.save(fakes.SOURCE)
        await bench.settled(pilot)
        assert not any("stale" in words for words in rows(bench).values())


async def test_a_case_alone_keeps_the_other_failures_first(make_bench: Any) -> None:
    bench = make_bench(fakes.some_fail)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        bench.engine.script = fakes.all_pass
        workbench(bench).query_one(CasesPane).go_to("127x128 f16")
        await pilot.press("a")
        await bench.settled(pilot)
        await pilot.press("r")
        await bench.settled(pilot)
        assert bench.engine.evaluated[-1][1].cases[0].name == "127x128 f32"


async def test_case_run_alone_leaves_cursor_and_other_numbers(make_bench: Any) -> None:
    bench = make_bench(fakes.some_fail)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        first, second = [case.case for case in workbench(bench).bench.view.failed]
        whole = workbench(bench).bench.live.number
        workbench(bench).query_one(CasesPane).go_to(second)
        await pilot.press("W", "a")
        assert workbench(bench).query_one(CasesPane).current_name == second
        await bench.settled(pilot)
        assert workbench(bench).query_one(CasesPane).current_name == second
        alone = workbench(bench).bench.live.number
        assert whole != alone
        assert [number_of(workbench(bench).bench, name) for name in (first, second)] == [whole, alone]


async def test_past_run_is_not_starting_with_the_engine(make_bench: Any) -> None:
    bench = make_bench(fakes.all_pass)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        events = fakes.run_events(*bench.engine.evaluated[-1], (), stop_after=1)
        shown = replace(workbench(bench).bench, waiting=True).opened(7, events)
        assert status_of(shown.view, shown.strip_context(0.0)).state is State.INTERRUPTED
