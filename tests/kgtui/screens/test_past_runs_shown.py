"""Looking at a past run on the workbench: the open file stays what it was, and marks end with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kgtui.screens.workbench.screen import WorkbenchScreen
from kgtui.state.format.lines import plain_text
from kgtui.widgets.controls.bars import Bar, Strip
from tests.kgtui import fakes

OLDER = b"# kgtui: op=aten::softmax\n# an older text\n"


def workbench(bench: Any) -> WorkbenchScreen:
    screen = bench.app.screen
    assert isinstance(screen, WorkbenchScreen)
    return screen


async def looked_at(bench: Any, pilot: Any, number: int, **of: Any) -> WorkbenchScreen:
    screen = workbench(bench)
    before = screen.bench.old
    screen.history.open(number, **({"problem": screen.bench.problem} | of))
    await bench.until(pilot, lambda: screen.bench.old is not before)
    return screen


async def test_new_run_after_past_run_shows_file(make_bench: Any) -> None:
    bench = make_bench(content=OLDER)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        bench.path.write_bytes(fakes.SOURCE)
        bench.watcher.save(fakes.SOURCE)
        await bench.settled(pilot)
        screen = await looked_at(bench, pilot, 1)
        assert screen.source.editor.text == OLDER.decode()
        await pilot.press("r")
        await bench.settled(pilot)
        assert screen.source.editor.text == fakes.SOURCE.decode()
        await pilot.press("e", "#", "ctrl+s")
        assert bench.path.read_bytes() == b"#" + fakes.SOURCE


@pytest.mark.parametrize("key", ["r", "v", "s", "t"])
async def test_keys_that_close_a_past_run_say_so(make_bench: Any, key: str) -> None:
    bench = make_bench()
    async with bench.app.run_test(notifications=True) as pilot:
        await bench.settled(pilot)
        screen = await looked_at(bench, pilot, 1)
        await pilot.press(key)
        await bench.settled(pilot)
        assert screen.bench.old is None
        messages = [note.message for note in bench.app._notifications]
        assert "run #1 is closed: softmax.py is run" in messages


@pytest.mark.parametrize("pane", ["source", "1", "4", "6"])
async def test_next_match_without_a_search_is_reported(make_bench: Any, pane: str) -> None:
    bench = make_bench()
    async with bench.app.run_test(notifications=True) as pilot:
        await bench.settled(pilot)
        if pane != "source":
            await pilot.press(pane)
        await pilot.press("n")
        assert [note.message for note in bench.app._notifications] == ["no match to go to; / searches"]


async def test_save_while_showing_past_run_shows_new_text(make_bench: Any) -> None:
    bench = make_bench(content=OLDER)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        screen = await looked_at(bench, pilot, 1)
        bench.watcher.save(fakes.SOURCE)
        await bench.settled(pilot)
        assert screen.source.editor.text == fakes.SOURCE.decode()


async def test_run_of_other_operator_keeps_file_open(make_bench: Any) -> None:
    bench = make_bench()
    other = fakes.catalogue()[1]
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        screen = await looked_at(bench, pilot, 1, problem=other, path=Path("norm.py"))
        head = plain_text(tuple(left for left, _ in screen.query_one("#verdict", Strip).rows[:1]))
        assert "vllm::rms_norm · norm.py" in head
        assert (screen.bench.problem.name, screen.bench.path) == ("aten::softmax", bench.path)
        await pilot.press("a")
        assert len(bench.engine.evaluated) == 1
        await pilot.press("escape")
        assert screen.bench.old is None
        assert screen.source.editor.text == fakes.SOURCE.decode()


def title(screen: WorkbenchScreen) -> str:
    return plain_text(tuple(left for left, _ in screen.query_one("#source-title", Strip).rows))


def keys(screen: WorkbenchScreen) -> list[str]:
    return [plain_text((segment.line,)) for segment in screen.query_one("#keys", Bar).segments]


async def test_run_of_other_file_has_that_files_folder(make_bench: Any, tmp_path: Path) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=(120, 36)) as pilot:
        await bench.settled(pilot)
        screen = await looked_at(bench, pilot, 1, path=tmp_path / "elsewhere" / "other.py")
        assert title(screen) == "other.py  elsewhere"
        screen = await looked_at(bench, pilot, 1)
        assert title(screen) == "softmax.py  kernels"


async def test_run_without_a_file_has_no_folder(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=(120, 36)) as pilot:
        await bench.settled(pilot)
        bench.recording.without_file = (1,)
        screen = await looked_at(bench, pilot, 1, filename="answer_3")
        assert title(screen) == "answer_3"
        screen = await looked_at(bench, pilot, 1)
        assert title(screen) == "run #1"


@pytest.mark.parametrize(
    ("is_stored", "sentence"),
    [
        (True, "run #1 is of elsewhere/other.py: ctrl+o, or kgtui open elsewhere/other.py, opens it; "),
        (False, "run #1 is of other.py, without a file: R in the history (F8) restores it, "),
    ],
)
async def test_cases_of_other_file_are_not_run_here(
    make_bench: Any, tmp_path: Path, is_stored: bool, sentence: str
) -> None:
    bench = make_bench(script=fakes.some_fail)
    async with bench.app.run_test(size=(120, 36), notifications=True) as pilot:
        await bench.settled(pilot)
        bench.recording.without_file = (1,)
        path = tmp_path / "elsewhere" / "other.py" if is_stored else None
        screen = await looked_at(bench, pilot, 1, path=path, filename="other.py")
        for key in ("f", "a"):
            await pilot.press(key)
            assert [toast.message for toast in bench.app._notifications] == [f"{sentence}esc returns to softmax.py"]
            bench.app.clear_notifications()
        assert len(bench.engine.evaluated) == 1
        assert screen.bench.old is not None


async def test_keys_of_other_files_run_name_the_open_file(make_bench: Any, tmp_path: Path) -> None:
    bench = make_bench(script=fakes.some_fail)
    async with bench.app.run_test(size=(120, 36)) as pilot:
        await bench.settled(pilot)
        screen = await looked_at(bench, pilot, 1)
        assert keys(screen)[:3] == ["r run", "f failed", "W why"]
        assert "E editor" in keys(screen)
        screen = await looked_at(bench, pilot, 1, path=tmp_path / "elsewhere" / "other.py")
        assert keys(screen)[:3] == ["r run softmax.py", "W why", "E editor: softmax.py"]


async def test_key_removes_all_marks(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        bench.app.run_history.marked = (1, 2)
        await pilot.press("X")
        assert bench.app.run_history.marked == ()
        bench.app.run_history.marked = (1,)
        await pilot.press("f8", "X")
        assert bench.app.run_history.marked == ()


async def test_opening_other_file_clears_marks(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        bench.app.run_history.marked = (1, 2)
        another = bench.path.with_name("another.py")
        another.write_bytes(OLDER)
        bench.app.open_file(fakes.softmax_problem(), another)
        await bench.settled(pilot)
        assert bench.app.run_history.marked == ()
