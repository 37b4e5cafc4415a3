"""The file on the workbench: edited, saved, changed on disk, left with unsaved text."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from textual.events import Key
from textual.widgets import Input

import kgtui
from kgtui.screens.help.screen import help_lines
from kgtui.state.format.glyphs import State
from kgtui.state.format.lines import plain_text
from kgtui.state.workbench.status import Mode
from kgtui.widgets.controls.ask import Ask
from kgtui.widgets.controls.bars import Bar
from tests.kgtui import fakes
from tests.kgtui.app.workbench_state import state, strip, workbench


async def test_editing_and_saving_runs_the_loop(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e", "#", "r", "enter")
        assert workbench(bench).bench.mode is Mode.EDIT
        assert state(bench) is State.EDITED
        assert len(bench.engine.evaluated) == 1
        await pilot.press("ctrl+s")
        await bench.settled(pilot)
        assert bench.path.read_bytes() == b"#r\n" + fakes.SOURCE
        assert bench.engine.evaluated[-1][0].source == b"#r\n" + fakes.SOURCE
        await pilot.press("escape")
        assert workbench(bench).bench.mode is Mode.WATCH
        assert state(bench) is State.PASSED


@pytest.mark.parametrize("pane", ["1", "2", "escape"])
async def test_letters_typed_right_after_edit_key_are_kept(make_bench: Any, pane: str) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press(pane)
        for letter in "ejcqb":
            bench.app.post_message(Key(letter, letter))  # as a terminal sends them in one piece
        for _ in range(9):
            await pilot.pause()
        assert workbench(bench).source.editor.text == "jcqb" + fakes.SOURCE.decode()
        assert len(bench.engine.evaluated) == 1


async def test_keys_in_one_piece_have_their_effect_in_order(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        for key in ("e", "x", "backspace", "y", "enter", "z", "left", "u", "home", "v"):
            bench.app.post_message(Key(key, key if len(key) == 1 else None))
        for _ in range(9):
            await pilot.pause()
        assert workbench(bench).source.editor.text == "y\nvuz" + fakes.SOURCE.decode()
        assert bench.app.screen is workbench(bench)


@pytest.mark.parametrize("last", ["ctrl+s", "ctrl+q", "escape"])
async def test_key_after_letters_in_one_piece_comes_last(make_bench: Any, last: str) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e")
        for key in ("#", "r", "enter", last):
            bench.app.post_message(Key(key, key if len(key) == 1 else None))
        for _ in range(9):
            await pilot.pause()
        await bench.settled(pilot)
        assert workbench(bench).source.editor.text == "#r\n" + fakes.SOURCE.decode()
        assert (bench.path.read_bytes() == b"#r\n" + fakes.SOURCE) == (last == "ctrl+s")
        assert workbench(bench).file.asked_to_leave == (last == "ctrl+q")
        assert workbench(bench).bench.mode is (Mode.WATCH if last == "escape" else Mode.EDIT)


async def test_save_right_after_a_letter_writes_it(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e")
        editor = workbench(bench).source.editor
        editor.insert("#x\n", (0, 0))  # its message is still on the way as the file is saved
        workbench(bench).file.action_save()
        await bench.settled(pilot)
        assert bench.path.read_bytes() == b"#x\n" + fakes.SOURCE
        assert [note.message for note in bench.app._notifications] == []
        assert not workbench(bench).bench.unsaved


async def test_quit_right_after_a_letter_asks_first(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e")
        workbench(bench).source.editor.insert("#x\n", (0, 0))
        await bench.app.action_quit()
        await pilot.pause()
        assert workbench(bench).file.asked_to_leave


async def test_save_restores_a_deleted_file(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e", "ctrl+s")
        assert [note.message for note in bench.app._notifications] == [
            "nothing to save: the file already has this text"
        ]
        bench.path.unlink()
        await pilot.press("ctrl+s")
        await bench.settled(pilot)
        assert bench.path.read_bytes() == fakes.SOURCE


async def test_key_without_effect_in_the_editor_is_reported_once(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e", "ctrl+c")
        assert [note.message for note in bench.app._notifications] == [
            "nothing is selected, so ctrl+c copies nothing; ctrl+q quits"
        ]


async def test_keys_in_one_piece_edit_an_entry_in_order(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        for key in ("slash", "a", "backspace", "b", "left", "c"):
            bench.app.post_message(Key(key, key if len(key) == 1 else "/" if key == "slash" else None))
        for _ in range(9):
            await pilot.pause()
        assert isinstance(bench.app.focused, Input) and bench.app.focused.value == "cb"


async def test_watcher_report_of_own_save_starts_no_run(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e", "x", "ctrl+s")
        await bench.settled(pilot)
        bench.watcher.save(bench.path.read_bytes())
        await pilot.pause()
        await bench.settled(pilot)
        assert len(bench.engine.evaluated) == 2


async def test_unwritable_file_keeps_the_text(make_bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
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


async def test_change_on_disk_with_unsaved_text_asks(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e", "x")
        bench.watcher.save(b"theirs\n")
        await bench.until(pilot, lambda: workbench(bench).query_one(Ask).subject != "")
        assert workbench(bench).source.editor.text == f"x{fakes.SOURCE.decode()}"
        await pilot.press("escape", "k")
        assert workbench(bench).source.editor.text == f"x{fakes.SOURCE.decode()}"
        assert workbench(bench).bench.unsaved
        await pilot.press("ctrl+s")
        await bench.settled(pilot)
        assert bench.path.read_bytes() == b"x" + fakes.SOURCE


async def test_reload_replaces_edited_text_with_file(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e", "x")
        bench.watcher.save(b"theirs\n")
        await bench.until(pilot, lambda: workbench(bench).query_one(Ask).subject != "")
        await pilot.press("escape", "l")
        await bench.settled(pilot)
        assert workbench(bench).source.editor.text == "theirs\n"
        assert not workbench(bench).bench.unsaved
        assert bench.engine.evaluated[-1][0].source == b"theirs\n"


async def test_save_of_imported_file_runs_kernel_again(make_bench: Any) -> None:
    from kgtui.ports.file_events import Saved

    bench = make_bench(content=b"import tiles\nimport math\n")
    tiles = bench.path.with_name("tiles.py")
    tiles.write_bytes(b"")
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await bench.until(pilot, lambda: bench.watcher.followed == (tiles,))
        content = bench.path.read_bytes()
        digest = bench.engine.evaluated[0][0].digest
        bench.watcher.on_save(Saved(path=bench.path, changed=tiles, content=content, digest=digest, at_s=1.0))
        await bench.until(pilot, lambda: len(bench.engine.evaluated) == 2)


async def test_imports_are_never_read_in_ui_thread(make_bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    readers: list[str] = []

    def imported_files(*_: object) -> tuple[Path, ...]:
        readers.append(threading.current_thread().name)
        return ()

    monkeypatch.setattr("kgtui.files.file_watch.imported_files", imported_files)
    monkeypatch.setattr("kgtui.runner.stored_run.imported_files", imported_files)
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await bench.until(pilot, lambda: bool(readers))
        await bench.settled(pilot)
    assert threading.current_thread().name not in readers


async def test_screen_styles_are_read_before_a_key(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        styles = sorted(Path(kgtui.__file__).with_name("styles").glob("*.tcss"))
        await bench.until(pilot, lambda: all(bench.app.stylesheet.has_source(str(path)) for path in styles))


async def test_reports_of_earlier_watcher_are_ignored(make_bench: Any) -> None:
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


async def test_leaving_with_unsaved_text_asks_once(make_bench: Any) -> None:
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


async def test_saving_closes_question_about_unsaved_text(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e", "x", "ctrl+q", "ctrl+s")
        await bench.settled(pilot)
        assert not workbench(bench).query_one(Ask).display
        assert workbench(bench).focused is workbench(bench).source.editor
        assert bench.path.read_bytes() == b"x" + fakes.SOURCE


async def test_key_bar_offers_no_letters_while_editing(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=(120, 36)) as pilot:
        await bench.settled(pilot)
        await pilot.press("e")
        keys = [plain_text((segment.line,)) for segment in workbench(bench).query_one("#keys", Bar).segments]
        typing = ["ctrl+f find", "ctrl+r replace", "ctrl+g line", "F4 editor"]
        assert keys == ["F5 run", *typing, "esc back", "ctrl+o operators", "F1 help", "ctrl+q quit"]


async def test_ctrl_end_and_home_move_in_edited_text(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        source = workbench(bench).source
        await pilot.press("e", "ctrl+end")
        assert source.line == source.editor.document.line_count > 1
        await pilot.press("ctrl+home")
        assert source.line == 1


@pytest.mark.parametrize(("config", "key"), [("", "ctrl+y"), ('[keys]\n"workbench.redo" = "ctrl+t"\n', "ctrl+t")])
async def test_undone_text_is_typed_again_by_redo(make_bench: Any, config: str, key: str) -> None:
    bench = make_bench(config=config)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e", "x", "ctrl+z")
        assert workbench(bench).source.editor.text == fakes.SOURCE.decode()
        await pilot.press(key)
        assert workbench(bench).source.editor.text == f"x{fakes.SOURCE.decode()}"


async def test_redo_while_reading_states_where_it_works(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(notifications=True) as pilot:
        await bench.settled(pilot)
        await pilot.press("ctrl+y")
        assert [toast.message for toast in bench.app._notifications] == [
            "nothing to redo: the file is not being edited"
        ]


def test_help_lists_redo() -> None:
    assert "ctrl+y          in edited text: redo what ctrl+z has undone" in plain_text(help_lines(wanted="redo"))


async def test_ctrl_end_moves_behind_last_character(make_bench: Any) -> None:
    bench = make_bench(content=b"first\n  last")
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        editor = workbench(bench).source.editor
        await pilot.press("ctrl+end")
        assert editor.cursor_location == (1, 0)  # while reading: the beginnings of the lines stay in view
        await pilot.press("e", "ctrl+end")
        assert editor.cursor_location == (1, 6)
        await pilot.press("ctrl+home")
        assert editor.cursor_location == (0, 0)


OF_SOFTMAX = b"# kgtui: op=aten::softmax\n" + fakes.SOURCE
OF_RMS_NORM = b"# kgtui: op=vllm::rms_norm\n" + fakes.SOURCE
OF_NOTHING = b"# kgtui: op=aten::nothing\n" + fakes.SOURCE
UNKNOWN = "the file names 'aten::nothing', which is no operator: correct `# kgtui: op=...` and save; nothing is run"


def operators_run(bench: Any) -> list[str]:
    return [candidate.problem for candidate, _ in bench.engine.evaluated]


async def test_save_that_names_another_operator_switches_to_it(make_bench: Any) -> None:
    bench = make_bench(content=OF_SOFTMAX)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("p")
        bench.watcher.save(OF_RMS_NORM)
        await pilot.pause()
        await bench.settled(pilot)
        assert workbench(bench).bench.problem.name == "vllm::rms_norm"
        assert operators_run(bench) == ["aten::softmax"]
        await pilot.press("p")
        await bench.settled(pilot)
        assert operators_run(bench) == ["aten::softmax", "vllm::rms_norm"]
        assert [case.case for case in workbench(bench).bench.results.cases] == ["8x64 bf16"]


async def test_operator_typed_into_the_first_line_is_run(make_bench: Any) -> None:
    bench = make_bench(content=OF_SOFTMAX)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e")
        workbench(bench).source.editor.rewrite(OF_RMS_NORM.decode())
        await pilot.press("down", "ctrl+s")
        await bench.settled(pilot)
        assert operators_run(bench) == ["aten::softmax", "vllm::rms_norm"]
        assert workbench(bench).bench.mode is Mode.EDIT
        assert workbench(bench).source.line == 2


async def test_file_of_unknown_operator_is_not_run(make_bench: Any) -> None:
    bench = make_bench(content=OF_SOFTMAX)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        bench.watcher.save(OF_NOTHING)
        await pilot.pause()
        await bench.settled(pilot)
        assert strip(bench)[2] == UNKNOWN
        await pilot.press("r", "f")
        await bench.settled(pilot)
        assert operators_run(bench) == ["aten::softmax"]
        bench.watcher.save(OF_SOFTMAX + b"#\n")
        await pilot.pause()
        await bench.settled(pilot)
        assert operators_run(bench) == ["aten::softmax"] * 2
        assert strip(bench)[2] != UNKNOWN


async def test_operator_given_with_the_file_stays_over_its_line(make_bench: Any) -> None:
    bench = make_bench(content=OF_RMS_NORM)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        bench.watcher.save(OF_RMS_NORM + b"#\n")
        await pilot.pause()
        await bench.settled(pilot)
        assert operators_run(bench) == ["aten::softmax"] * 2


async def test_ctrl_c_states_how_to_quit(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(notifications=True) as pilot:
        await bench.settled(pilot)
        await pilot.press("ctrl+c")
        assert [toast.message for toast in bench.app._notifications] == [
            "nothing is selected, so ctrl+c copies nothing; ctrl+q quits"
        ]
        assert bench.app.is_running


async def test_leaving_twice_discards_the_text(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e", "x", "ctrl+q", "ctrl+q")
    assert not bench.app.is_running
    assert bench.path.read_bytes() == fakes.SOURCE
