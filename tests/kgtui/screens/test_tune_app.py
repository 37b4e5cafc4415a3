"""Tuning on the screen: values are chosen, a grid runs and is stopped, a winner is written only after a yes."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from engine.model.benchmark import Interval
from kgtui.screens.tune.screen import TuneScreen
from kgtui.screens.workbench.screen import WorkbenchScreen
from kgtui.state.format.lines import plain_text
from kgtui.state.tuning.tunables import Tunables, tunables_in
from kgtui.widgets.controls.ask import Ask
from kgtui.widgets.tables.paged_grid import PagedGrid
from kgtui.widgets.text.toned import Grid, Lines
from tests.kgtui import fakes
from tests.kgtui.fakes import timed_runs

NARROW, MEDIUM, WIDE = (80, 24), (120, 36), (200, 60)
# The tunables of the kernel of the fakes are num_warps and num_stages, which no launch gives.
CHOOSE = ("u", "enter", *["backspace"] * 15, *"4 8", "enter")
SPEEDUPS = {b"num_warps=8": (1.5, 1.47, 1.53), b"num_warps=4": (1.01, 0.98, 1.04)}


def said(bench: Any) -> list[str]:
    return [note.message for note in bench.app._notifications]


def plan(bench: Any) -> list[str]:
    return plain_text(bench.app.screen.query_one("#plan", Lines).lines).splitlines()


def variants(bench: Any) -> list[list[str]]:
    return [[cell.text for cell in row.cells] for row in bench.app.screen.query_one("#variants", PagedGrid).shown]


def judged(bench: Any) -> list[bytes]:
    return [candidate.source for candidate, _ in bench.engine.evaluated]


async def ready(bench: Any, pilot: Pilot[None], *keys: str) -> None:
    await bench.until(pilot, lambda: bench.app.problems != ())
    await bench.settled(pilot)
    await pilot.press(*keys)


async def done(bench: Any, pilot: Pilot[None]) -> None:
    """The grid has ended, and what it led to is drawn."""
    await bench.until(pilot, lambda: bench.app.runs.tuning.grid.ending is not None)
    await bench.settled(pilot)


@pytest.fixture
def timed() -> Any:
    """Every variant is right and timed; num_warps=8 is the fastest."""

    def script(candidate: Any, planned: Any) -> Any:
        value, low, high = next((v for text, v in SPEEDUPS.items() if text in candidate.source), (1.0, 0.98, 1.02))
        for event in timed_runs.all_timed(candidate, planned):
            if hasattr(event, "summaries"):
                (one,) = event.summaries
                event = replace(event, summaries=(replace(one, speedup=Interval(value=value, low=low, high=high)),))
            yield event

    return script


@pytest.fixture
def gpu() -> dict[str, Any]:
    """The settings of a workbench on a GPU, with five bench cases."""
    return {"device": "cuda", "problem": timed_runs.timed_problem()}


async def test_tunables_are_never_read_in_ui_thread(make_bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    readers: list[threading.Thread] = []

    def read(source: bytes, *, chosen: Any) -> Tunables:
        readers.append(threading.current_thread())
        return tunables_in(source, chosen=chosen)

    monkeypatch.setattr("kgtui.screens.tune.tunables.tunables_in", read)
    bench = make_bench()
    async with bench.app.run_test(size=NARROW) as pilot:
        await ready(bench, pilot, *CHOOSE)
        assert plan(bench)[0].startswith("2 variants")
    assert len(readers) == 2
    assert threading.current_thread() not in readers


async def test_exit_while_reading_tunables_is_clean(make_bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    reading, go_on = threading.Event(), threading.Event()

    def read(source: bytes, *, chosen: Any) -> Tunables:
        reading.set()
        go_on.wait()
        return tunables_in(source, chosen=chosen)

    monkeypatch.setattr("kgtui.screens.tune.tunables.tunables_in", read)
    bench = make_bench()
    async with bench.app.run_test(size=NARROW) as pilot:
        await ready(bench, pilot)
        bench.app.action_show("tune")
        await asyncio.to_thread(reading.wait)
        bench.app.exit()
        asyncio.get_running_loop().call_soon(go_on.set)
    assert bench.app.return_code == 0


async def test_chosen_values_run_every_combination_and_baseline(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=NARROW) as pilot:
        await ready(bench, pilot, *CHOOSE, "r")
        await done(bench, pilot)
        base = fakes.SOURCE
        assert judged(bench)[1:] == [base, *(base.replace(b"(cols))", b"(cols), num_warps=%d)" % n) for n in (4, 8))]
        assert [row[1] for row in variants(bench)] == ["–", "4", "8"]
        assert plan(bench)[1].startswith("3/3 tried")
        assert bench.path.read_bytes() == base


async def test_each_variant_is_tagged_run_with_values_noted(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await ready(bench, pilot, *CHOOSE, "r")
        await done(bench, pilot)
        assert [(order.tag, order.note) for order in bench.recording.orders] == [
            (None, None),
            ("tune", "as it is"),
            ("tune", "num_warps=4"),
            ("tune", "num_warps=8"),
        ]


async def test_workbench_keeps_run_of_file_and_no_variant(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await ready(bench, pilot, *CHOOSE, "r")
        await done(bench, pilot)
        assert bench.app.workbench.bench.shown.number == 1


async def test_run_of_file_stopped_by_grid_is_repeated(make_bench: Any) -> None:
    bench = make_bench(fakes.stops_half_way)
    async with bench.app.run_test() as pilot:
        await bench.until(pilot, lambda: bench.app.workbench and len(bench.app.workbench.bench.view.cases) == 5)
        bench.engine.script = fakes.all_pass
        await pilot.press(*CHOOSE, "r")
        await done(bench, pilot)
        shown = bench.app.workbench.bench.shown
        assert (shown.number, shown.view.digest) == (2, bench.recording.orders[1].candidate.digest)
        assert shown.view.verdict.sentence == "right on 8 of 8 cases"
        assert not bench.app.workbench.bench.waiting


async def test_grid_on_cpu_reports_nothing_timed(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=MEDIUM) as pilot:
        await ready(bench, pilot, *CHOOSE)
        assert plan(bench)[0].endswith("nothing is timed here")
        await pilot.press("r")
        await done(bench, pilot)
        assert plan(bench)[1].endswith(
            "nothing was timed on this device, so no variant is proposed: resource usage alone does not predict speed"
        )
        await pilot.press("w")
        assert said(bench)[-1].startswith("nothing was timed on this device")
        assert not bench.app.screen.query_one(Ask).display


async def test_invalid_number_is_reported_and_can_be_corrected(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await ready(bench, pilot, "u", "enter", *["backspace"] * 15, *"four", "enter")
        assert said(bench) == ["not an integer: 'four'; expected values such as 64, 128, 256"]
        entry = bench.app.screen.query_one("#values", Input)
        assert entry.display
        await pilot.press(*["backspace"] * 4, "4", "enter")
        assert not entry.display
        assert plan(bench)[0].startswith("1 variant: ")
        await pilot.press("enter", "backspace", "enter")
        assert plan(bench)[0].startswith("enter on a tunable chooses its values")


async def test_r_without_values_states_next_step(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await ready(bench, pilot, "u", "r")
        assert said(bench) == ["enter on a tunable chooses its values; r then tries every combination, each a run"]
        assert len(judged(bench)) == 1


async def test_file_without_tunables_states_searched_names(make_bench: Any) -> None:
    bench = make_bench(content=b"def softmax(x, dim):\n    return x\n")
    async with bench.app.run_test() as pilot:
        await ready(bench, pilot, "u", "r")
        assert plan(bench)[0].startswith("no tunable parameters found.  Each of these would be one:")
        assert said(bench) == [plan(bench)[0]]


async def test_first_escape_stops_grid(make_bench: Any) -> None:
    bench = make_bench()

    def two_then_nothing(candidate: Any, planned: Any) -> Any:
        return (fakes.stops_half_way if b"num_warps=8" in candidate.source else fakes.all_pass)(candidate, planned)

    async with bench.app.run_test() as pilot:
        bench.engine.script = two_then_nothing
        await ready(bench, pilot, *CHOOSE, "r")
        await bench.until(pilot, lambda: len(bench.app.runs.tuning.grid.tried) == 2 and len(judged(bench)) == 4)
        await pilot.press("escape")
        assert plan(bench)[1].startswith("stopped, 2/3 tried; ")
        await bench.settled(pilot)
        assert [row[1] for row in variants(bench)] == ["–", "4"]
        assert bench.engine.cancelled == 1
        await pilot.press("escape")
        assert isinstance(bench.app.screen, WorkbenchScreen)


@pytest.mark.parametrize("paused", [False, True], ids=["running", "paused"])
async def test_save_stops_grid_with_message(make_bench: Any, paused: bool) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await ready(bench, pilot, *(("p",) if paused else ()), *CHOOSE)
        bench.engine.script = fakes.stops_half_way
        await pilot.press("r")
        await bench.until(pilot, lambda: len(judged(bench)) == 2)
        bench.engine.script = fakes.all_pass
        bench.watcher.save(bench.path.read_bytes() + b"# another\n")
        await done(bench, pilot)
        assert plan(bench)[1] == "stopped: softmax.py was saved, 0/3 tried; r tunes the new version"
        assert len(judged(bench)) == (2 if paused else 3)


async def test_another_run_stops_the_grid_too(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await ready(bench, pilot, *CHOOSE)
        bench.engine.script = fakes.stops_half_way
        await pilot.press("r")
        await bench.until(pilot, lambda: len(judged(bench)) == 2)
        bench.engine.script = fakes.all_pass
        bench.app.workbench.action_run_again()
        await done(bench, pilot)
        assert plan(bench)[1].startswith("stopped, 0/3 tried")
        assert bench.app.workbench.bench.view.verdict.sentence == "right on 8 of 8 cases"


async def test_winner_is_written_after_yes_and_verified(make_bench: Any, timed: Any, gpu: dict[str, Any]) -> None:
    bench = make_bench(timed, **gpu)
    async with bench.app.run_test(size=MEDIUM) as pilot:
        await ready(bench, pilot, *CHOOSE, "r")
        await done(bench, pilot)
        before = bench.path.read_bytes()
        patch = plain_text(bench.app.screen.query_one("#patch", Lines).lines)
        assert "+    softmax_kernel[(rows,)](x, y, cols, BLOCK=triton.next_power_of_2(cols), num_warps=8)" in patch
        await pilot.press("w")
        assert bench.app.screen.query_one(Ask).question == "Write num_warps=8 into softmax.py?"
        assert bench.path.read_bytes() == before
        await pilot.press("y")
        await bench.settled(pilot)
        assert bench.path.read_bytes() == before.replace(b"(cols))", b"(cols), num_warps=8)")
        assert judged(bench)[-1] == bench.path.read_bytes() == bench.app.workbench.source.content
        assert said(bench) == ["softmax.py was written with num_warps=8"]
        assert plan(bench)[1] == "num_warps=8 was written into softmax.py; details below"


@pytest.mark.parametrize("keys", [("w", "escape"), ("w", "n", "escape"), ("y",), ("w", "escape", "y")], ids=str)
async def test_nothing_is_written_without_a_yes(
    make_bench: Any, timed: Any, gpu: dict[str, Any], keys: tuple[str, ...]
) -> None:
    bench = make_bench(timed, **gpu)
    async with bench.app.run_test(size=MEDIUM) as pilot:
        await ready(bench, pilot, *CHOOSE, "r")
        await done(bench, pilot)
        before = bench.path.read_bytes()
        await pilot.press(*keys)
        await bench.settled(pilot)
        assert bench.path.read_bytes() == before
        assert isinstance(bench.app.screen, TuneScreen)
        assert not bench.app.screen.query_one(Ask).display


async def test_unnoticed_changed_file_is_not_written(make_bench: Any, timed: Any, gpu: dict[str, Any]) -> None:
    bench = make_bench(timed, **gpu)
    async with bench.app.run_test() as pilot:
        await ready(bench, pilot, *CHOOSE, "r")
        await done(bench, pilot)
        bench.path.write_bytes(b"# mine\n")
        await pilot.press("w", "y")
        assert bench.path.read_bytes() == b"# mine\n"
        assert said(bench) == [
            "softmax.py has changed since it was tuned, so nothing was written; r tunes the new version"
        ]


async def test_unsaved_text_is_kept_and_not_tuned(make_bench: Any, timed: Any, gpu: dict[str, Any]) -> None:
    bench = make_bench(timed, **gpu)
    async with bench.app.run_test() as pilot:
        await ready(bench, pilot, *CHOOSE, "r")
        await done(bench, pilot)
        before = bench.path.read_bytes()
        await pilot.press("escape", "e", "x", "escape", "u", "w", "y", "r")
        assert bench.path.read_bytes() == before
        assert bench.app.workbench.source.content == b"x" + before
        assert said(bench) == [
            "softmax.py has unsaved text, which writing would lose: save or discard it first",
            "softmax.py has unsaved text, which would not be tried: ctrl+s saves it",
        ]


async def test_enter_on_variant_opens_its_run(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await ready(bench, pilot, *CHOOSE, "r")
        await done(bench, pilot)
        await pilot.press("j", "enter")
        await bench.settled(pilot)
        assert isinstance(bench.app.screen, WorkbenchScreen)
        assert bench.app.screen.bench.shown.number == 3
        assert b"num_warps=4" in bench.app.screen.source.content


async def test_unsaved_variant_is_reported(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await ready(bench, pilot)
        bench.recording.refuses = "the disk is full"
        await pilot.press(*CHOOSE, "r")
        await done(bench, pilot)
        await pilot.press("enter")
        assert said(bench)[-1] == "this run was not saved, so it cannot be opened"


async def test_the_end_is_reported_on_another_screen(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(notifications=True) as pilot:
        await ready(bench, pilot, *CHOOSE)
        bench.engine.script = fakes.stops_half_way
        await pilot.press("r", "ctrl+o")
        await bench.until(pilot, lambda: len(judged(bench)) == 2)
        bench.app.runs.cancel()
        await done(bench, pilot)
        assert said(bench) == ["tuning: stopped, 0/3 tried; r restarts"]


async def test_variants_are_sorted_by_column_both_ways(make_bench: Any, timed: Any, gpu: dict[str, Any]) -> None:
    bench = make_bench(timed, **gpu)
    async with bench.app.run_test(size=WIDE) as pilot:
        await ready(bench, pilot, *CHOOSE, "r")
        await done(bench, pilot)
        await pilot.press("s", "s", "s", "s")
        assert [row[1] for row in variants(bench)] == ["8", "4", "–"]
        await pilot.press("S")
        assert [row[1] for row in variants(bench)] == ["4", "8", "–"]


async def test_y_copies_values_and_capital_y_table(make_bench: Any, timed: Any, gpu: dict[str, Any]) -> None:
    bench = make_bench(timed, **gpu)
    async with bench.app.run_test(size=WIDE) as pilot:
        await ready(bench, pilot, *CHOOSE, "y")
        assert bench.app.clipboard == "4, 8"
        await pilot.press("r")
        await done(bench, pilot)
        await pilot.press("j", "j", "y")
        assert bench.app.clipboard == "num_warps=8"
        await pilot.press("Y")
        assert bench.app.clipboard.startswith("### aten::softmax: 3 of 3 variants tried\n")
        assert "num_warps=8 was measured to be the fastest:" in bench.app.clipboard


async def test_other_file_starts_without_variants(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await ready(bench, pilot, *CHOOSE, "r")
        await done(bench, pilot)
        other = bench.path.with_name("other.py")
        other.write_bytes(b"BLOCK = 64\n")
        bench.app.open_file(bench.app.problems[1], other)
        await bench.settled(pilot)
        await pilot.press("u")
        assert variants(bench) == []
        assert [row.key for row in bench.app.screen.query_one("#tunables", Grid).shown] == ["BLOCK"]


# Pictures


def test_ascii_question_before_writing_winner_matches_snapshot(
    make_bench: Any, timed: Any, gpu: dict[str, Any], snap_compare: Any
) -> None:
    bench = make_bench(timed, ascii=True, **gpu)

    async def drive(pilot: Pilot[None]) -> None:
        await ready(bench, pilot, *CHOOSE, "r")
        await done(bench, pilot)
        await pilot.press("w")
        await pilot.pause()

    assert snap_compare(bench.app, terminal_size=NARROW, run_before=drive)
