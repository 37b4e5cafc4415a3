"""Saving over a file that changed on disk, and text that was not saved when the program was killed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from kgtui.files.unsaved import UnsavedTexts
from kgtui.screens.workbench.screen import WorkbenchScreen
from kgtui.state.workbench.status import Mode
from kgtui.widgets.controls.ask import Ask
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


async def test_text_on_disk_can_replace_edited_text(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e", "#")
        bench.path.write_bytes(THEIRS)
        await pilot.press("ctrl+s", "r")
        await bench.settled(pilot)
        assert workbench(bench).source.editor.text == THEIRS.decode()
        assert not workbench(bench).bench.unsaved
        assert bench.engine.evaluated[-1][0].source == THEIRS


async def test_kept_text_and_changed_file_are_both_saved(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e", "#")
        bench.path.write_bytes(THEIRS)
        bench.watcher.save(THEIRS)
        await bench.settled(pilot)
        await pilot.press("k", "ctrl+s")
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
        assert UnsavedTexts(folder).left_over(bench.path) is None  # its process lives
        await pilot.press("ctrl+s")
        assert list(folder.iterdir()) == []


async def test_text_of_killed_program_is_recovered(make_bench: Any) -> None:
    bench = make_bench()
    note = left_behind(bench, "# mine\n")
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        question = workbench(bench).query_one(Ask).question
        assert question == "softmax.py has unsaved text from before."
        await pilot.press("r")
        await pilot.pause()
        screen = workbench(bench)
        assert (screen.source.editor.text, screen.bench.mode, screen.bench.unsaved) == ("# mine\n", Mode.EDIT, True)
        assert bench.path.read_bytes() == fakes.SOURCE
        assert not note.exists()
        await pilot.press("ctrl+z")
        assert screen.source.editor.text == fakes.SOURCE.decode()


async def test_text_of_killed_program_stays_until_discarded(make_bench: Any) -> None:
    bench = make_bench()
    note = left_behind(bench, "# mine\n")
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("escape")
        assert note.exists()
        workbench(bench).unsaved_text.offer()
        await pilot.press("d")
        assert not note.exists()


async def test_a_damaged_note_is_passed_over(make_bench: Any) -> None:
    bench = make_bench()
    left_behind(bench, "# mine\n").write_bytes(b"\xff{")
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        assert workbench(bench).query_one(Ask).subject == ""
