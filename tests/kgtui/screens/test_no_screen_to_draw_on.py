"""Events come when they come: also while a screen opens, and while the application ends."""

from __future__ import annotations

from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widget import Widget

from engine.model.events import LogWritten
from engine.model.results import Stream
from kgtui.screens import screen_ids
from tests.kgtui import fakes

pytestmark = pytest.mark.sampled

PRINTED = LogWritten(at_s=1.0, stream=Stream.STDOUT, text="written late\n")


class Unmounting(Widget):
    """Lets something happen when it is taken down."""

    def __init__(self, happens: Any) -> None:
        super().__init__()
        self._happens = happens

    def on_unmount(self) -> None:
        self._happens()


def everything_happens(bench: Any) -> None:
    """More of the run comes, a list from the store, and a tick of the clock."""
    bench.app._audience.on_events([PRINTED])
    bench.app._redraw()
    bench.app._tick()


async def half_way(bench: Any, pilot: Pilot[None]) -> None:
    await bench.until(pilot, lambda: bench.app.problems != () and bench.app.workbench.bench.view.failed != ())


@pytest.mark.parametrize("screen_id", screen_ids())
async def test_run_events_may_arrive_while_screen_opens(make_bench: Any, screen_id: str) -> None:
    bench = make_bench(fakes.stops_half_way)
    async with bench.app.run_test() as pilot:
        await half_way(bench, pilot)
        bench.app.action_show(screen_id)
        everything_happens(bench)
        await pilot.pause()
        assert bench.app.workbench.bench.view.log[-1].text == PRINTED.text
        assert bench.app.screen.is_mounted


@pytest.mark.parametrize("screen_id", screen_ids())
async def test_run_events_may_arrive_while_app_exits(make_bench: Any, screen_id: str) -> None:
    bench, with_events = make_bench(fakes.stops_half_way), []
    workbench = None

    def happens() -> None:
        everything_happens(bench)
        with_events.append(workbench)

    async with bench.app.run_test() as pilot:
        await half_way(bench, pilot)
        workbench = bench.app.workbench
        await workbench.mount(Unmounting(happens), before="#verdict")
        bench.app.action_show(screen_id)
        await pilot.pause()
    assert with_events == [workbench]
