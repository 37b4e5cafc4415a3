"""Runs on the workbench: started by opening and saving, repeated, cancelled, answered from the store."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.errors import EngineError
from kgtui.screens.case.screen import CaseScreen
from kgtui.state.format.glyphs import State
from kgtui.state.format.lines import plain_text
from kgtui.widgets.controls.bars import Strip
from kgtui.widgets.panes.cases import CasesPane
from kgtui.widgets.text.toned import Grid, Lines
from tests.kgtui import fakes
from tests.kgtui.app.workbench_state import state, strip, workbench


async def test_opened_file_is_verified_without_key(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        assert state(bench) is State.PASSED
        assert strip(bench)[0] == "✔ passed 0.42 s · aten::softmax · softmax.py · cpu to sm_90"
        assert strip(bench)[2] == "right on 8 of 8 cases"


async def test_save_of_other_program_is_verified(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        bench.engine.script = fakes.some_fail
        bench.watcher.save(fakes.SOURCE + b"# changed\n")
        await bench.until(pilot, lambda: len(bench.engine.evaluated) == 2)
        await bench.settled(pilot)
        assert state(bench) is State.FAILED
        assert workbench(bench).source.editor.text.endswith("# changed\n")


async def test_first_failed_case_is_shown_with_reason(make_bench: Any) -> None:
    bench = make_bench(fakes.some_fail)
    async with bench.app.run_test(size=(120, 36)) as pilot:
        await bench.settled(pilot)
        pane = workbench(bench).query_one(CasesPane)
        assert pane.current_name == "127x128 f32"
        assert "expected  0.031622776  got nan" in plain_text(pane.query_one("#case-detail", Lines).lines)


async def test_small_terminal_shows_failed_case_under_table(make_bench: Any) -> None:
    bench = make_bench(fakes.some_fail)
    async with bench.app.run_test(size=(80, 24)) as pilot:
        await bench.settled(pilot)
        brief = workbench(bench).query_one("#case-brief", Lines)
        assert brief.size.height == 3
        assert plain_text(brief.lines).endswith("check the mask of the tail block\ncheck    line 12")
        assert plain_text(workbench(bench).query_one("#verdict", Strip).rows[2][1:]) == "W why"
        await pilot.press("W")
        assert isinstance(bench.app.screen, CaseScreen)


async def test_failed_run_scrolls_to_line_unless_editing(make_bench: Any) -> None:
    bench = make_bench(fakes.some_fail)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        assert workbench(bench).source.line == 12
        await pilot.press("ctrl+home", "e", "enter", "ctrl+s")
        await bench.settled(pilot)
        assert state(bench) is State.FAILED
        assert workbench(bench).source.line == 2


async def test_enter_on_finding_moves_to_its_line(make_bench: Any) -> None:
    bench = make_bench(fakes.suspicious)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        assert state(bench) is State.FLAGGED
        await pilot.press("2", "enter")
        assert workbench(bench).source.line == 22


async def test_only_the_failed_cases_run_again(make_bench: Any) -> None:
    bench = make_bench(fakes.some_fail)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("f")
        await bench.settled(pilot)
        assert [case.name for case in bench.engine.evaluated[-1][1].cases] == ["127x128 f32", "127x128 f16"]


async def test_one_case_runs_alone(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("1", "j", "a")
        await bench.settled(pilot)
        assert [case.name for case in bench.engine.evaluated[-1][1].cases] == ["1x781 bf16"]


async def test_words_and_symbols_stay_without_colours(make_bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        assert bench.app.theme == "ansi-dark"
        assert strip(bench)[0].startswith("✔ passed")


async def test_escape_cancels_run_and_results_stay_stale(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        bench.engine.script = fakes.stops_half_way
        bench.watcher.save(b"slow\n")
        await bench.until(pilot, lambda: len(workbench(bench).bench.view.cases) == 5)
        rows = {row.key: row for row in workbench(bench).query_one("#cases-table", Grid).shown}
        assert (rows["1x781 f32"].stale, rows["128x127 f16"].stale) == (False, True)
        await pilot.press("escape")
        await bench.settled(pilot)
        assert state(bench) is State.CANCELLED
        assert bench.engine.cancelled == 1


async def test_resumed_workbench_verifies_newest_content(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("p")
        assert state(bench) is State.PAUSED
        for content in (b"one\n", b"two\n"):
            bench.watcher.save(content)
        await bench.until(pilot, lambda: workbench(bench).source.editor.text == "two\n")
        assert len(bench.engine.evaluated) == 1
        await pilot.press("p")
        await bench.settled(pilot)
        assert [candidate.source for candidate, _ in bench.engine.evaluated[1:]] == [b"two\n"]


async def test_content_verified_before_is_answered_at_once(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        for content in (b"other\n", fakes.SOURCE):
            bench.watcher.save(content)
            await bench.until(pilot, lambda saved=content: workbench(bench).bench.saved == saved)  # type: ignore[misc]
            await bench.settled(pilot)
        assert len(bench.engine.evaluated) == 2
        right = plain_text((workbench(bench).query_one("#verdict", Strip).rows[0][1],))
        assert right == "cached #1  WATCH"


async def test_past_run_opens_and_escape_returns(make_bench: Any) -> None:
    bench = make_bench(fakes.some_fail)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        first = workbench(bench).bench.view
        bench.engine.script = fakes.all_pass
        bench.watcher.save(b"better\n")
        await bench.until(pilot, lambda: len(bench.engine.evaluated) == 2)
        await bench.settled(pilot)
        await pilot.press("5", "j", "enter")
        await bench.until(pilot, lambda: workbench(bench).bench.old is not None)
        assert workbench(bench).bench.view == first
        assert workbench(bench).source.editor.text == fakes.SOURCE.decode()
        await pilot.press("escape")
        assert state(bench) is State.PASSED
        assert workbench(bench).source.editor.text == "better\n"


async def test_unopenable_store_is_reported_and_runs_continue(make_bench: Any) -> None:
    bench = make_bench(recording=fakes.MemoryRecording(refuses="/home/me/kgtui.db is damaged"))
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        assert state(bench) is State.PASSED
        banner = workbench(bench).query_one("#banner", Lines)
        assert banner.display
        assert plain_text(banner.lines) == "nothing is saved: /home/me/kgtui.db is damaged"


async def test_unsaved_run_is_reported_until_one_is_saved(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        banner = workbench(bench).query_one("#banner", Lines)
        bench.recording.refuses = "the disk is full"
        await pilot.press("r")
        await bench.settled(pilot)
        assert (banner.display, plain_text(banner.lines)) == (True, "run not saved: the disk is full")
        bench.recording.refuses = ""
        await pilot.press("r")
        await bench.settled(pilot)
        assert not banner.display


async def test_engine_start_failure_is_reported(make_bench: Any) -> None:
    class Refusing(fakes.FakeEngine):
        async def start(self) -> None:
            raise EngineError("no memory for the judge")

    bench = make_bench()
    bench.app._services = replace(bench.app._services, engine_factory=Refusing)
    async with bench.app.run_test() as pilot:
        await bench.until(pilot, lambda: bench.app.trouble != "")
        await pilot.pause()
        assert plain_text(workbench(bench).query_one("#banner", Lines).lines) == (
            "nothing can run: no memory for the judge"
        )
