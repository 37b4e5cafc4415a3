"""Judging the smoke cases alone: by the file's directive, by a key, and as the strip says it."""

from __future__ import annotations

from typing import Any

from engine.model import Tier
from kgtui.state.format.lines import plain_text
from kgtui.widgets.controls.bars import Strip
from kgtui.widgets.text.toned import Grid
from tests.kgtui import fakes


def tiers(bench: Any) -> set[Tier]:
    return {case.tier for case in bench.engine.evaluated[-1][1].cases}


def mode(bench: Any) -> str:
    return plain_text((bench.app.screen.query_one("#verdict", Strip).rows[0][1],)).split("  ")[-1]


async def test_directive_of_file_selects_smoke_cases(make_bench: Any) -> None:
    bench = make_bench(content=b"# kgtui: op=aten::softmax cases=smoke\n" + fakes.SOURCE)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        assert tiers(bench) == {Tier.SMOKE}
        assert mode(bench) == "SMOKE WATCH"
        assert len(bench.app.screen.query_one("#cases-table", Grid).shown) == 4
        bench.watcher.save(fakes.SOURCE)
        await bench.settled(pilot)
        assert tiers(bench) == {Tier.SMOKE, Tier.FULL}
        assert mode(bench) == "WATCH"


async def test_key_toggles_smoke_cases(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("s")
        await bench.settled(pilot)
        assert tiers(bench) == {Tier.SMOKE}
        await pilot.press("v")
        await bench.settled(pilot)
        assert tiers(bench) == {Tier.SMOKE, Tier.FULL}
        await pilot.press("s")
        await bench.settled(pilot)
        assert mode(bench) == "WATCH"
        assert len(bench.engine.evaluated) == 3  # the last is answered by the first


async def test_smoke_cases_are_not_timed(make_bench: Any) -> None:
    bench = make_bench(device="cuda")
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        assert bench.engine.evaluated[-1][1].benchmark is not None
        await pilot.press("s")
        await bench.settled(pilot)
        assert bench.engine.evaluated[-1][1].benchmark is None
        await pilot.press("b")
        await bench.settled(pilot)
        assert bench.engine.evaluated[-1][1].benchmark is not None
