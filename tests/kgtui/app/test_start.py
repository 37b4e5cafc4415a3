"""The start of the application, before and after its engine is there."""

from __future__ import annotations

from typing import Any

from kgtui.state.format.glyphs import State
from kgtui.state.format.lines import plain_text
from kgtui.widgets.controls.bars import Strip
from tests.kgtui import fakes
from tests.kgtui.app.workbench_state import state, strip, workbench


async def test_started_is_called_once_with_catalogue_and_store(
    make_bench: Any,
) -> None:
    bench, reported = make_bench(), []
    bench.app._started = lambda: reported.append((bench.app.problems != (), bench.app.past.recording is not None))
    async with bench.app.run_test() as pilot:
        await bench.until(pilot, lambda: reported != [])
        await bench.settled(pilot)
    assert reported == [(True, True)]


async def test_run_is_cancelled_before_engine_is_ready(make_bench: Any) -> None:
    bench = make_bench(fakes.all_pass)
    bench.engine.starts = False
    async with bench.app.run_test() as pilot:
        await bench.until(
            pilot,
            lambda: bench.app.workbench is not None and strip(bench)[-1] == "starting engine...",
        )
        await pilot.press("escape")
        assert strip(bench)[-1] == "save the file to run it"
        assert not bench.app.runs.busy


async def test_reopened_file_shows_last_run_before_engine(make_bench: Any) -> None:
    problem = fakes.softmax_problem()
    first = make_bench(problem=problem)
    async with first.app.run_test() as pilot:
        await first.settled(pilot)
    again = make_bench(recording=first.recording, problem=problem)
    again.engine.starts = False
    async with again.app.run_test() as pilot:
        await again.until(pilot, lambda: state(again) is State.PASSED)
        right = plain_text((workbench(again).query_one("#verdict", Strip).rows[0][1],))
        assert (right, again.engine.started) == ("cached #1  WATCH", False)


async def test_reopened_file_with_new_content_waits_for_the_engine(make_bench: Any) -> None:
    first = make_bench()
    async with first.app.run_test() as pilot:
        await first.settled(pilot)
    again = make_bench(recording=first.recording, content=b"other\n")
    async with again.app.run_test() as pilot:
        await again.settled(pilot)
        assert [candidate.source for candidate, _ in again.engine.evaluated] == [b"other\n"]
