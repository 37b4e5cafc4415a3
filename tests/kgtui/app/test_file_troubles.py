"""Files that are gone, polled or not text, and the messages about them."""

from __future__ import annotations

from typing import Any

from kgtui.state.workbench.status import Mode
from kgtui.widgets.controls.bars import Bar
from tests.kgtui.app.workbench_state import strip, workbench


def offered_keys(bench: Any) -> list[str]:
    return [segment.key for segment in workbench(bench).query_one("#keys", Bar).segments]


async def test_missing_file_is_reported_until_recreated(make_bench: Any) -> None:
    from kgtui.ports.file_events import TroubleKind, WatchTrouble

    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        for kind, message, shown in (
            (TroubleKind.GONE, "softmax.py is gone", "softmax.py is gone"),
            (TroubleKind.BACK, "softmax.py is back", "right on 8 of 8 cases"),
        ):
            bench.watcher.on_trouble(WatchTrouble(kind=kind, path=bench.path, message=message))
            await bench.until(pilot, lambda words=shown: strip(bench)[2] == words)  # type: ignore[misc]


async def test_missing_file_is_reported_through_every_run(make_bench: Any) -> None:
    from kgtui.ports.file_events import TroubleKind, WatchTrouble

    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        gone = WatchTrouble(kind=TroubleKind.GONE, path=bench.path, message="softmax.py is gone")
        bench.watcher.on_trouble(gone)
        await bench.until(pilot, lambda: strip(bench)[2] == "softmax.py is gone")
        await pilot.press("r")
        await bench.settled(pilot)
        assert len(bench.engine.evaluated) == 2
        assert strip(bench)[2] == "softmax.py is gone"


async def test_polled_file_is_reported_until_next_run(make_bench: Any) -> None:
    from kgtui.ports.file_events import TroubleKind, WatchTrouble

    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        polled = WatchTrouble(kind=TroubleKind.POLLING, path=bench.path, message="softmax.py is polled")
        bench.watcher.on_trouble(polled)
        await bench.until(pilot, lambda: strip(bench)[2] == "softmax.py is polled")
        await pilot.press("r")
        await bench.settled(pilot)
        assert strip(bench)[2] == "right on 8 of 8 cases"


async def test_undecodable_bytes_are_shown_read_only(make_bench: Any) -> None:
    bench = make_bench(content=b"\x00\xff[red]")
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e")
        assert workbench(bench).bench.mode is Mode.WATCH


async def test_editing_is_offered_only_where_possible(make_bench: Any) -> None:
    bench = make_bench(content=b"\x00\xff[red]")
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        assert "screen.edit" not in offered_keys(bench)
        bench.watcher.save(b"x = 1\n")
        await bench.settled(pilot)
        assert "screen.edit" in offered_keys(bench)
        await pilot.press("5", "j", "enter")
        await bench.until(pilot, lambda: workbench(bench).bench.old is not None)
        without = offered_keys(bench)
        await pilot.press("escape")
        usual = offered_keys(bench)
        assert "screen.edit" in usual
        assert without == [key for key in usual if key != "screen.edit"]
