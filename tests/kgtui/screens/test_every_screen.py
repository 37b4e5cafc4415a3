"""What holds for every screen, those of tomorrow too: found by a scan, opened by a key, drawn at every size."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.errors import EngineError
from kgtui.screens import Place, screen_ids, screen_module
from kgtui.screens.base.screen import KgtuiScreen
from kgtui.settings.keys import ACTIONS, Where
from kgtui.state.format.lines import plain_text
from kgtui.widgets.controls.bars import Bar
from kgtui.widgets.controls.too_small import TooSmall

pytestmark = pytest.mark.sampled

SIZES = [(80, 24), (120, 36), (200, 60)]
# A file opens the one; enter on a failed case, which goes to a line elsewhere, opens the other.
WITHOUT_KEY = {"workbench", "case"}


def text_of(bench: Any) -> str:
    """All that is drawn now, line by line."""
    strips = bench.app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


async def shown(bench: Any, pilot: Pilot[None], screen_id: str) -> Any:
    """The screen, in front and settled."""
    await bench.until(pilot, lambda: bench.app.problems != ())
    await bench.settled(pilot)
    bench.app.action_show(screen_id)
    await bench.settled(pilot)
    return bench.app.screen


def test_screens_are_named_after_their_files() -> None:
    assert {"bench", "help", "operators", "workbench"} <= set(screen_ids())


def test_listing_screens_and_importing_app_imports_none() -> None:
    look = (
        "import sys, kgtui.app.application, kgtui.screens as screens; ids = screens.screen_ids();"
        "print([name for name in ids if f'kgtui.screens.{name}.screen' in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package of screens that are none."""
    folder = tmp_path / "shown_screens"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "blank.py").write_text("from kgtui.screens import Place\nPLACE = Place.OVER\n")
    (folder / "lost.py").write_text("PLACE = 'over'\ndef make(host): ...\n")
    monkeypatch.syspath_prepend(tmp_path)
    return folder.name


def test_a_screen_that_lacks_a_name_is_refused(package: str) -> None:
    with pytest.raises(EngineError, match=r"shown_screens/blank\.py does not define make"):
        screen_module("blank", package=package)


def test_screen_without_place_is_refused(package: str) -> None:
    with pytest.raises(EngineError, match=r"lost\.py: PLACE should be Place\.GROUND or Place\.OVER, is 'over'"):
        screen_module("lost", package=package)


def test_unknown_screen_is_refused_listing_known_ones(package: str) -> None:
    with pytest.raises(EngineError, match="unknown screen 'inspekt': shown_screens has blank, lost"):
        screen_module("inspekt", package=package)


@pytest.mark.parametrize("screen_id", [name for name in screen_ids() if name not in WITHOUT_KEY])
def test_every_screen_has_key_and_help_line(screen_id: str) -> None:
    assert [action.listed for action in ACTIONS if action.call == f"app.show('{screen_id}')"] == [True]


def test_every_screen_key_opens_existing_screen() -> None:
    opened = {action.call.split("'")[1] for action in ACTIONS if action.call.startswith("app.show(")}
    assert opened - set(screen_ids()) == set()


def all_keys(screen: KgtuiScreen) -> list[str]:
    """What the key bar would show if there were room for all."""
    return [plain_text((segment.line,)) for segment in screen.query_one("#keys", Bar).segments]


@pytest.mark.usefixtures("unpainted")
@pytest.mark.parametrize("screen_id", screen_ids())
async def test_every_screen_is_drawn_with_focus_and_keys(make_bench: Any, screen_id: str) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=SIZES[0]) as pilot:
        screen = await shown(bench, pilot, screen_id)
        await bench.until(pilot, lambda: screen.focused is not None)
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await bench.settled(pilot)
            assert screen.focused is not None, size
            assert text_of(bench).strip(), size
            if isinstance(screen, KgtuiScreen):
                assert Where(screen_id) is screen.WHERE
                drawn = screen.query_one("#keys", Bar).render().plain.rstrip().split("  ")
                assert drawn[-2:] == ["? help", "ctrl+q quit"], size
                assert "esc back" in drawn or "esc back" not in all_keys(screen), size


@pytest.mark.parametrize("screen_id", screen_ids())
async def test_every_screen_reports_too_small_terminal(make_bench: Any, screen_id: str) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=(40, 10)) as pilot:
        screen = await shown(bench, pilot, screen_id)
        if isinstance(screen, KgtuiScreen):
            assert screen.query_one(TooSmall).display


@pytest.mark.usefixtures("unpainted")
@pytest.mark.parametrize("screen_id", screen_ids())
async def test_every_screen_is_ascii_at_minimum_size(make_bench: Any, screen_id: str) -> None:
    bench = make_bench(ascii=True)
    async with bench.app.run_test(size=(60, 15)) as pilot:
        await shown(bench, pilot, screen_id)
        assert [line for line in text_of(bench).splitlines() if not line.isascii()] == []


@pytest.mark.parametrize("screen_id", screen_ids())
async def test_escape_returns_and_screen_reopens_unchanged(make_bench: Any, screen_id: str) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        screen = await shown(bench, pilot, screen_id)
        if screen_module(screen_id).PLACE is Place.OVER:
            await pilot.press("escape")
            assert bench.app.screen is bench.app.workbench
        assert await shown(bench, pilot, screen_id) is screen
        assert bench.app.screen_stack.count(screen) == 1


@pytest.mark.parametrize("screen_id", screen_ids())
async def test_screen_without_file_states_next_step(make_bench: Any, screen_id: str) -> None:
    bench = make_bench(opened=False)
    async with bench.app.run_test(notifications=True) as pilot:
        screen = await shown(bench, pilot, screen_id)
        said = [note.message for note in bench.app._notifications]
        here = Where(screen_id) is screen.WHERE if isinstance(screen, KgtuiScreen) else screen_id == "help"
        assert here or [message.startswith("no file is open") for message in said] == [True]
