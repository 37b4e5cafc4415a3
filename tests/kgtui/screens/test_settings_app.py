"""Settings, doctor, help and palette on the screen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from kgtui.cli.child_processes import own_processes
from kgtui.screens.base.palette import Actions
from kgtui.screens.help.screen import help_lines
from kgtui.settings.keys import ACTIONS
from kgtui.state.doctor import CHECKING_CONFINEMENT
from kgtui.state.format.lines import plain_text
from kgtui.widgets.controls.bars import Bar
from kgtui.widgets.text.page_view import PageView
from kgtui.widgets.text.toned import Grid, Lines


async def opened(bench: Any, pilot: Pilot[None], *keys: str) -> Any:
    """The screen that these keys open."""
    await bench.settled(pilot)
    await pilot.press(*keys)
    await pilot.pause()
    return bench.app.screen


def row_of(screen: Any, key: str) -> list[str]:
    """The words of a row of the settings."""
    return next([cell.text for cell in row.cells] for row in screen.query_one(Grid).shown if row.key == key)


def key_bar(screen: Any) -> str:
    """The key bar as it reads."""
    return "  ".join(plain_text((segment.line,)) for segment in screen.query_one("#keys", Bar).segments)


async def type_into(bench: Any, pilot: Pilot[None], text: str) -> None:
    """Replace what comparisons in the line and submit it."""
    bench.app.screen.query_one(Input).value = text
    await pilot.press("enter")


async def test_change_takes_effect_and_is_written_after_yes(make_bench: Any, tmp_path: Path) -> None:
    bench, file = make_bench(), tmp_path / "settings" / "config.toml"
    async with bench.app.run_test() as pilot:
        screen = await opened(bench, pilot, "f2")
        await pilot.press("enter")
        assert bench.app.theme == "textual-light"
        assert row_of(screen, "theme") == ["theme", "light", "changed here, not written"]
        await pilot.press("w")
        assert plain_text(screen.query_one("#about", Lines).lines) == f'in {file}:\n+theme = "light"'
        await pilot.press("escape")
        assert not file.exists()
        await pilot.press("w", "y")
        assert file.read_text() == 'theme = "light"\n'
        assert row_of(screen, "theme") == ["theme", "light", "config.toml"]


async def test_changed_setting_can_be_reverted(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        screen = await opened(bench, pilot, "f2")
        await pilot.press("j", "enter")
        assert bench.app.has_class("-ascii")
        await pilot.press("u")
        assert not bench.app.has_class("-ascii")
        assert row_of(screen, "ascii") == ["ascii", "false", "default"]


async def test_detected_device_and_target_are_shown(make_bench: Any) -> None:
    bench = make_bench(device="cuda", target="sm_100")
    async with bench.app.run_test() as pilot:
        screen = await opened(bench, pilot, "f2")
        assert row_of(screen, "device") == ["device", "cuda", "detected"]
        assert row_of(screen, "target") == ["target", "sm_100", "detected"]


async def test_invalid_setting_is_reported_and_changes_nothing(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(notifications=True) as pilot:
        screen = await opened(bench, pilot, "f2")
        screen.query_one(Grid).go_to("target")
        await pilot.press("enter")
        await type_into(bench, pilot, "sm_9")
        said = [note.message for note in bench.app._notifications]
        assert len(said) == 1
        assert said[0].startswith("target: ")
        assert bench.app.appearance.changes == {}


async def test_error_message_disappears_once_corrected(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(notifications=True) as pilot:
        screen = await opened(bench, pilot, "f2")
        screen.query_one(Grid).go_to("target")
        await pilot.press("enter")
        await type_into(bench, pilot, "sm_9")
        assert len(bench.app._notifications) == 1
        await type_into(bench, pilot, "sm_80")
        assert len(bench.app._notifications) == 0


async def test_changed_key_works_and_is_shown_everywhere(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        screen = await opened(bench, pilot, "f2")
        screen.query_one(Grid).go_to("keys.workbench.run")
        await pilot.press("enter")
        await type_into(bench, pilot, "f11 ctrl+t")
        assert row_of(screen, "keys.workbench.run") == ["workbench.run", "F11 ctrl+t", "changed here, not written"]
        await pilot.press("escape")
        await bench.settled(pilot)
        assert "F11 run" in key_bar(bench.app.screen)
        await pilot.press("r")
        await bench.settled(pilot)
        assert len(bench.engine.evaluated) == 1
        await pilot.press("f11")
        await bench.settled(pilot)
        assert len(bench.engine.evaluated) == 2
        await pilot.press("f1")
        assert "F11 ctrl+t" in plain_text(bench.app.screen.query_one(Lines).lines)


async def test_keys_of_the_file_hold_from_the_start(make_bench: Any) -> None:
    bench = make_bench(config='[keys]\n"everywhere.quit" = "ctrl+x"\n"everywhere.help" = "f11"\n')
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("f11")
        assert type(bench.app.screen).__name__ == "HelpScreen"
        await pilot.press("f11")
        assert bench.app.screen is bench.app.workbench


async def test_error_in_file_is_shown_and_app_starts(make_bench: Any) -> None:
    bench = make_bench(config="theme = 'pink'\nascii = 3\n")
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        banner = plain_text(bench.app.screen.query_one("#banner", Lines).lines)
        assert banner.endswith(
            "config.toml, theme: expected one of dark, light, ansi-dark, ansi-light, got 'pink' (and 1 more); "
            "`kgtui config show` lists all"
        )


async def test_the_settings_can_be_searched(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        screen = await opened(bench, pilot, "f2", "slash")
        await type_into(bench, pilot, "$editor cursor")
        assert [row.key for row in screen.query_one(Grid).shown] == ["keys.workbench.editor"]
        await pilot.press("escape")
        assert len(screen.query_one(Grid).shown) > 50


async def test_copied_setting_is_line_of_file(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await opened(bench, pilot, "f2", "y")
        assert bench.app.clipboard == 'theme = "dark"'


async def test_doctor_shows_detected_values_and_refreshes(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        screen = await opened(bench, pilot, "f12")
        await bench.until(pilot, lambda: len(screen.query_one(PageView).rows) > 5)
        page = plain_text(tuple(row.line for row in screen.query_one(PageView).rows))
        assert "device       cpu 0: Triton interpreter on [8] CPUs" in page
        assert "             NOT IN FORCE: no network" in page
        assert 'setting      theme           "dark"         default' in page
        await pilot.press("Y")
        assert bench.app.clipboard.startswith("system       Linux")
        await pilot.press("r", "escape")
        assert bench.app.screen is bench.app.workbench


async def test_doctor_shows_the_machine_while_engine_starts(make_bench: Any) -> None:
    bench, has_started = make_bench(), asyncio.Event()

    async def diagnose(size: object, preferences: object) -> AsyncIterator[tuple[str, ...]]:
        known = "version      python 3.11.2"
        yield known, CHECKING_CONFINEMENT
        await has_started.wait()
        yield known, "confinement  no network"

    bench.app._services = replace(bench.app._services, diagnose=diagnose)
    async with bench.app.run_test() as pilot:
        page = (await opened(bench, pilot, "f12")).query_one(PageView)
        await bench.until(pilot, lambda: len(page.rows) > 1)
        assert plain_text(tuple(row.line for row in page.rows)) == (
            "version      python 3.11.2\n\nconfinement  starting an engine to check the sandboxing (0 s)"
        )
        has_started.set()
        await bench.until(pilot, lambda: "no network" in plain_text(tuple(row.line for row in page.rows)))


def test_the_help_can_be_narrowed_to_some_letters() -> None:
    assert plain_text(help_lines(wanted="$EDITOR tmux")) == (
        "Source  workbench\n  E F4            open $EDITOR at the cursor, beside this in tmux\n"
    )
    assert "  z               show only this pane" in plain_text(help_lines(wanted="zoom"))
    assert plain_text(help_lines(wanted="zzz")) == "no match; esc shows all"


async def test_help_is_searched_and_esc_leaves_search_first(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        screen = await opened(bench, pilot, "f1", "slash", "t", "m", "u", "x")
        assert "open $EDITOR" in plain_text(screen.query_one(Lines).lines)
        assert "run the saved file" not in plain_text(screen.query_one(Lines).lines)
        await pilot.press("escape")
        assert "run the saved file" in plain_text(screen.query_one(Lines).lines)
        await pilot.press("escape")
        assert bench.app.screen is bench.app.workbench


@pytest.mark.parametrize("screen_id", ["workbench", "settings"])
async def test_the_palette_has_every_action_from_every_screen(make_bench: Any, screen_id: str) -> None:
    bench = make_bench(config='[keys]\n"workbench.run" = "f11"\n')
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        bench.app.action_show(screen_id)
        await pilot.pause()
        hits = [hit async for hit in Actions(bench.app.screen).discover()]
        assert len(hits) == sum(action.listed for action in ACTIONS)
        here = "" if screen_id == "workbench" else "  on workbench"
        assert f"run  (F11){here}" in [hit.text for hit in hits]


async def test_action_of_other_screen_runs_there(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await opened(bench, pilot, "f2")
        hits = [hit async for hit in Actions(bench.app.screen).search("zoom")]
        await hits[0].command()  # type: ignore[misc]  # Textual's type is that of any callable
        await pilot.pause()
        assert bench.app.screen is bench.app.workbench
        assert bench.app.workbench.has_class("-zoom-source")


def test_own_processes_are_all_descendants(tmp_path: Path) -> None:
    for pid, parent, name in ((10, 1, "kgtui"), (11, 10, "a (b) c"), (12, 11, "worker"), (13, 1, "other")):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "stat").write_text(f"{pid} ({name}) S {parent} 0")
    (tmp_path / "14").mkdir()
    assert own_processes(of=10, table=tmp_path) == (10, 11, 12)
