"""The workbench keeps no records of earlier saves: the number of its objects is the same after many of them."""

from __future__ import annotations

import gc
from collections import Counter
from typing import Any

from engine.model import Case
from engine.reports.run_record import RunRecord
from kgtui.ports.requests import RunHeader
from kgtui.state.workbench.workbench import Workbench
from kgtui.widgets.panes.base.pane import Scene
from tests.kgtui import fakes

WARM_SAVES, SAVES = 4, 12
KINDS = (RunRecord, Workbench, Scene, RunHeader, Case)


class Forgets(list[Any]):
    """The list of runs of the double, which keeps none of them."""

    runs = 0

    def append(self, run: Any) -> None:
        self.runs += 1


def held() -> Counter[str]:
    gc.collect()
    return Counter(type(one).__name__ for one in gc.get_objects() if isinstance(one, KINDS))


async def test_saves_leave_no_record_behind(make_bench: Any) -> None:
    bench = make_bench()
    bench.engine.evaluated = Forgets()
    async with bench.app.run_test(size=(120, 36)) as pilot:
        await bench.settled(pilot)
        counts = []
        for number in range(WARM_SAVES + SAVES):
            if number == WARM_SAVES:
                counts.append(held())
            bench.engine.script = (fakes.all_pass, fakes.some_fail)[number % 2]
            bench.watcher.save(fakes.SOURCE + f"# {number}\n".encode())
            await bench.until(pilot, lambda wanted=number + 2: bench.engine.evaluated.runs == wanted)
            await bench.settled(pilot)
        counts.append(held())
    assert counts[0] == counts[1]
    assert counts[0]["RunRecord"] > 0
