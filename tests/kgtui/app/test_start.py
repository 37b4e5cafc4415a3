"""The start of the application, before and after its engine is there."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from kgtui.app import application
from kgtui.screens.workbench.screen import WorkbenchScreen
from kgtui.state.format.glyphs import State
from kgtui.state.format.lines import plain_text
from kgtui.widgets.controls.bars import Strip
from tests.kgtui import fakes
from tests.kgtui.app.workbench_state import state, strip, workbench


async def test_started_is_called_once_with_catalogue_and_store(
    make_bench: Any,
) -> None:
    bench, reported = make_bench(), []
    bench.app._started = lambda: reported.append(
        (bench.app.problems != (), bench.app.run_history.recording is not None)
    )
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


async def test_first_frame_shows_the_stored_run(make_bench: Any) -> None:
    first = make_bench(fakes.some_fail)
    async with first.app.run_test() as pilot:
        await first.settled(pilot)
    again = make_bench(recording=first.recording)
    again.engine.starts = False
    frames = recorded_frames(again)
    async with again.app.run_test(size=(120, 36)) as pilot:
        await again.until(pilot, lambda: frames != [])
    words = ("cached #1", "2 of 8 cases failed", "expected  0.031622776", "starting")
    assert [part in frames[0] for part in words] == [True, True, True, False]


async def test_first_frame_does_not_wait_for_locked_store(make_bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(application, "STORED_RUN_LIMIT_S", 0.0)
    first = make_bench()
    async with first.app.run_test() as pilot:
        await first.settled(pilot)
    again, unlocked = make_bench(recording=first.recording), threading.Event()
    first.recording.open_or_raise = unlocked.wait
    frames = recorded_frames(again)
    async with again.app.run_test() as pilot:
        await again.until(pilot, lambda: frames != [])
        unlocked.set()
        await again.settled(pilot)
        assert ("starting engine" in frames[0], strip(again)[0].split()[1]) == (True, "passed")


async def test_reopened_changed_file_waits_for_engine(make_bench: Any) -> None:
    first = make_bench()
    async with first.app.run_test() as pilot:
        await first.settled(pilot)
    again = make_bench(recording=first.recording, content=b"other\n")
    async with again.app.run_test() as pilot:
        await again.settled(pilot)
        assert [candidate.source for candidate, _ in again.engine.evaluated] == [b"other\n"]


def recorded_frames(bench: Any) -> list[str]:
    """The text of each frame of the workbench, from its first on."""
    frames: list[str] = []

    def record() -> None:
        screen = bench.app.screen
        if isinstance(screen, WorkbenchScreen) and not bench.app._batch_count:  # in a batch nothing is displayed
            frames.append("\n".join(strip.text for strip in screen._compositor.render_strips()))

    bench.app.post_display_hook = record
    return frames
