"""Runs side by side on the screen: marked or the best against the current one, in every size, by keys alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from engine.model import Candidate
from engine.model.benchmark import Interval
from kgtui.ports.protocols import BestRun
from kgtui.screens.compare.screen import CompareScreen
from kgtui.screens.workbench.screen import WorkbenchScreen
from kgtui.state.compare.alignment import aligned
from kgtui.state.format.lines import plain_text
from kgtui.widgets.controls.bars import Bar, Strip
from kgtui.widgets.text.side_by_side import SideBySide
from kgtui.widgets.text.toned import Grid, Lines
from tests.kgtui import fakes
from tests.kgtui.fakes import stored_runs, timed_runs

NARROW, MEDIUM, WIDE = (80, 24), (120, 36), (200, 60)


@pytest.fixture
def runs(tmp_path: Path) -> Any:
    """A store to which the tests add the runs that they need."""
    return stored_runs.Runs(tmp_path)


@pytest.fixture
def gpu_runs(tmp_path: Path) -> Any:
    """The same of a device that can time."""
    return stored_runs.Runs(tmp_path, device="cuda")


@pytest.fixture
def open_on(make_bench: Any) -> Callable[..., Any]:
    """The application on this store, with a text open that was not run before."""

    def make(kept: Any, **settings: Any) -> Any:
        return make_bench(
            recording=kept.recording,
            device=kept.device,
            problem=timed_runs.timed_problem(),
            content=b"# mine\n" + fakes.SOURCE,
            **settings,
        )

    return make


@pytest.fixture
def four(runs: Any) -> Any:
    """Four texts: right, right, wrong, and one that a model wrote, with a note."""
    runs.add(fakes.all_pass)
    runs.add(fakes.all_pass, stored_runs.SECOND)
    runs.add(fakes.some_fail, stored_runs.THIRD)
    runs.answered(stored_runs.FOURTH)
    runs.add(stored_runs.hinted, stored_runs.FOURTH)
    runs.store.set_note(4, "with [os] 形状 🚀")
    return runs


@pytest.fixture
def two_timed(gpu_runs: Any) -> Any:
    """Two texts that were timed, the second faster."""
    gpu_runs.add(timed_runs.all_timed, stored_runs.SECOND)
    gpu_runs.add(stored_runs.faster(1.2), stored_runs.FOURTH)
    return gpu_runs


async def ready(bench: Any, pilot: Pilot[None]) -> None:
    await bench.until(pilot, lambda: bench.app.problems != () and bench.app.run_history.recording is not None)
    await settled(bench, pilot)


async def settled(bench: Any, pilot: Pilot[None]) -> None:
    await bench.settled(pilot)
    while any(worker.group in ("compare", "pages", "way") and worker.is_running for worker in bench.app.workers):
        await pilot.pause()
    await pilot.pause()


async def pressed(bench: Any, pilot: Pilot[None], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await settled(bench, pilot)


def screen_of(bench: Any) -> CompareScreen:
    screen = bench.app.screen
    assert isinstance(screen, CompareScreen)
    return screen


def heads(bench: Any) -> list[str]:
    return plain_text(tuple(left for left, _ in screen_of(bench).query_one("#sides", Strip).rows)).splitlines()


def nothing(bench: Any) -> str:
    return plain_text(screen_of(bench).query_one("#empty", Lines).lines)


def sources(bench: Any) -> SideBySide:
    return screen_of(bench).query_one(SideBySide)


def said(bench: Any) -> list[str]:
    return [note.message for note in bench.app._notifications]


def under_cursor(bench: Any) -> list[str]:
    view = sources(bench)
    cells = view.alignment.rows[view.cursor_row].cells
    return [f"{cells[column].change}{cells[column].text.strip()}" for column in view.columns]


async def test_c_compares_last_other_passing_version_with_current(open_on: Any, four: Any) -> None:
    bench = open_on(four)
    async with bench.app.run_test(size=MEDIUM) as pilot:
        await ready(bench, pilot)
        current = bench.app.workbench.bench.shown.number
        await pressed(bench, pilot, "c")
        assert heads(bench)[0] == ("Compare aten::softmax  no best run yet; #4 is the newest other that passed")
        assert [line[:2] for line in heads(bench)[1:]] == ["#4", f"#{current}"]


async def test_last_line_is_visible_above_horizontal_scrollbar() -> None:
    class Bench(App[None]):
        CSS = "SideBySide { height: 1fr; scrollbar-size: 1 1; }"

        def compose(self) -> ComposeResult:
            yield SideBySide()

    text = tuple("long " * 30 for _ in range(60))
    app = Bench()
    async with app.run_test(size=(80, 20)) as pilot:
        view = app.query_one(SideBySide)
        view.show(aligned([text, (*text, "the last")]), columns=(0, 1), colours=(lambda _: (), lambda _: ()))
        view.next_difference(1)
        await pilot.pause()
        assert view.show_horizontal_scrollbar
        assert view.cursor_row - round(view.scroll_y) < view.scrollable_content_region.height


async def test_c_compares_the_best_with_the_current_one(open_on: Any, two_timed: Any) -> None:
    best = BestRun(number=2, baseline="eager", speedup=Interval(value=1.5, low=1.4, high=1.6))
    two_timed.recording.best = lambda order: best
    bench = open_on(two_timed, script=timed_runs.all_timed)
    async with bench.app.run_test(size=MEDIUM) as pilot:
        await ready(bench, pilot)
        await pressed(bench, pilot, "c")
        assert heads(bench)[0].endswith("#2, the best run so far, against #3, the current run")
        assert heads(bench)[2].startswith("#3    ✔ pass 8/8  ▼ 0.83× ±0.01 #2, slower")


async def test_two_runs_marked_in_history_tab_are_compared(open_on: Any, four: Any) -> None:
    bench = open_on(four)
    async with bench.app.run_test(size=MEDIUM) as pilot:
        await ready(bench, pilot)
        await pressed(bench, pilot, "5", "G", "space", "k", "k", "space")
        rows = bench.app.screen.query_one("#history-table", Grid).shown
        assert [row.cells[0].text for row in rows][-3:] == ["●#3", "#2", "●#1"]
        await pressed(bench, pilot, "c")
        assert heads(bench)[0].endswith("marked")
        assert [line.split()[0] for line in heads(bench)[1:]] == ["#1", "#3"]


async def test_fifth_run_marked_in_history_is_refused(open_on: Any, four: Any) -> None:
    bench = open_on(four)
    async with bench.app.run_test(size=WIDE, notifications=True) as pilot:
        await ready(bench, pilot)
        await pressed(bench, pilot, "f8", "j", *["space", "j"] * 4, "g", "space")
        assert said(bench) == ["#1, #2, #3, #4 are marked, and more than 4 do not fit side by side; space unmarks one"]
        await pressed(bench, pilot, "c")
        assert sources(bench).columns == (0, 1, 2, 3)
        assert "with [os] 形状 🚀" in heads(bench)[4]
        assert "a model [8b] 模型" in heads(bench)[4]


async def test_c_in_history_compares_run_with_current(open_on: Any, four: Any) -> None:
    bench = open_on(four)
    async with bench.app.run_test(size=MEDIUM) as pilot:
        await ready(bench, pilot)
        await pressed(bench, pilot, "f8", "G", "c")
        assert heads(bench)[0].endswith("#1, which was marked, against #5, the current run")
        await pressed(bench, pilot, "escape")
        assert bench.app.run_history.marked == (1,)


async def test_n_moves_between_differences(open_on: Any, four: Any) -> None:
    bench = open_on(four)
    bench.app.run_history.marked = (1, 2)
    async with bench.app.run_test(size=MEDIUM, notifications=True) as pilot:
        await ready(bench, pilot)
        await pressed(bench, pilot, "c")
        assert under_cursor(bench) == ["~x = x - tl.max(x, axis=0)", "~x = x - tl.max(x, axis=0)  # 形状 🚀"]
        await pressed(bench, pilot, "n")
        assert under_cursor(bench) == [" ", "+assert dim == 1"]
        await pressed(bench, pilot, "n")
        assert said(bench) == ["no further difference in this direction"]
        await pressed(bench, pilot, "N")
        assert under_cursor(bench)[0] == "~x = x - tl.max(x, axis=0)"


async def test_the_sources_scroll_as_one_down_and_sideways(open_on: Any, four: Any) -> None:
    bench = open_on(four)
    bench.app.run_history.marked = (1, 2)
    async with bench.app.run_test(size=(100, 20)) as pilot:
        await ready(bench, pilot)
        await pressed(bench, pilot, "c", "G", "l")
        view = sources(bench)
        assert view.cursor_row == len(view.alignment.rows) - 1
        assert view.scroll_offset.x == 8
        drawn = view.render_line(view.cursor_row - view.scroll_offset.y).text
        assert drawn.count("rn y") == 2


async def test_narrow_terminal_shows_two_sources_in_one_column(open_on: Any, four: Any) -> None:
    bench = open_on(four)
    bench.app.run_history.marked = (1, 2, 3)
    async with bench.app.run_test(size=NARROW) as pilot:
        await ready(bench, pilot)
        await pressed(bench, pilot, "c")
        assert sources(bench).columns == (0,)
        titles = screen_of(bench).query_one("#titles", Lines)
        assert plain_text(titles.lines).startswith("- #1 softmax.py ▸ + #2 softmax.py")
        await pressed(bench, pilot, "right_square_bracket")
        assert plain_text(titles.lines).startswith("- #1 softmax.py ▸ + #3 softmax.py")


async def test_numbers_select_parts_and_tab_continues(open_on: Any, four: Any) -> None:
    bench = open_on(four)
    bench.app.run_history.marked = (1, 3)
    async with bench.app.run_test(size=MEDIUM) as pilot:
        await ready(bench, pilot)
        await pressed(bench, pilot, "c", "2")
        grid = screen_of(bench).query_one("#table", Grid)
        assert grid.shown[0].cells[-1].text == "regressed"
        assert "worst at [3, 127]" in plain_text(screen_of(bench).query_one("#about", Lines).lines)
        await pressed(bench, pilot, "tab")
        assert nothing(bench).startswith("#1 ran on the CPU")
        await pressed(bench, pilot, "6")
        assert grid.shown[0].key == "model"
        await pressed(bench, pilot, "shift+tab", "shift+tab")
        active = [segment.key for segment in screen_of(bench).query_one("#tabs", Bar).segments if segment.active]
        assert active == ["resources"]


async def test_b_compares_the_best_whatever_is_marked(open_on: Any, four: Any) -> None:
    bench = open_on(four)
    bench.app.run_history.marked = (1, 2, 3)
    async with bench.app.run_test(size=MEDIUM) as pilot:
        await ready(bench, pilot)
        await pressed(bench, pilot, "c", "b")
        assert len(heads(bench)) == 3
        assert bench.app.run_history.marked == (1, 2, 3)


async def test_file_with_one_version_states_next_step(open_on: Any, runs: Any) -> None:
    bench = open_on(runs)
    async with bench.app.run_test(size=NARROW) as pilot:
        await ready(bench, pilot)
        await pressed(bench, pilot, "c")
        assert nothing(bench).startswith(
            "no other version of this operator in the history; save another one, or mark two"
        )


async def test_deleted_run_is_unmarked_and_reported(open_on: Any, four: Any) -> None:
    bench = open_on(four)
    async with bench.app.run_test(size=NARROW) as pilot:
        await ready(bench, pilot)
        bench.app.run_history.marked = (1, 99)
        await pressed(bench, pilot, "c")
        assert nothing(bench).startswith("there is no run #99")
        assert bench.app.run_history.marked == (1,)


async def test_comparison_on_cpu_reports_nothing_measured(open_on: Any, four: Any) -> None:
    bench = open_on(four)
    bench.app.run_history.marked = (1, 2)
    async with bench.app.run_test(size=NARROW, notifications=True) as pilot:
        await ready(bench, pilot)
        await pressed(bench, pilot, "c", "m")
        assert said(bench) == ["kernels are executed on the CPU here: timings are meaningless, so nothing is timed"]


async def test_m_times_two_sides_alternately(open_on: Any, two_timed: Any) -> None:
    from engine.model.benchmark import Standing

    bench = open_on(two_timed, script=timed_runs.all_timed)
    bench.app.run_history.marked = (1, 2)
    async with bench.app.run_test(size=MEDIUM) as pilot:
        await ready(bench, pilot)
        await pressed(bench, pilot, "c")
        first = Candidate(source=stored_runs.SECOND, problem="")
        bench.engine.script = stored_runs.beside(first, 1.25, Standing.FASTER)
        await pressed(bench, pilot, "m")
        ((candidate, other),) = bench.engine.compared
        assert (candidate.source, other.source) == (stored_runs.FOURTH, stored_runs.SECOND)
        assert heads(bench)[0].endswith("timed interleaved on the device")
        assert heads(bench)[2].startswith("#4    ✔ pass 8/8  ▲ 1.25× ±0.01 #1, faster")


async def test_failing_side_is_not_measured(open_on: Any, gpu_runs: Any) -> None:
    gpu_runs.add(timed_runs.all_timed)
    gpu_runs.add(timed_runs.fails_before_it_is_timed, stored_runs.THIRD)
    bench = open_on(gpu_runs, script=timed_runs.all_timed)
    bench.app.run_history.marked = (1, 2)
    async with bench.app.run_test(size=MEDIUM, notifications=True) as pilot:
        await ready(bench, pilot)
        await pressed(bench, pilot, "c", "m")
        assert said(bench)[-1] == "#2 did not pass without a flag, so it is not timed"
        assert bench.engine.compared == []


async def test_save_while_comparing_is_compared_after_verdict(open_on: Any, four: Any) -> None:
    bench = open_on(four)
    async with bench.app.run_test(size=MEDIUM) as pilot:
        await ready(bench, pilot)
        await pressed(bench, pilot, "c")
        bench.watcher.save(b"# another\n" + fakes.SOURCE)
        await bench.until(pilot, lambda: bench.app.workbench.bench.live.number == 6)
        await settled(bench, pilot)
        assert heads(bench)[2].startswith("#6    ✔ pass 8/8")


async def test_y_copies_row_and_capital_y_all(open_on: Any, four: Any) -> None:
    bench = open_on(four)
    bench.app.run_history.marked = (1, 2)
    async with bench.app.run_test(size=MEDIUM) as pilot:
        await ready(bench, pilot)
        await pressed(bench, pilot, "c", "y")
        assert bench.app.clipboard == "    x = x - tl.max(x, axis=0)\n    x = x - tl.max(x, axis=0)  # 形状 🚀"
        await pressed(bench, pilot, "2", "y")
        assert bench.app.clipboard == "1x781 f32  ✔ pass  ✔ pass  same"
        await pressed(bench, pilot, "Y")
        assert bench.app.clipboard.startswith("### aten::softmax: #1 against #2\n")


async def test_escape_returns_to_previous_screen(open_on: Any, four: Any) -> None:
    bench = open_on(four)
    async with bench.app.run_test(size=MEDIUM) as pilot:
        await ready(bench, pilot)
        await pressed(bench, pilot, "c", "escape")
        assert isinstance(bench.app.screen, WorkbenchScreen)


# Pictures


def test_ascii_sources_without_colour_match_snapshot(
    open_on: Any, four: Any, snap_compare: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    bench = open_on(four, ascii=True)

    async def drive(pilot: Pilot[None]) -> None:
        await ready(bench, pilot)
        bench.app.run_history.marked = (1, 2)
        await pressed(bench, pilot, "c")

    assert snap_compare(bench.app, terminal_size=MEDIUM, run_before=drive)
