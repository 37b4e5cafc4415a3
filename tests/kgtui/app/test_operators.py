"""The screen of operators: listed, filtered, previewed and opened."""

from __future__ import annotations

import threading
from typing import Any

from kgtui.files.kernel_folder import SAMPLES
from kgtui.screens.operators.screen import OperatorsScreen
from kgtui.screens.workbench.screen import WorkbenchScreen
from kgtui.state.format.glyphs import State
from kgtui.state.format.lines import plain_text
from kgtui.widgets.controls.bars import Bar, Strip
from kgtui.widgets.text.code_view import CodeView
from kgtui.widgets.text.toned import Grid
from tests.kgtui import fakes
from tests.kgtui.app.workbench_state import state, workbench


def head(bench: Any) -> str:
    return plain_text((bench.app.screen.query_one("#head", Strip).rows[0][0],))


async def test_passing_operators_are_counted_once_store_is_read(make_bench: Any) -> None:
    recording, can_read = fakes.MemoryRecording(), threading.Event()
    read = recording.last_runs

    def read_late() -> Any:
        can_read.wait()
        return read()

    recording.last_runs = read_late
    bench = make_bench(opened=False, recording=recording)
    async with bench.app.run_test() as pilot:
        await bench.until(pilot, lambda: bool(bench.app.problems))
        await pilot.pause()
        assert head(bench).startswith("Operators  reading runs")
        can_read.set()
        await bench.until(pilot, lambda: bench.app.run_history.is_read)
        await bench.settled(pilot)
        assert head(bench).startswith("Operators  0 of 3 passing")


async def test_operators_are_listed_filtered_and_opened(make_bench: Any) -> None:
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


async def test_first_screen_offers_return_only_if_possible(make_bench: Any) -> None:
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


async def test_new_file_is_made_beside_existing_one(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("ctrl+o")
        await pilot.press("n")
        await bench.until(pilot, lambda: isinstance(bench.app.screen, WorkbenchScreen))
        await bench.settled(pilot)
        assert workbench(bench).bench.path.name == "softmax_2.py"
        assert workbench(bench).bench.path.read_text() == "# kgtui: op=aten::softmax\n"


async def test_cursor_stays_on_operator_when_order_changes(make_bench: Any) -> None:
    bench = make_bench(opened=False)
    async with bench.app.run_test() as pilot:
        await bench.until(pilot, lambda: bench.app.problems != ())
        screen = bench.app.screen
        assert isinstance(screen, OperatorsScreen)
        last = max(problem.name for problem in bench.app.problems)
        screen.query_one("#operators", Grid).go_to(last)
        bench.app.run_history.recent_files = (fakes.recent_file(bench.path),)
        screen.draw()
        await pilot.pause()
        assert (screen.current.problem.name, screen.current.file) == (last, None)


async def test_late_recent_files_keep_cursor_at_top(make_bench: Any) -> None:
    bench = make_bench(opened=False)
    async with bench.app.run_test() as pilot:
        await bench.until(pilot, lambda: bench.app.problems != ())
        screen = bench.app.screen
        assert isinstance(screen, OperatorsScreen)
        bench.app.run_history.recent_files = (fakes.recent_file(bench.path),)
        screen.draw()
        await pilot.pause()
        assert screen.current.file == bench.path


async def test_missing_files_and_own_sample_are_not_offered(make_bench: Any) -> None:
    bench = make_bench(opened=False)
    mine = bench.path.with_name("mine.py")
    mine.write_bytes(fakes.SOURCE)
    bench.recording.recent = tuple(
        fakes.recent_file(path) for path in (SAMPLES / "softmax.py", mine.with_name("gone.py"), mine)
    )
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await bench.until(pilot, lambda: bool(bench.app.run_history.recent_files))
        assert [file.path for file in bench.app.run_history.recent_files] == [mine]


async def test_operator_without_file_offers_to_create_one(make_bench: Any) -> None:
    bench = make_bench(opened=False)
    async with bench.app.run_test(notifications=True) as pilot:
        await bench.until(pilot, lambda: bench.app.problems != ())
        await pilot.press("j", "enter")
        await bench.until(pilot, lambda: bool(bench.app._notifications))
        assert next(iter(bench.app._notifications)).message.endswith("does not exist yet; n makes it from a template")


async def test_ctrl_o_and_escape_start_no_new_run(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e", "x", "ctrl+o")
        assert isinstance(bench.app.screen, OperatorsScreen)
        await pilot.press("escape")
        assert workbench(bench).source.editor.text.startswith("x")
        assert len(bench.engine.evaluated) == 1
