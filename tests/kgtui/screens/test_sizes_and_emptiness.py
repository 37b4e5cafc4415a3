"""What holds of every screen and state while the terminal changes its size, and before there is anything to show."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import pytest
from rich.cells import cell_len
from textual.events import Resize
from textual.geometry import Size
from textual.pilot import Pilot

from kgtui.screens import screen_ids
from kgtui.screens.base.screen import KgtuiScreen
from kgtui.widgets.controls.too_small import TooSmall
from kgtui.widgets.panes import pane_modules
from tests.kgtui import fakes

pytestmark = [pytest.mark.sampled, pytest.mark.usefixtures("unpainted")]

START = (80, 24)
TINY = [(20, 5), (59, 24), (80, 14), (1, 1)]
STORM = [(20, 5), (300, 100), (59, 40), (60, 15), (200, 60), (1, 1), (120, 36), (300, 15), (60, 100)]
NEVER_EMPTY = {"doctor", "help", "manual", "settings"}
# In these states the workbench is busy, asks, or is written in.
STATES = {
    "failed": ("some_fail", ()),
    "flagged": ("suspicious", ("2",)),
    "going on": ("stops_half_way", ()),
    "before anything": ("never_begins", ()),
    "editing": ("all_pass", ("e", "x")),
    "searching": ("all_pass", ("slash", "x")),
    "zoomed": ("some_fail", ("1", "z")),
    "code": ("all_pass", ("4",)),
    "log": ("all_pass", ("6",)),
    "asked": ("all_pass", ("e", "x", "ctrl+q")),
}


def drawn(bench: Any) -> str:
    """All that is drawn now, line by line."""
    strips = bench.app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)


async def ready(bench: Any, pilot: Pilot[None]) -> None:
    """The catalogue is there, and what the engine says before it waits is shown: the picture stays the same."""
    await bench.until(pilot, lambda: bench.app.problems != () and bench.engine.evaluated != [])
    await bench.until(pilot, lambda: bench.app.screen.focused is not None)
    before = ""
    while drawn(bench) != before:
        before = drawn(bench)
        for _ in range(5):
            await pilot.pause(0.02)


async def stormed(bench: Any, pilot: Pilot[None]) -> None:
    """Many sizes, one after the other without waiting for the picture, and back to the first."""
    for columns, rows in STORM:
        pilot.app.post_message(Resize(Size(columns, rows), Size(columns, rows)))
    await pilot.resize_terminal(*START)
    await pilot.pause()


@pytest.mark.parametrize("screen_id", screen_ids())
async def test_many_resizes_leave_every_screen_unchanged(make_bench: Any, screen_id: str) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=START) as pilot:
        await ready(bench, pilot)
        await bench.settled(pilot)
        bench.app.action_show(screen_id)
        await ready(bench, pilot)
        await stormed(bench, pilot)
        await bench.settled(pilot)
        await ready(bench, pilot)
        before = drawn(bench)
        await stormed(bench, pilot)
        await bench.settled(pilot)
        assert drawn(bench) == before


@pytest.mark.parametrize("state", STATES)
async def test_many_resizes_leave_every_state_unchanged(make_bench: Any, state: str) -> None:
    script, keys = STATES[state]
    bench = make_bench(getattr(fakes, script))
    async with bench.app.run_test(size=START) as pilot:
        await ready(bench, pilot)
        await pilot.press(*keys)
        for editor in bench.app.screen.query("SourceEditor, Input"):
            editor.cursor_blink = False
        await ready(bench, pilot)
        await stormed(bench, pilot)
        await ready(bench, pilot)
        before = drawn(bench)
        await stormed(bench, pilot)
        await pilot.pause()
        assert drawn(bench) == before


@pytest.mark.parametrize("screen_id", screen_ids())
async def test_every_size_draws_screen_or_too_small(make_bench: Any, screen_id: str) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=START) as pilot:
        await ready(bench, pilot)
        bench.app.action_show(screen_id)
        await bench.settled(pilot)
        for columns, rows in (*TINY, *STORM):
            await pilot.resize_terminal(columns, rows)
            await bench.until(pilot, partial(_fits, bench, columns=columns, rows=rows))


def _fits(bench: Any, *, columns: int, rows: int) -> bool:
    """Whether the picture is one of this size: no line is longer, and what is too small says so."""
    screen = bench.app.screen
    if isinstance(screen, KgtuiScreen) and screen.query_one(TooSmall).display is not (columns < 60 or rows < 15):
        return False
    return all(cell_len(line) <= columns for line in drawn(bench).splitlines())


@pytest.mark.parametrize("tab", pane_modules())
async def test_every_pane_before_first_run_states_next_step(make_bench: Any, tab: str) -> None:
    bench = make_bench(fakes.never_begins)
    async with bench.app.run_test(size=(120, 36)) as pilot:
        await ready(bench, pilot)
        bench.app.screen.action_tab(tab)
        await pilot.pause()
        pane = bench.app.screen.tabs.pane
        rows = drawn(bench).splitlines()[pane.region.y : pane.region.bottom]
        assert says_what_to_do(" ".join(row[pane.region.x :] for row in rows))


@pytest.mark.parametrize("screen_id", [name for name in screen_ids() if name not in NEVER_EMPTY])
async def test_every_screen_before_first_run_states_next_step(make_bench: Any, screen_id: str) -> None:
    bench = make_bench(fakes.never_begins)
    async with bench.app.run_test(size=(120, 36)) as pilot:
        await ready(bench, pilot)
        bench.app.action_show(screen_id)
        await ready(bench, pilot)
        assert says_what_to_do(" ".join(drawn(bench).splitlines()[:-1]))


def says_what_to_do(text: str) -> bool:
    """Whether the words name a key or the act that fills the place, or what the place waits for or cannot have."""
    acts = r"enter|esc|ctrl\+\w|save|[a-zA-Z] (runs|shows|opens|measures)|appears here"
    waits = r"not run|as soon as|starting engine|so nothing is timed|tab says why"
    return re.search(rf"\b({acts}|{waits})\b", text) is not None
