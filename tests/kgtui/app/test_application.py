"""The application on its doubles: from a save to its verdict, editing, cancelling, leaving."""

from __future__ import annotations

import threading
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from textual import events
from textual.command import CommandList
from textual.widgets import Input

import kgtui
from engine.errors import EngineError
from kgtui.files.kernel_folder import SAMPLES
from kgtui.screens.base.palette import Actions
from kgtui.screens.case.screen import CaseScreen
from kgtui.screens.operators.screen import OperatorsScreen
from kgtui.screens.workbench.screen import WorkbenchScreen
from kgtui.settings.keys import ACTIONS
from kgtui.state.format.glyphs import State
from kgtui.state.format.lines import plain_text
from kgtui.state.workbench.status import Mode, status_of
from kgtui.widgets.controls.ask import Ask
from kgtui.widgets.controls.bars import Bar, Strip
from kgtui.widgets.panes.cases import CasesPane
from kgtui.widgets.text.code_view import CodeView
from kgtui.widgets.text.toned import Grid, Lines


def workbench(bench: Any) -> WorkbenchScreen:
    screen = bench.app.screen
    assert isinstance(screen, WorkbenchScreen)
    return screen


def state(bench: Any) -> State:
    known = workbench(bench).bench
    return status_of(known.view, known.strip_context(0.0)).state


def tabs(bench: Any) -> list[str]:
    return [plain_text((segment.line,)) for segment in workbench(bench).query_one("#tabs", Bar).segments]


def strip(bench: Any) -> list[str]:
    return [plain_text((left,)) for left, _ in workbench(bench).query_one("#verdict", Strip).rows]


def offered_keys(bench: Any) -> list[str]:
    return [segment.key for segment in workbench(bench).query_one("#keys", Bar).segments]


async def test_opening_a_file_judges_it_without_a_key(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        assert state(bench) is State.PASSED
        assert strip(bench)[0] == "✔ passed 0.42 s · aten::softmax · softmax.py · cpu to sm_90"
        assert strip(bench)[2] == "right on 8 of 8 cases"


async def test_a_save_in_another_program_is_judged(make_bench: Any, fakes: ModuleType) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        bench.engine.script = fakes.some_fail
        bench.watcher.save(fakes.SOURCE + b"# changed\n")
        await bench.until(pilot, lambda: len(bench.engine.judged) == 2)
        await bench.settled(pilot)
        assert state(bench) is State.FAILED
        assert workbench(bench).source.editor.text.endswith("# changed\n")


async def test_the_first_failed_case_is_shown_with_its_reason(make_bench: Any, fakes: ModuleType) -> None:
    bench = make_bench(fakes.some_fail)
    async with bench.app.run_test(size=(120, 36)) as pilot:
        await bench.settled(pilot)
        pane = workbench(bench).query_one(CasesPane)
        assert pane.current_name == "127x128 f32"
        assert "expected  0.031622776  got nan" in plain_text(pane.query_one("#case-detail", Lines).lines)


async def test_at_80_by_24_the_first_failed_case_is_reported_in_brief_under_the_table(
    make_bench: Any, fakes: ModuleType
) -> None:
    bench = make_bench(fakes.some_fail)
    async with bench.app.run_test(size=(80, 24)) as pilot:
        await bench.settled(pilot)
        brief = workbench(bench).query_one("#case-brief", Lines)
        assert brief.size.height == 3
        assert plain_text(brief.lines).endswith("check the mask of the tail block\ncheck    line 12")
        assert plain_text(workbench(bench).query_one("#verdict", Strip).rows[2][1:]) == "W why"
        await pilot.press("W")
        assert isinstance(bench.app.screen, CaseScreen)


async def test_a_failed_run_brings_its_line_into_view_but_never_while_one_writes(
    make_bench: Any, fakes: ModuleType
) -> None:
    bench = make_bench(fakes.some_fail)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        assert workbench(bench).source.line == 12
        await pilot.press("g", "e", "enter", "ctrl+s")
        await bench.settled(pilot)
        assert state(bench) is State.FAILED
        assert workbench(bench).source.line == 2


async def test_enter_on_a_finding_goes_to_its_line(make_bench: Any, fakes: ModuleType) -> None:
    bench = make_bench(fakes.suspicious)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        assert state(bench) is State.FLAGGED
        await pilot.press("2", "enter")
        assert workbench(bench).source.line == 22


async def test_only_the_failed_cases_run_again(make_bench: Any, fakes: ModuleType) -> None:
    bench = make_bench(fakes.some_fail)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("f")
        await bench.settled(pilot)
        assert [case.name for case in bench.engine.judged[-1][1].cases] == ["127x128 f32", "127x128 f16"]


async def test_one_case_runs_alone(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("1", "j", "a")
        await bench.settled(pilot)
        assert [case.name for case in bench.engine.judged[-1][1].cases] == ["1x781 bf16"]


async def test_editing_and_saving_runs_the_loop(make_bench: Any, fakes: ModuleType) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e", "#", "r", "enter")
        assert workbench(bench).bench.mode is Mode.EDIT
        assert state(bench) is State.EDITED
        assert len(bench.engine.judged) == 1
        await pilot.press("ctrl+s")
        await bench.settled(pilot)
        assert bench.path.read_bytes() == b"#r\n" + fakes.SOURCE
        assert bench.engine.judged[-1][0].source == b"#r\n" + fakes.SOURCE
        await pilot.press("escape")
        assert workbench(bench).bench.mode is Mode.WATCH
        assert state(bench) is State.PASSED


async def test_the_watcher_telling_of_our_own_save_starts_no_second_run(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e", "x", "ctrl+s")
        await bench.settled(pilot)
        bench.watcher.save(bench.path.read_bytes())
        await pilot.pause()
        await bench.settled(pilot)
        assert len(bench.engine.judged) == 2


async def test_a_file_that_cannot_be_written_keeps_the_text(make_bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        monkeypatch.setattr("kgtui.files.disk.os.fsync", full)
        await pilot.press("e", "x", "ctrl+s")
        assert "No space left on device" in strip(bench)[2]
        assert workbench(bench).bench.unsaved
        assert workbench(bench).source.editor.text.startswith("x")


async def test_a_change_on_disk_while_text_is_unsaved_keeps_both_and_asks(make_bench: Any, fakes: ModuleType) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e", "x")
        bench.watcher.save(b"theirs\n")
        await bench.until(pilot, lambda: workbench(bench).query_one(Ask).subject != "")
        assert workbench(bench).source.editor.text == f"x{fakes.SOURCE.decode()}"
        await pilot.press("k")
        assert workbench(bench).source.editor.text == f"x{fakes.SOURCE.decode()}"
        assert workbench(bench).bench.unsaved
        await pilot.press("ctrl+s")
        await bench.settled(pilot)
        assert bench.path.read_bytes() == b"x" + fakes.SOURCE


async def test_reloading_takes_the_file_instead_of_the_text(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e", "x")
        bench.watcher.save(b"theirs\n")
        await bench.until(pilot, lambda: workbench(bench).query_one(Ask).subject != "")
        await pilot.press("r")
        await bench.settled(pilot)
        assert workbench(bench).source.editor.text == "theirs\n"
        assert not workbench(bench).bench.unsaved
        assert bench.engine.judged[-1][0].source == b"theirs\n"


async def test_a_file_that_the_kernel_imports_is_watched_and_its_save_runs_the_kernel_again(
    make_bench: Any, fakes: ModuleType
) -> None:
    from kgtui.ports.file_events import Saved

    bench = make_bench(content=b"import tiles\nimport math\n")
    tiles = bench.path.with_name("tiles.py")
    tiles.write_bytes(b"")
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await bench.until(pilot, lambda: bench.watcher.followed == (tiles,))
        content = bench.path.read_bytes()
        digest = bench.engine.judged[0][0].digest
        bench.watcher.on_save(Saved(path=bench.path, changed=tiles, content=content, digest=digest, at_s=1.0))
        await bench.until(pilot, lambda: len(bench.engine.judged) == 2)


async def test_imports_are_never_read_in_the_thread_that_draws_the_screen(
    make_bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    readers: list[str] = []

    def imported_files(*_: object) -> tuple[Path, ...]:
        readers.append(threading.current_thread().name)
        return ()

    monkeypatch.setattr("kgtui.files.file_watch.imported_files", imported_files)
    monkeypatch.setattr("kgtui.runner.driver.imported_files", imported_files)
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await bench.until(pilot, lambda: bool(readers))
        await bench.settled(pilot)
    assert threading.current_thread().name not in readers


async def test_the_styles_of_every_screen_are_read_before_a_key_opens_one(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        styles = sorted(Path(kgtui.__file__).with_name("styles").glob("*.tcss"))
        await bench.until(pilot, lambda: all(bench.app.stylesheet.has_source(str(path)) for path in styles))


async def test_what_an_earlier_watcher_still_tells_is_not_taken_for_the_open_file(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("ctrl+o", "n")
        await bench.until(pilot, lambda: len(bench.watchers) == 2)
        await bench.settled(pilot)
        bench.watchers[0].save(b"late\n")
        await pilot.pause()
        await bench.settled(pilot)
        assert workbench(bench).bench.saved == b"# kgtui: op=aten::softmax\n"


async def test_without_colours_the_words_and_glyphs_stay(make_bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        assert bench.app.theme == "ansi-dark"
        assert strip(bench)[0].startswith("✔ passed")


async def test_escape_cancels_a_run_and_old_results_stay_stale(make_bench: Any, fakes: ModuleType) -> None:
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


async def test_a_paused_workbench_judges_the_newest_content_when_it_goes_on(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("p")
        assert state(bench) is State.PAUSED
        for content in (b"one\n", b"two\n"):
            bench.watcher.save(content)
        await bench.until(pilot, lambda: workbench(bench).source.editor.text == "two\n")
        assert len(bench.engine.judged) == 1
        await pilot.press("p")
        await bench.settled(pilot)
        assert [candidate.source for candidate, _ in bench.engine.judged[1:]] == [b"two\n"]


async def test_content_that_was_judged_before_is_answered_at_once(make_bench: Any, fakes: ModuleType) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        for content in (b"other\n", fakes.SOURCE):
            bench.watcher.save(content)
            await bench.until(pilot, lambda saved=content: workbench(bench).bench.saved == saved)  # type: ignore[misc]
            await bench.settled(pilot)
        assert len(bench.engine.judged) == 2
        right = plain_text((workbench(bench).query_one("#verdict", Strip).rows[0][1],))
        assert right == "cached #1  WATCH"


async def test_an_old_run_opens_as_it_was_and_escape_returns(make_bench: Any, fakes: ModuleType) -> None:
    bench = make_bench(fakes.some_fail)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        first = workbench(bench).bench.view
        bench.engine.script = fakes.all_pass
        bench.watcher.save(b"better\n")
        await bench.until(pilot, lambda: len(bench.engine.judged) == 2)
        await bench.settled(pilot)
        await pilot.press("5", "j", "enter")
        await bench.until(pilot, lambda: workbench(bench).bench.old is not None)
        assert workbench(bench).bench.view == first
        assert workbench(bench).source.editor.text == fakes.SOURCE.decode()
        await pilot.press("escape")
        assert state(bench) is State.PASSED
        assert workbench(bench).source.editor.text == "better\n"


async def test_a_store_that_cannot_be_opened_is_said_all_the_time_and_the_loop_works(
    make_bench: Any, fakes: ModuleType
) -> None:
    bench = make_bench(recording=fakes.MemoryRecording(refuses="/home/me/kgtui.db is damaged"))
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        assert state(bench) is State.PASSED
        banner = workbench(bench).query_one("#banner", Lines)
        assert banner.display
        assert plain_text(banner.lines) == "nothing is saved: /home/me/kgtui.db is damaged"


async def test_that_a_run_is_not_kept_is_said_until_one_is_kept_again(make_bench: Any) -> None:
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


async def test_an_engine_that_cannot_start_is_said(make_bench: Any, fakes: ModuleType) -> None:
    class Refusing(fakes.FakeEngine):  # type: ignore[misc, name-defined]  # the doubles are not typed here
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


async def test_leaving_with_unsaved_text_asks_once(make_bench: Any, fakes: ModuleType) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e", "x", "ctrl+q")
        assert bench.app.is_running
        assert workbench(bench).query_one(Ask).question == "softmax.py has unsaved text."
        await pilot.press("escape")
        assert not workbench(bench).query_one(Ask).display
        await pilot.press("ctrl+q", "s")
        await pilot.pause()
    assert bench.path.read_bytes() == b"x" + fakes.SOURCE
    assert (bench.engine.closed, bench.recording.closed, bench.watcher.running) == (True, True, False)


async def test_saving_settles_the_question_what_becomes_of_the_text(make_bench: Any, fakes: ModuleType) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e", "x", "ctrl+q", "ctrl+s")
        await bench.settled(pilot)
        assert not workbench(bench).query_one(Ask).display
        assert workbench(bench).focused is workbench(bench).source.editor
        assert bench.path.read_bytes() == b"x" + fakes.SOURCE


async def test_the_key_bar_offers_no_letters_while_letters_are_text(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=(120, 36)) as pilot:
        await bench.settled(pilot)
        await pilot.press("e")
        keys = [plain_text((segment.line,)) for segment in workbench(bench).query_one("#keys", Bar).segments]
        typing = ["ctrl+f find", "ctrl+r replace", "ctrl+g line", "F4 editor"]
        assert keys == ["F5 run", *typing, "esc back", "ctrl+o operators", "F1 help", "ctrl+q quit"]


async def test_ctrl_end_and_ctrl_home_go_to_the_ends_of_the_text_that_is_edited(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        source = workbench(bench).source
        await pilot.press("e", "ctrl+end")
        assert source.line == source.editor.document.line_count > 1
        await pilot.press("ctrl+home")
        assert source.line == 1


async def test_ctrl_c_says_how_to_leave(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(notifications=True) as pilot:
        await bench.settled(pilot)
        await pilot.press("ctrl+c")
        assert [toast.message for toast in bench.app._notifications] == [
            "ctrl+c copies what is selected, and nothing is; ctrl+q leaves"
        ]
        assert bench.app.is_running


async def test_leaving_twice_discards_the_text(make_bench: Any, fakes: ModuleType) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e", "x", "ctrl+q", "ctrl+q")
    assert not bench.app.is_running
    assert bench.path.read_bytes() == fakes.SOURCE


async def test_zoom_gives_the_focused_pane_the_screen_and_takes_it_back(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        screen = workbench(bench)
        await pilot.press("1", "z")
        assert (screen.source.display, screen.query_one("#results").size.height) == (False, 20)
        await pilot.press("escape")
        assert screen.source.display


async def test_search_in_the_source_goes_from_match_to_match(make_bench: Any) -> None:
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


async def test_the_cases_are_filtered_and_escape_clears_the_filter(make_bench: Any, fakes: ModuleType) -> None:
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


async def test_letters_right_behind_the_key_that_asks_for_them_are_not_lost(make_bench: Any) -> None:
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


async def test_a_filter_that_no_case_matches_is_said(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("1", "slash", *"f8", "enter")
        assert [note.message for note in bench.app._notifications] == ["no case matches 'f8'; esc clears the filter"]


async def test_the_next_target_compiles_for_it(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("t", "t")
        await bench.settled(pilot)
        assert bench.engine.judged[-1][1].target == "sm_100"
        assert [note.message for note in bench.app._notifications] == ["compiling for sm_100 from now on"]


async def test_the_whole_result_is_copied_as_markdown(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("Y")
        assert bench.app.clipboard.startswith("### aten::softmax: pass (run #1)\n")
        await pilot.press("4", "y")
        assert bench.app.clipboard == "softmax_kernel"


async def test_the_code_of_a_kernel_is_shown_in_every_form(make_bench: Any) -> None:
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


async def test_an_editor_command_that_fails_is_said_and_the_screen_goes_on(make_bench: Any) -> None:
    bench = make_bench(environment={"EDITOR": "no-such-editor"})
    async with bench.app.run_test(notifications=True) as pilot:
        await bench.settled(pilot)
        await pilot.press("E")
        await bench.until(pilot, lambda: bool(bench.app._notifications))
        assert "this terminal cannot be lent" in next(iter(bench.app._notifications)).message
        assert state(bench) is State.PASSED


async def test_a_tiny_terminal_says_what_it_needs(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=(20, 5)) as pilot:
        await bench.settled(pilot)
        assert str(bench.app.screen.query_one("TooSmall").render()) == "terminal too small: needs 60x15, has 20x5"
        assert not workbench(bench).query_one("#body").display
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert workbench(bench).query_one("#body").display


async def test_operators_are_listed_filtered_and_opened(make_bench: Any, fakes: ModuleType) -> None:
    bench = make_bench(opened=False)
    async with bench.app.run_test() as pilot:
        await bench.until(pilot, lambda: bench.app.problems != ())
        await pilot.pause()
        screen = bench.app.screen
        assert isinstance(screen, OperatorsScreen)
        assert plain_text((screen.query_one("#head", Strip).rows[0][1],)) == "cpu to sm_90"
        assert [row.key for row in screen.query_one("#operators", Grid).shown] == [
            problem.name for problem in sorted(bench.app.problems, key=lambda problem: problem.name)
        ]
        await pilot.press("slash", *"softm", "enter", "enter")
        await bench.until(pilot, lambda: isinstance(bench.app.screen, WorkbenchScreen))
        await bench.settled(pilot)
        assert bench.path.read_bytes().startswith(b"# kgtui: op=aten::softmax")
        assert state(bench) is State.PASSED


async def test_the_first_screen_offers_a_way_back_only_where_there_is_one(make_bench: Any) -> None:
    bench = make_bench(opened=False)
    async with bench.app.run_test() as pilot:
        await bench.until(pilot, lambda: bench.app.problems != ())
        bar = bench.app.screen.query_one("#keys", Bar)
        assert "esc back" not in [plain_text((segment.line,)) for segment in bar.segments]
        await pilot.press("s")
        assert "esc back" in [plain_text((segment.line,)) for segment in bar.segments]
        await pilot.press("escape")
        assert "esc back" not in [plain_text((segment.line,)) for segment in bar.segments]


async def test_the_preview_shows_the_reference_as_text(make_bench: Any) -> None:
    bench = make_bench(opened=False)
    async with bench.app.run_test(size=(120, 36)) as pilot:
        await bench.until(pilot, lambda: bench.app.problems != ())
        await pilot.pause()
        assert bench.app.screen.query_one(CodeView).current_text == (
            '"""Row softmax: what the preview of an operator shows of its reference."""'
        )


async def test_a_new_file_is_made_beside_the_one_that_is_there(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("ctrl+o")
        await pilot.press("n")
        await bench.until(pilot, lambda: isinstance(bench.app.screen, WorkbenchScreen))
        await bench.settled(pilot)
        assert workbench(bench).bench.path.name == "softmax_2.py"
        assert workbench(bench).bench.path.read_text() == "# kgtui: op=aten::softmax\n"


async def test_the_cursor_stays_on_its_operator_when_another_order_comes(make_bench: Any, fakes: ModuleType) -> None:
    bench = make_bench(opened=False)
    async with bench.app.run_test() as pilot:
        await bench.until(pilot, lambda: bench.app.problems != ())
        screen = bench.app.screen
        assert isinstance(screen, OperatorsScreen)
        last = max(problem.name for problem in bench.app.problems)
        screen.query_one("#operators", Grid).go_to(last)
        bench.app.past.recent_files = (fakes.recent_file(bench.path),)
        screen.draw()
        await pilot.pause()
        assert (screen.current.problem.name, screen.current.file) == (last, None)


async def test_recent_files_that_come_late_find_the_cursor_at_the_top(make_bench: Any, fakes: ModuleType) -> None:
    bench = make_bench(opened=False)
    async with bench.app.run_test() as pilot:
        await bench.until(pilot, lambda: bench.app.problems != ())
        screen = bench.app.screen
        assert isinstance(screen, OperatorsScreen)
        bench.app.past.recent_files = (fakes.recent_file(bench.path),)
        screen.draw()
        await pilot.pause()
        assert screen.current.file == bench.path


async def test_files_that_are_gone_and_our_own_sample_are_not_offered(make_bench: Any, fakes: ModuleType) -> None:
    bench = make_bench(opened=False)
    mine = bench.path.with_name("mine.py")
    mine.write_bytes(fakes.SOURCE)
    bench.recording.recent = tuple(
        fakes.recent_file(path) for path in (SAMPLES / "softmax.py", mine.with_name("gone.py"), mine)
    )
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await bench.until(pilot, lambda: bool(bench.app.past.recent_files))
        assert [file.path for file in bench.app.past.recent_files] == [mine]


async def test_an_operator_without_a_file_says_how_to_make_one(make_bench: Any) -> None:
    bench = make_bench(opened=False)
    async with bench.app.run_test(notifications=True) as pilot:
        await bench.until(pilot, lambda: bench.app.problems != ())
        await pilot.press("j", "enter")
        await bench.until(pilot, lambda: bool(bench.app._notifications))
        assert next(iter(bench.app._notifications)).message.endswith("does not exist yet; n makes it from a template")


async def test_ctrl_o_and_escape_go_to_the_operators_and_back_without_a_new_run(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e", "x", "ctrl+o")
        assert isinstance(bench.app.screen, OperatorsScreen)
        await pilot.press("escape")
        assert workbench(bench).source.editor.text.startswith("x")
        assert len(bench.engine.judged) == 1


async def test_a_file_that_is_gone_is_said_and_one_that_is_back_no_longer(make_bench: Any) -> None:
    from kgtui.ports.file_events import TroubleKind, WatchTrouble

    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        for kind, message, shown in (
            (TroubleKind.GONE, "softmax.py is gone", "softmax.py is gone"),
            (TroubleKind.BACK, "softmax.py is back", "right on 8 of 8 cases"),
        ):
            bench.watcher.on_trouble(WatchTrouble(kind=kind, path=bench.path, message=message))
            await bench.until(pilot, lambda words=shown: strip(bench)[2] == words)  # type: ignore[misc]


async def test_that_a_file_is_gone_is_said_through_every_run_of_its_last_text(make_bench: Any) -> None:
    from kgtui.ports.file_events import TroubleKind, WatchTrouble

    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        gone = WatchTrouble(kind=TroubleKind.GONE, path=bench.path, message="softmax.py is gone")
        bench.watcher.on_trouble(gone)
        await bench.until(pilot, lambda: strip(bench)[2] == "softmax.py is gone")
        await pilot.press("r")
        await bench.settled(pilot)
        assert len(bench.engine.judged) == 2
        assert strip(bench)[2] == "softmax.py is gone"


async def test_that_a_file_is_polled_is_said_until_the_next_run(make_bench: Any) -> None:
    from kgtui.ports.file_events import TroubleKind, WatchTrouble

    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        polled = WatchTrouble(kind=TroubleKind.POLLING, path=bench.path, message="softmax.py is polled")
        bench.watcher.on_trouble(polled)
        await bench.until(pilot, lambda: strip(bench)[2] == "softmax.py is polled")
        await pilot.press("r")
        await bench.settled(pilot)
        assert strip(bench)[2] == "right on 8 of 8 cases"


async def test_bytes_that_are_no_text_are_shown_and_cannot_be_edited(make_bench: Any) -> None:
    bench = make_bench(content=b"\x00\xff[red]")
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e")
        assert workbench(bench).bench.mode is Mode.WATCH


async def test_editing_is_offered_where_it_can_be_done_and_nowhere_else(make_bench: Any) -> None:
    bench = make_bench(content=b"\x00\xff[red]")
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        assert "screen.edit" not in offered_keys(bench)
        bench.watcher.save(b"x = 1\n")
        await bench.settled(pilot)
        assert "screen.edit" in offered_keys(bench)
        await pilot.press("5", "j", "enter")
        await bench.until(pilot, lambda: workbench(bench).bench.old is not None)
        without = offered_keys(bench)
        await pilot.press("escape")
        usual = offered_keys(bench)
        assert "screen.edit" in usual
        assert without == [key for key in usual if key != "screen.edit"]


async def test_help_lists_the_keys_and_closes(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("f1")
        assert "run only the failed cases" in plain_text(bench.app.screen.query_one("#help-text", Lines).lines)
        await pilot.press("escape")
        assert state(bench) is State.PASSED


async def test_help_goes_to_its_end_and_back_and_wraps_behind_its_keys(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=(80, 24)) as pilot:
        await bench.settled(pilot)
        await pilot.press("f1")
        page = bench.app.screen.query_one("#help")
        lines = str(bench.app.screen.query_one("#help-text", Lines).render()).splitlines()
        assert next(after for line, after in pairwise(lines) if "on a" in line).index("screen of its own") == 18
        await pilot.press("G")
        await pilot.pause()
        assert page.scroll_y == page.max_scroll_y > 0
        await pilot.press("g")
        await pilot.pause()
        assert page.scroll_y == 0


async def test_the_palette_takes_the_name_of_an_action_before_the_words_of_others(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        found = [hit async for hit in Actions(bench.app.screen).search("comp")]
        best = max(found, key=lambda hit: hit.score)
        assert str(best.match_display) == "compare  (c)"


async def test_the_palette_runs_any_action(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("ctrl+p", *"run the saved file")
        found = sum(action.help == "run the saved file again, all cases" for action in ACTIONS)
        await bench.until(pilot, lambda: bench.app.screen.query_one(CommandList).option_count == found)
        await pilot.press("enter", "enter")
        await bench.until(pilot, lambda: len(bench.engine.judged) == 2)


@pytest.mark.parametrize("keys", ["1", "2", "3", "4", "5", "?", "B", "1 y", "e x ctrl+q", "/", "ctrl+o"])
async def test_in_ascii_nothing_else_is_drawn(make_bench: Any, fakes: ModuleType, keys: str) -> None:
    bench = make_bench(fakes.some_fail, ascii=True)
    async with bench.app.run_test(size=(100, 24), notifications=True) as pilot:
        await bench.settled(pilot)
        await pilot.press(*keys.split())
        await pilot.pause()
        drawn = "".join(segment.text for strip in bench.app.screen._compositor.render_strips() for segment in strip)
        assert drawn.strip()
        assert {letter for letter in drawn if not letter.isascii()} == set()


async def test_started_is_called_once_with_catalogue_and_store_there(
    make_bench: Any,
) -> None:
    bench, reported = make_bench(), []
    bench.app._started = lambda: reported.append((bench.app.problems != (), bench.app.past.recording is not None))
    async with bench.app.run_test() as pilot:
        await bench.until(pilot, lambda: reported != [])
        await bench.settled(pilot)
    assert reported == [(True, True)]


async def test_a_run_is_called_off_before_the_engine_is_there(make_bench: Any, fakes: ModuleType) -> None:
    bench = make_bench(fakes.all_pass)
    bench.engine.starts = False
    async with bench.app.run_test() as pilot:
        await bench.until(
            pilot,
            lambda: bench.app.workbench is not None and strip(bench)[-1] == "starting engine...",
        )
        await pilot.press("escape")
        assert strip(bench)[-1] == "save the file to run it"
        assert not bench.app.runs.busy


async def test_reopened_file_shows_its_last_run_before_the_engine_starts(make_bench: Any, fakes: ModuleType) -> None:
    problem = fakes.softmax_problem()
    first = make_bench(problem=problem)
    async with first.app.run_test() as pilot:
        await first.settled(pilot)
    again = make_bench(recording=first.recording, problem=problem)
    again.engine.starts = False
    async with again.app.run_test() as pilot:
        await again.until(pilot, lambda: state(again) is State.PASSED)
        right = plain_text((workbench(again).query_one("#verdict", Strip).rows[0][1],))
        assert (right, again.engine.started) == ("cached #1  WATCH", False)


async def test_reopened_file_with_new_content_waits_for_the_engine(make_bench: Any) -> None:
    first = make_bench()
    async with first.app.run_test() as pilot:
        await first.settled(pilot)
    again = make_bench(recording=first.recording, content=b"other\n")
    async with again.app.run_test() as pilot:
        await again.settled(pilot)
        assert [candidate.source for candidate, _ in again.engine.judged] == [b"other\n"]
