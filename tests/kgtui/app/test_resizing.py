"""The application while its terminal changes its size, and after that."""

from __future__ import annotations

from typing import Any

import pytest
from textual._compositor import Compositor
from textual.events import Paste, Resize
from textual.geometry import Size

from tests.kgtui import fakes
from tests.kgtui.app.workbench_state import workbench


def sizes_of_whole_screens(monkeypatch: pytest.MonkeyPatch) -> list[Size]:
    """The size of each screen that is drawn as a whole from now on."""
    sizes: list[Size] = []
    original = Compositor.render_full_update

    def render(self: Compositor, *arguments: Any, **named: Any) -> Any:
        sizes.append(self.size)
        return original(self, *arguments, **named)

    monkeypatch.setattr(Compositor, "render_full_update", render)
    return sizes


async def resized(bench: Any, pilot: Any, sizes: tuple[tuple[int, int], ...]) -> None:
    """The terminal has these sizes one after another, and the last one long enough for everything to be drawn."""
    # Handled at once: messages that wait are merged, and Textual's timer must not run in between.
    for size in sizes:
        await bench.app.on_event(Resize(Size(*size), Size(*size)))
    await bench.settled(pilot)
    for _ in range(5):
        await pilot.pause(0.02)


@pytest.mark.parametrize("moments", [(), ((1, 1),), ((1, 1), (200, 60))], ids=["none", "one", "two"])
async def test_whole_screen_is_drawn_after_sizes_of_a_moment(
    make_bench: Any, monkeypatch: pytest.MonkeyPatch, moments: tuple[tuple[int, int], ...]
) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=(80, 24)) as pilot:
        await bench.settled(pilot)
        # Textual may draw everything for the sake of the empty screen behind, but not always.
        monkeypatch.setattr(type(bench.app), "_background_screens", property(lambda _: []))
        sizes = sizes_of_whole_screens(monkeypatch)
        await resized(bench, pilot, (*moments, (80, 24)))
        assert sizes[-1:] == [Size(80, 24)]


async def shrunk_and_enlarged(pilot: Any, *keys: str) -> None:
    """The terminal is below the least size for a moment, in which these keys are pressed."""
    await pilot.resize_terminal(40, 12)
    await pilot.pause()
    await pilot.press(*keys)
    await pilot.resize_terminal(80, 24)
    await pilot.pause()


@pytest.mark.parametrize(
    ("keys", "focused"),
    [(("e",), "#source"), (("e", "ctrl+f"), "#search Input"), (("1",), "#cases-table")],
    ids=["editor", "prompt", "list"],
)
async def test_focus_is_kept_while_terminal_is_too_small(make_bench: Any, keys: tuple[str, ...], focused: str) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=(80, 24)) as pilot:
        await bench.settled(pilot)
        await pilot.press(*keys)
        assert bench.app.focused is bench.app.screen.query_one(focused)
        await shrunk_and_enlarged(pilot)
        assert bench.app.focused is bench.app.screen.query_one(focused)


@pytest.mark.parametrize("keys", [(), ("e",)], ids=["watch", "edit"])
async def test_no_key_acts_while_terminal_is_too_small(make_bench: Any, keys: tuple[str, ...]) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=(80, 24)) as pilot:
        await bench.settled(pilot)
        await pilot.press(*keys)
        before = workbench(bench).bench
        await shrunk_and_enlarged(pilot, "B", "a", "P", "enter", "escape", "ctrl+o", "f1", "x")
        await bench.settled(pilot)
        assert workbench(bench).bench == before
        assert len(bench.engine.evaluated) == 1
        assert workbench(bench).source.editor.text == fakes.SOURCE.decode()


async def test_text_pasted_into_too_small_terminal_is_dropped(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=(80, 24)) as pilot:
        await bench.settled(pilot)
        await pilot.press("e")
        await pilot.resize_terminal(40, 12)
        await pilot.pause()
        bench.app.post_message(Paste("import os"))
        await pilot.pause()
        assert workbench(bench).source.editor.text == fakes.SOURCE.decode()


async def test_quit_ends_program_in_too_small_terminal(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=(40, 12)) as pilot:
        await bench.settled(pilot)
        await pilot.press("ctrl+q")
        await pilot.pause()
    assert not bench.app.is_running
