"""The application redraws everything after its terminal had another size for a moment."""

from __future__ import annotations

from typing import Any

import pytest
from textual._compositor import Compositor
from textual.events import Resize
from textual.geometry import Size


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
