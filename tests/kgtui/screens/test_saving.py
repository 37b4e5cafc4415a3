"""Saving over a file that changed on disk, and text that was not saved when the program was killed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.widgets._toast import Toast

from kgtui.files.unsaved import UnsavedTexts
from kgtui.screens.workbench.screen import WorkbenchScreen
from kgtui.state.workbench.status import Mode
from kgtui.widgets.controls.ask import Ask
from kgtui.widgets.controls.entry import Entry
from tests.kgtui import fakes

THEIRS = b"# kgtui: op=aten::softmax\n# theirs\n"


def workbench(bench: Any) -> WorkbenchScreen:
    screen = bench.app.screen
    assert isinstance(screen, WorkbenchScreen)
    return screen


def left_behind(bench: Any, text: str) -> Path:
    """As a workbench leaves it that was killed while this text was typed."""
    folder = bench.app._settings.data / "unsaved"
    UnsavedTexts(folder).keep(bench.path, text)
    (note,) = folder.iterdir()
    content = json.loads(note.read_text())
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    note.write_text(json.dumps(content | {"pid": int(ended.stdout), "stamp": "long ago"}))
    return note


async def test_save_over_changed_file_asks_and_keeps_both(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e", "#")
        bench.path.write_bytes(THEIRS)  # and the watcher has not told yet
        await pilot.press("ctrl+s")
        assert workbench(bench).query_one(Ask).question == "softmax.py changed on disk."
        assert bench.path.read_bytes() == THEIRS
        await pilot.press("escape")
        assert bench.path.read_bytes() == THEIRS
        assert workbench(bench).bench.unsaved
        await pilot.press("ctrl+s", "w")
        await bench.settled(pilot)
        assert bench.path.read_bytes() == b"#" + fakes.SOURCE
        assert bench.path.with_name("softmax_on_disk.py").read_bytes() == THEIRS
        assert bench.engine.evaluated[-1][0].source == b"#" + fakes.SOURCE
        await pilot.press("#", "ctrl+s")
        assert bench.path.read_bytes() == b"##" + fakes.SOURCE
        assert len(list(bench.path.parent.iterdir())) == 2


async def edit_and_be_overtaken(bench: Any, pilot: Any) -> None:
    """Type "#" into the editor, and have another program write the file."""
    await bench.settled(pilot)
    await pilot.press("e", "#")
    bench.path.write_bytes(THEIRS)
    bench.watcher.save(THEIRS)
    await bench.settled(pilot)


async def test_text_on_disk_can_replace_edited_text(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e", "#")
        bench.path.write_bytes(THEIRS)
        await pilot.press("ctrl+s", "l")
        await bench.settled(pilot)
        assert workbench(bench).source.editor.text == THEIRS.decode()
        assert not workbench(bench).bench.unsaved
        assert bench.engine.evaluated[-1][0].source == THEIRS
        await pilot.press("ctrl+z")
        assert workbench(bench).source.editor.text == "#" + fakes.SOURCE.decode()
        assert workbench(bench).bench.unsaved


async def test_typed_keys_never_answer_overtaken_question(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await edit_and_be_overtaken(bench, pilot)
        assert workbench(bench).query_one(Ask).question == "softmax.py also changed on disk."
        await pilot.press(*"return lk", "enter")
        assert workbench(bench).source.editor.text == "#return lk\n" + fakes.SOURCE.decode()
        assert workbench(bench).query_one(Ask).waits


async def test_text_replaced_by_changed_file_can_be_undone(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await edit_and_be_overtaken(bench, pilot)
        await pilot.press("escape", "l")
        assert workbench(bench).source.editor.text == THEIRS.decode()
        assert not workbench(bench).bench.unsaved
        await pilot.press("ctrl+z")
        assert workbench(bench).source.editor.text == "#" + fakes.SOURCE.decode()
        assert workbench(bench).bench.unsaved


async def test_second_key_of_burst_answers_nothing(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await edit_and_be_overtaken(bench, pilot)
        await pilot.press("escape")
        ask = workbench(bench).query_one(Ask)
        for key in "kl":
            ask.post_message(events.Key(key, key))
        await pilot.pause()
        assert workbench(bench).source.editor.text == "#" + fakes.SOURCE.decode()
        assert ask.subject == ""


async def test_changed_file_leaves_open_question(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e", "#", "ctrl+q")
        bench.path.write_bytes(THEIRS)
        bench.watcher.save(THEIRS)
        await bench.settled(pilot)
        assert workbench(bench).file.asked_to_leave


async def test_kept_text_and_changed_file_are_both_saved(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await edit_and_be_overtaken(bench, pilot)
        await pilot.press("escape", "k", "ctrl+s")
        await bench.settled(pilot)
        assert bench.path.read_bytes() == b"#" + fakes.SOURCE
        assert bench.path.with_name("softmax_on_disk.py").read_bytes() == THEIRS


async def test_unsaved_text_is_noted_until_saved(make_bench: Any) -> None:
    bench = make_bench()
    folder = bench.app._settings.data / "unsaved"
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e", "#")
        await bench.until(pilot, lambda: folder.exists() and any(folder.glob("*.json")))
        (note,) = folder.iterdir()
        assert json.loads(note.read_text())["text"] == "#" + fakes.SOURCE.decode()
        assert note.stat().st_mode & 0o077 == 0
        assert UnsavedTexts(folder).recoverable(bench.path) is None  # its process lives
        await pilot.press("ctrl+s")
        assert list(folder.iterdir()) == []


async def test_text_of_killed_program_is_recovered(make_bench: Any) -> None:
    bench = make_bench()
    note = left_behind(bench, "# mine\n")
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        question = workbench(bench).query_one(Ask).question
        assert question == "softmax.py has unsaved text from before."
        await pilot.press(*"jl")
        assert workbench(bench).query_one(Ask).waits
        await pilot.press("escape", "r")
        await pilot.pause()
        screen = workbench(bench)
        assert (screen.source.editor.text, screen.bench.mode, screen.bench.unsaved) == ("# mine\n", Mode.EDIT, True)
        assert bench.path.read_bytes() == fakes.SOURCE
        assert not note.exists()
        await pilot.press("ctrl+z")
        assert screen.source.editor.text == fakes.SOURCE.decode()


async def test_recovered_text_closes_past_run(make_bench: Any) -> None:
    bench = make_bench()
    left_behind(bench, "# mine\n")
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        screen = workbench(bench)
        screen.history.open(1, problem=screen.bench.problem)
        await bench.until(pilot, lambda: screen.bench.old is not None)
        await pilot.press("escape", "r")
        await pilot.pause()
        assert (screen.bench.old, screen.bench.mode, screen.bench.unsaved) == (None, Mode.EDIT, True)
        await pilot.press("escape", "escape")
        assert screen.source.editor.text == "# mine\n"
        await pilot.press("ctrl+s")
        assert bench.path.read_bytes() == b"# mine\n"


async def test_text_of_killed_program_stays_until_discarded(make_bench: Any) -> None:
    bench = make_bench()
    note = left_behind(bench, "# mine\n")
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("escape", "escape")
        assert note.exists()
        workbench(bench).unsaved_text.offer()
        await pilot.press("e", "d", "escape", "d")
        assert not note.exists()


async def test_a_damaged_note_is_passed_over(make_bench: Any) -> None:
    bench = make_bench()
    left_behind(bench, "# mine\n").write_bytes(b"\xff{")
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        assert workbench(bench).query_one(Ask).subject == ""


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=["80x24", "120x36"])
async def test_message_never_covers_question_or_input(make_bench: Any, size: tuple[int, int]) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=size, notifications=True) as pilot:
        await bench.settled(pilot)
        await pilot.press("e", "#", "ctrl+q")
        screen = workbench(bench)
        screen.notify("softmax.py was not saved: the disk is full", severity="error")
        await bench.until(pilot, lambda: bool(screen.query(Toast)))
        ask = screen.query_one(Ask)
        assert all(not toast.region.overlaps(ask.region) for toast in screen.query(Toast))
        await pilot.press("escape", "ctrl+g")
        entry = screen.query_one("#entry", Entry)
        screen.notify("expected the number of a line", severity="error")
        await bench.until(pilot, lambda: bool(screen.query(Toast)))
        await pilot.pause()
        assert entry.region.height == 1
        assert all(not toast.region.overlaps(entry.region) for toast in screen.query(Toast))


async def test_saved_file_is_compiled_for_its_target(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(notifications=True) as pilot:
        await bench.settled(pilot)
        bench.watcher.save(b"# kgtui: op=aten::softmax target=gfx942\n")
        await bench.settled(pilot)
        assert (bench.engine.evaluated[-1][1].target, workbench(bench).bench.target) == ("gfx942", "gfx942")
        bench.watcher.save(b"# kgtui: op=aten::softmax target=sm_999\n")
        await bench.settled(pilot)
        assert workbench(bench).bench.target == "gfx942"
        assert any("unsupported target 'sm_999'" in note.message for note in bench.app._notifications)
        bench.watcher.save(b"# kgtui: op=aten::softmax target=none\n")
        await bench.settled(pilot)
        assert bench.engine.evaluated[-1][1].target is None


async def test_unknown_directives_in_file_are_reported(make_bench: Any) -> None:
    bench = make_bench(content=b"# kgtui: op=aten::softmax cases=foo\n")
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        notice = workbench(bench).context.strip_context.notice
        assert notice == "softmax.py, its `# kgtui:` line: cases=foo should be smoke or full; all cases are run"
        bench.watcher.save(b"# kgtui: op=aten::softmax case=smoke\n")
        await bench.settled(pilot)
        notice = workbench(bench).context.strip_context.notice
        assert notice == "softmax.py, its `# kgtui:` line: unknown case=smoke; known are op=, cases= and target="
        bench.watcher.save(b"# kgtui: op=aten::softmax cases=smoke\n")
        await bench.settled(pilot)
        assert workbench(bench).context.strip_context.notice == ""
