"""The application on a GPU: a save that times, b and v, the bench tab, and the plot on its own screen."""

from __future__ import annotations

from typing import Any

import pytest

from engine.model.benchmark import Interval
from kgtui.ports.protocols import BestRun
from kgtui.screens.bench.screen import BenchScreen
from kgtui.screens.operators.screen import OperatorsScreen
from kgtui.screens.workbench.screen import WorkbenchScreen
from kgtui.state.bench.sizes import Measure, Over
from kgtui.state.bench.static_cost import EXECUTED_ON_CPU
from kgtui.state.format.lines import plain_text
from kgtui.widgets.controls.bars import Bar, Strip
from kgtui.widgets.panes.bench import BenchPane
from kgtui.widgets.tables.plot_view import PlotView
from kgtui.widgets.text.toned import Grid, Lines
from tests.kgtui import fakes
from tests.kgtui.fakes import timed_runs


@pytest.fixture
def on_gpu(make_bench: Any) -> Any:
    """A maker of applications on a GPU, on a problem with five bench cases."""

    def make(script: str = "all_timed", **settings: Any) -> Any:
        options = {"device": "cuda", "problem": timed_runs.timed_problem(), **settings}
        return make_bench(getattr(timed_runs, script), **options)

    return make


def workbench(bench: Any) -> WorkbenchScreen:
    screen = bench.app.screen
    assert isinstance(screen, WorkbenchScreen)
    return screen


def pane(bench: Any) -> BenchPane:
    return workbench(bench).query_one(BenchPane)


def table(bench: Any) -> dict[str, list[str]]:
    return {
        row.key: [cell.text for cell in row.cells] for row in bench.app.screen.query_one("#bench-table", Grid).shown
    }


def note(bench: Any) -> str:
    return plain_text(pane(bench).query_one("#bench-note", Lines).lines)


async def test_opened_file_on_gpu_is_verified_and_timed(on_gpu: Any) -> None:
    bench = on_gpu()
    async with bench.app.run_test(size=(120, 36)) as pilot:
        await bench.settled(pilot)
        (_, plan), *_ = bench.engine.evaluated
        assert [case.tier for case in plan.benchmark.cases] == ["bench"] * 5
        assert {case.tier for case in plan.cases} == {"smoke", "full"}
        right = [plain_text((line,)) for _, line in workbench(bench).query_one("#verdict", Strip).rows]
        assert right[1] == "78% peak  ▲ 1.32× ±0.03 eager"


@pytest.mark.parametrize(
    ("script", "right"),
    [
        ("all_timed", ["78% peak  ▲ 1.32× ±0.03 eager", "best #38 1.41× ±0.02 eager  I inspect"]),
        ("fails_before_it_is_timed", ["best #38 1.41× ±0.02 eager", "W why"]),
    ],
)
@pytest.mark.parametrize("width", [80, 120])
async def test_best_run_is_shown_where_space_allows(on_gpu: Any, script: str, right: list[str], width: int) -> None:
    best = BestRun(number=38, baseline="eager", speedup=Interval(value=1.41, low=1.39, high=1.43))
    bench = on_gpu(script, recording=fakes.MemoryRecording(fastest=best))
    async with bench.app.run_test(size=(width, 36)) as pilot:
        await bench.settled(pilot)
        strip = workbench(bench).query_one("#verdict", Strip)
        assert [plain_text((line,)) for _, line in strip.rows[1:]] == right


async def test_no_run_is_best_without_timing_device(on_gpu: Any) -> None:
    best = BestRun(number=38, baseline="eager", speedup=Interval(value=1.41, low=1.39, high=1.43))
    bench = on_gpu("all_timed", device="cpu", recording=fakes.MemoryRecording(fastest=best))
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        right = [plain_text((line,)) for _, line in workbench(bench).query_one("#verdict", Strip).rows[1:]]
        assert right == ["", "I inspect"]


async def test_the_tabs_are_numbered_in_their_order(on_gpu: Any) -> None:
    bench = on_gpu()
    async with bench.app.run_test(size=(120, 36)) as pilot:
        await bench.settled(pilot)
        names = []
        for key in "123456":
            await pilot.press(key)
            names.append(workbench(bench).tabs.shown)
        assert names == ["cases", "findings", "bench", "ir", "history", "log"]
        titles = [plain_text((segment.line,)) for segment in workbench(bench).query_one("#tabs", Bar).segments]
        assert titles == ["1 Cases", "2 Findings", "3 Bench", "4 IR(1)", "5 History", "6 Log"]


async def test_v_verifies_only_and_keeps_earlier_times(on_gpu: Any) -> None:
    bench = on_gpu()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("3", "v")
        await bench.settled(pilot)
        assert [plan.benchmark is None for _, plan in bench.engine.evaluated] == [False, True]
        assert table(bench)["4096x781 f32"][1] == "14.3 ±0.1"
        assert table(bench)["4096x781 f32"][-1] == "of run #1"


async def test_b_times_bench_cases_and_shows_their_tab(on_gpu: Any) -> None:
    bench = on_gpu()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("b")
        await bench.settled(pilot)
        assert [len(plan.benchmark.cases) for _, plan in bench.engine.evaluated] == [5, 5]
        assert workbench(bench).tabs.shown == "bench"


async def test_b_without_bench_cases_is_reported(make_bench: Any) -> None:
    bench = make_bench(device="cuda", problem=fakes.catalogue()[1])
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("b")
        await bench.settled(pilot)
        assert len(bench.engine.evaluated) == 1
        assert [note.message for note in bench.app._notifications] == [
            "vllm::rms_norm has no bench cases, so there is nothing to time"
        ]


async def test_b_on_cpu_states_why_nothing_is_timed(on_gpu: Any) -> None:
    bench = on_gpu(device="cpu")
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("b", "r")
        await bench.settled(pilot)
        assert [plan.benchmark for _, plan in bench.engine.evaluated] == [None, None]
        assert note(bench) == EXECUTED_ON_CPU
        assert table(bench)["1024x256 f32"] == ["1024x256 f32", "2 MiB", "1.31 M", "0.625", "1 MiB", "1 MiB"]
        assert "40 registers" in plain_text(pane(bench).query_one("#bench-detail", Lines).lines)


async def test_save_stops_benchmark_and_marks_times_stale(on_gpu: Any) -> None:
    bench = on_gpu("times_two_of_five")
    async with bench.app.run_test() as pilot:
        await bench.until(pilot, lambda: len(workbench(bench).bench.view.benchmarks) == 2)
        await pilot.press("3")
        bench.engine.script = timed_runs.waits_for_the_device
        bench.watcher.save(b"newer\n")
        await bench.until(pilot, lambda: workbench(bench).bench.view.holder is not None)
        assert bench.engine.cancelled == 1
        assert table(bench)["1024x256 f32"][1] == "1.90 ±0.02"
        assert table(bench)["1024x256 f32"][-1] == "stale (#1)"
        assert note(bench).startswith("process 4242 has held the device since 2026-03-14 15:02 UTC: python train.py")
        await pilot.press("escape")
        await bench.settled(pilot)


async def test_failed_run_states_reason_for_no_times(on_gpu: Any) -> None:
    bench = on_gpu("fails_before_it_is_timed")
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("3")
        assert note(bench) == "nothing was timed: only passing candidates are timed; see the cases"


async def test_interrupted_benchmark_states_reason_beside_times(on_gpu: Any) -> None:
    from dataclasses import replace

    from engine.model import Outcome, Stage
    from engine.model.events import StageFinished

    def script(candidate: Any, plan: Any) -> list[Any]:
        *begun, finished, printed = fakes.all_pass(candidate, plan)
        some = timed_runs.times_two_of_five(candidate, plan)[len(begun) :]
        stopped = StageFinished(
            at_s=3.0, stage=Stage.BENCHMARK, outcome=Outcome.ENGINE_ERROR, elapsed_s=2.5, message="the device was lost"
        )
        return [*begun, *some, stopped, replace(finished, at_s=3.1), printed]

    bench = on_gpu()
    bench.engine.script = script
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("3")
        assert note(bench) == "not all was timed: the device was lost"
        assert table(bench)["1024x256 f32"][1] == "1.90 ±0.02"


async def test_wrong_timed_candidate_is_reported_and_not_plotted(on_gpu: Any) -> None:
    bench = on_gpu("wrong_while_timed")
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("3")
        assert note(bench) == "no speed-up is shown: the candidate did not pass"
        assert table(bench)["1024x256 f32"][1:3] == ["✗ wrong value", "–"]
        await pilot.press("B")
        screen = bench.app.screen
        assert screen.query_one(PlotView).text.count("●") == 0
        assert screen.query_one(PlotView).text.count("○") > 0
        assert plain_text(screen.query_one("#legend", Lines).lines).endswith("the candidate did not pass")


async def test_enter_shows_measurement_and_escape_returns(on_gpu: Any) -> None:
    bench = on_gpu()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("3", "j", "enter")
        assert pane(bench).query_one("#bench-scroll").display
        assert not pane(bench).query_one("#bench-table").display
        assert plain_text(pane(bench).query_one("#bench-detail", Lines).lines).startswith("4096x781 f32  ✔ pass")
        await pilot.press("escape")
        assert workbench(bench).focused is pane(bench).query_one("#bench-table")


async def test_y_copies_all_details_of_case(on_gpu: Any) -> None:
    bench = on_gpu()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("3", "y")
        assert bench.app.clipboard.startswith("1024x256 f32  ✔ pass\ndevice    1.90 µs")


async def test_times_so_far_are_opened_and_copied(on_gpu: Any) -> None:
    bench = on_gpu("times_third_of_five")
    async with bench.app.run_test() as pilot:
        await bench.until(pilot, lambda: workbench(bench).bench.view.estimate is not None)
        await pilot.press("3", "j", "j", "enter")
        assert pane(bench).query_one("#bench-scroll").display
        shown = plain_text(pane(bench).query_one("#bench-detail", Lines).lines)
        assert shown.startswith("4096x4096 f32  so far, after 8 rounds\ndevice    55.6 µs")
        await pilot.press("y")
        assert bench.app.clipboard == shown


async def test_case_run_alone_is_not_timed(on_gpu: Any) -> None:
    bench = on_gpu()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("1", "j", "a")
        await bench.settled(pilot)
        assert bench.engine.evaluated[-1][1].benchmark is None


# The plot


async def test_plot_has_own_screen_and_escape_returns(on_gpu: Any) -> None:
    bench = on_gpu()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("B")
        screen = bench.app.screen
        assert isinstance(screen, BenchScreen)
        assert screen.query_one(PlotView).text.count("●") == 5
        assert "256 MiB" in screen.query_one(PlotView).text
        await pilot.press("escape")
        assert workbench(bench).is_current


async def test_m_and_x_change_the_plotted_axes(on_gpu: Any) -> None:
    bench = on_gpu()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("B")
        seen = [bench.app.screen.plot_axes.measure]
        for _ in range(3):
            await pilot.press("m")
            seen.append(bench.app.screen.plot_axes.measure)
        assert seen == [Measure.BANDWIDTH, Measure.FLOPS, Measure.TIME, Measure.BANDWIDTH]
        await pilot.press("x")
        assert bench.app.screen.plot_axes.over is Over.ORDER
        assert "1024x256 bf16" in bench.app.screen.query_one(PlotView).text


async def test_case_under_cursor_is_highlighted_in_plot(on_gpu: Any) -> None:
    bench = on_gpu(ascii=True)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("B", "x")
        rule = [bench.app.screen.query_one(PlotView).text.splitlines()[-2].index("^")]
        await pilot.press("j")
        rule.append(bench.app.screen.query_one(PlotView).text.splitlines()[-2].index("^"))
        assert rule[0] < rule[1]


async def test_plot_follows_running_run(on_gpu: Any) -> None:
    bench = on_gpu("fails_before_it_is_timed")
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("B")
        bench.engine.script = timed_runs.times_two_of_five
        await pilot.press("b")
        await bench.until(pilot, lambda: len(bench.app.workbench.bench.view.benchmarks) == 2)
        await pilot.pause()
        assert isinstance(bench.app.screen, BenchScreen)
        assert bench.app.screen.query_one(PlotView).text.count("●") == 2


async def test_empty_plot_on_cpu_states_reason(on_gpu: Any) -> None:
    bench = on_gpu(device="cpu")
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("B")
        assert plain_text(bench.app.screen.query_one("#legend", Lines).lines) == EXECUTED_ON_CPU
        assert len(bench.app.screen.query_one("#sizes", Grid).shown) == 5


async def test_operators_and_help_are_reached_from_the_plot(on_gpu: Any) -> None:
    bench = on_gpu()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("B", "f1")
        assert plain_text(bench.app.screen.query_one("#help-text", Lines).lines).startswith("Plot  bench\n")
        await pilot.press("escape", "ctrl+o")
        assert isinstance(bench.app.screen, OperatorsScreen)
        await pilot.press("escape")
        assert workbench(bench).is_current
