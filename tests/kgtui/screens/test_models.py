"""The Models screen on recorded answers: asked for, streamed, verified, opened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from kgtui.app.start import PreparedBatch
from kgtui.generation.batch import GenerationRequest
from kgtui.generation.demo.order import MODELS, RECORDING, demo_order, demo_prices
from kgtui.generation.display.rows import progress_lines, streaming_lines
from kgtui.generation.display.typed import parse_wanted
from kgtui.generation.display.views import bar, price_view
from kgtui.generation.events import AnswerGrew, RequestSent, Spot
from kgtui.generation.prices import read_prices
from kgtui.generation.progress import NO_BATCH, after
from kgtui.generation.records import Sampling
from kgtui.generation.strategies import StrategyOptions
from kgtui.history.recorder import StoreRecording
from kgtui.screens.models.screen import ModelsScreen
from kgtui.state.format.glyphs import ASCII
from kgtui.state.format.lines import plain_text
from kgtui.widgets.tables.plot_view import PlotView
from kgtui.widgets.text.toned import Grid, Lines
from sessions import open_store
from sessions.candidates.generation_rows import Ending, Limits
from tests.generated import new_generation, settlement


@pytest.fixture
def make_replayed(make_bench: Any, tmp_path: Path) -> Callable[..., Any]:
    """A maker of applications with a real store, on the recorded answers of the demo."""

    def make(**options: Any) -> Any:
        recording = StoreRecording(open_store(tmp_path / "sessions.db"), label="workbench", environment={})
        recording.open_or_raise = lambda: None  # type: ignore[attr-defined]
        environment = {"KGTUI_REPLAY": str(RECORDING), "KGTUI_HOME": str(tmp_path)}
        return make_bench(recording=recording, environment=environment, **options)

    return make


@pytest.fixture
def bench(make_replayed: Callable[..., Any]) -> Any:
    return make_replayed()


async def asked(bench: Any, pilot: Pilot[None], words: str) -> Any:
    """The Models screen after these words were typed."""
    await bench.until(pilot, lambda: bench.app.problems != ())
    await bench.settled(pilot)
    await pilot.press("L", "r")
    screen = bench.app.screen
    screen.query_one(Input).value = words
    await pilot.press("enter")
    return screen


async def test_batch_fills_table_and_enter_opens_run(bench: Any) -> None:
    async with bench.app.run_test(size=(120, 36)) as pilot:
        screen = await asked(bench, pilot, "replay:alpha refine")
        generation = bench.app.runs.generation
        await bench.until(pilot, lambda: any(row.run and row.run.outcome for row in generation.rows))
        await bench.until(pilot, lambda: not generation.progress.is_running)
        (row,) = generation.rows
        await bench.until(pilot, lambda: screen.query_one(Grid).row_count == 1)
        assert [cell.text for cell in screen.query_one(Grid).shown[0].cells] == [
            "replay:alpha", "round-1", "passed", "", "3,310+498", "unknown", f"#{row.run.number}",
        ]  # fmt: skip
        await pilot.press("enter")
        await bench.until(pilot, lambda: bench.app.workbench.bench.old is not None)
        assert bench.app.workbench.bench.shown.number == row.run.number
        assert "other=0.0" in bench.app.workbench.source.content.decode()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("", "which model? type for example: anthropic:MODEL refine n=4 2usd"),
        (
            "foo bar",
            "'foo' is no model (PROVIDER:MODEL), strategy (evolve, refine, single) or budget; "
            "type for example: anthropic:MODEL refine n=4 2usd",
        ),
        ("replay:alpha n=x", "'n=x': expected a number of answers such as n=4"),
        ("replay:alpha 2eur", "'2eur': expected an amount such as 2usd, 50ct, 200000tok or 30min"),
        ("replay:alpha 0usd", "0usd: a budget of 0 allows no request; leave it out for no limit"),
    ],
)
async def test_invalid_batch_input_gets_a_sentence(bench: Any, words: str, sentence: str) -> None:
    async with bench.app.run_test(size=(120, 36)) as pilot:
        screen = await asked(bench, pilot, words)
        await bench.until(pilot, lambda: bool(bench.app._notifications))
        assert [note.message for note in bench.app._notifications] == [sentence]
        assert screen.query_one(Input).display


def left_behind(tmp_path: Path, ending: Ending, request: GenerationRequest) -> None:
    """Store a batch that ended early, with the answer of its first model."""
    with open_store(tmp_path / "sessions.db") as store:
        session = store.begin_session("workbench")
        batch = store.generations.begin_batch(session, request.to_json(), Limits())
        number = store.generations.reserve(session, batch, new_generation(place="round-1"))
        store.generations.settle(number, settlement(received="stored before"))
        store.generations.end_batch(batch, ending)
        store.end_session(session)


REQUEST = GenerationRequest(
    operators=("aten::softmax",),
    models=MODELS,
    strategy="refine",
    options=StrategyOptions(),
    sampling=Sampling(),
    device="cpu",
    target="sm_90",
)


async def test_unfinished_batch_resumes_without_second_request(
    make_replayed: Callable[..., Any], tmp_path: Path
) -> None:
    left_behind(tmp_path, Ending.CANCELLED, REQUEST)
    bench = make_replayed()
    async with bench.app.run_test(size=(120, 36)) as pilot:
        await bench.until(pilot, lambda: bench.app.problems != ())
        await bench.settled(pilot)
        await pilot.press("L")
        generation, progress = bench.app.runs.generation, bench.app.screen.query_one("#progress", Lines)
        await bench.until(pilot, lambda: generation.unfinished is not None)
        await bench.until(pilot, lambda: "batch 1 was cancelled; R generates the rest" in str(progress.render()))
        await pilot.press("R")
        await bench.until(pilot, lambda: generation.progress.ended is not None and not generation.is_running)
        assert [(row.model, row.batch, row.received == "stored before") for row in generation.rows] == [
            ("alpha", 1, True), ("beta", 1, False),
        ]  # fmt: skip
        assert (generation.progress.reused, generation.unfinished) == (1, None)


@pytest.mark.parametrize(
    ("ending", "request_of", "sentence"),
    [
        (Ending.FINISHED, REQUEST, "the last batch is complete"),
        (Ending.BUDGET, REQUEST, "batch 1 reached its budget: repeat its `kgtui generate` with a higher --budget"),
        (Ending.FAILED, replace(REQUEST, device="cuda"), "start `kgtui --device cuda` to resume it"),
        (Ending.FAILED, replace(REQUEST, suites=("tasks",)), "`kgtui generate --suite PATH ...` with --resume"),
        (Ending.FAILED, replace(REQUEST, continues=99), "is not in the store any more"),
    ],
)
async def test_batch_that_cannot_resume_gets_a_sentence(
    make_replayed: Callable[..., Any], tmp_path: Path, ending: Ending, request_of: GenerationRequest, sentence: str
) -> None:
    left_behind(tmp_path, ending, request_of)
    bench = make_replayed()
    async with bench.app.run_test(size=(120, 36)) as pilot:
        await bench.until(pilot, lambda: bench.app.problems != ())
        await bench.settled(pilot)
        await pilot.press("L")
        await bench.until(pilot, lambda: bool(bench.app.runs.generation.rows))
        bench.app.screen.resuming.action_resume()
        await bench.until(pilot, lambda: any(sentence in note.message for note in bench.app._notifications))


async def test_escape_leaves_the_entry_then_the_screen(bench: Any) -> None:
    async with bench.app.run_test(size=(120, 36)) as pilot:
        await bench.until(pilot, lambda: bench.app.problems != ())
        await bench.settled(pilot)
        await pilot.press("L", "r")
        screen = bench.app.screen
        assert screen.query_one("#progress", Lines).lines == ()
        await pilot.press("escape")
        assert (screen.WHERE, screen.query_one(Input).display) == ("models", False)
        assert "nothing generated yet" in str(screen.query_one("#subject", Lines).render())
        assert "press r and type models" in str(screen.query_one("#progress", Lines).render())
        await pilot.press("escape")
        assert bench.app.screen.WHERE == "workbench"


def test_the_longest_answer_in_flight_is_shown() -> None:
    short, long = (Spot(problem="aten::add", model="m", place=place) for place in ("sample-1", "sample-2"))
    events = (
        RequestSent(spot=short), RequestSent(spot=long), AnswerGrew(spot=short, text="a"),
        AnswerGrew(spot=long, text="\n".join(map(str, range(100)))),
    )  # fmt: skip
    shown = plain_text(streaming_lines(after(NO_BATCH, events))).splitlines()
    assert shown[0] == "aten::add m sample-2  (and 1 more in flight)"
    assert shown[1:] == [str(number) for number in range(88, 100)]


def test_running_batch_shows_stop_key() -> None:
    running = replace(NO_BATCH, number=1, total=2)
    assert plain_text(progress_lines(running, now_s=0.0)) == (
        "batch 1: 0/2 answers, 0 verified, 0 passed, 0 in flight, $0.00  esc stops"
    )


def test_a_line_is_read_as_a_batch() -> None:
    wanted = parse_wanted("replay:alpha refine n=4 2usd 30min -- use one pass")
    assert (str(wanted.models[0]), wanted.strategy) == ("replay:alpha", "refine")
    assert (wanted.limits.microusd, wanted.limits.seconds, wanted.options.remark) == (2_000_000, 1800, "use one pass")


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("n=2", StrategyOptions(samples=2)),
        ("refine n=2", StrategyOptions(rounds=2)),
        ("n=2 refine", StrategyOptions(rounds=2)),
        ("refine", StrategyOptions()),
        ("evolve n=2", StrategyOptions(samples=2)),
    ],
)
def test_number_of_answers_limits_the_strategy(words: str, options: StrategyOptions) -> None:
    assert parse_wanted(f"replay:alpha {words}").options == options


async def test_a_cell_of_the_matrix_compares_its_runs(bench: Any) -> None:
    async with bench.app.run_test(size=(120, 36)) as pilot:
        screen = await asked(bench, pilot, "replay:alpha replay:beta refine")
        generation = bench.app.runs.generation
        await bench.until(pilot, lambda: generation.progress.number is not None and not generation.is_running)
        await pilot.press("2")
        grid = screen.query_one(Grid)
        await bench.until(pilot, lambda: grid.row_count == 1)
        assert [cell.text for cell in grid.shown[0].cells] == ["aten::softmax", "passed 1/1", "passed 1/1"]
        await pilot.press("right", "enter")
        runs = tuple(sorted(row.run.number for row in generation.rows))
        assert (bench.app.screen.WHERE, bench.app.run_history.marked) == ("compare", runs)


async def test_curves_are_drawn_against_cost_or_answers(bench: Any) -> None:
    async with bench.app.run_test(size=(120, 36)) as pilot:
        screen = await asked(bench, pilot, "replay:alpha refine")
        generation = bench.app.runs.generation
        await bench.until(pilot, lambda: generation.progress.number is not None and not generation.is_running)
        await pilot.press("4")
        plot, about = screen.query_one(PlotView), screen.query_one("#about", Lines)
        await bench.until(pilot, lambda: "the cost of 1 answer is unknown" in str(about.render()))
        await pilot.press("x")
        assert "solved operators against answers of each operator  ● replay:alpha" in str(about.render())
        assert "100% │" in plot.text
        await pilot.press("m")
        assert "speed-up (all) against answers of each operator  replay:alpha: no speed-up" in str(about.render())


def silu_of_one_model() -> PreparedBatch:
    """The part of the demo's batch in which the second model answers for one operator."""
    order = demo_order()
    request = replace(order.request, models=MODELS[1:], operators=("aten::silu",))
    return PreparedBatch(order=replace(order, request=request, tasks=order.tasks[:1]), prices=demo_prices())


async def test_prepared_batch_fills_matrix_without_open_file(make_replayed: Callable[..., Any]) -> None:
    bench = make_replayed(opened=False, batch=silu_of_one_model())
    async with bench.app.run_test(size=(120, 36)) as pilot:
        generation = bench.app.runs.generation
        await bench.until(pilot, lambda: generation.progress.ended is not None)
        assert isinstance(bench.app.screen, ModelsScreen)
        table = bench.app.screen.query_one(Grid)
        await bench.until(pilot, lambda: [row.cells[1].text for row in table.shown] == ["passed 1/1 $0.000991"])


async def test_tables_without_open_file_offer_only_working_keys(make_replayed: Callable[..., Any]) -> None:
    bench = make_replayed(opened=False, batch=silu_of_one_model())
    async with bench.app.run_test(size=(120, 36)) as pilot:
        generation = bench.app.runs.generation
        await bench.until(pilot, lambda: generation.progress.ended is not None)
        await bench.until(pilot, lambda: "enter open" in key_bar(bench))
        for key in ("1", "3", "5", "6"):
            await pilot.press(key)
            await bench.until(pilot, lambda: "enter open" not in key_bar(bench))
        assert "the demo" in {row.cells[-1].text for row in bench.app.screen.query_one(Grid).shown}
        await pilot.press("1")
        subject = bench.app.screen.query_one("#subject", Lines)
        assert "no file is open; the matrix has all operators" in str(subject.render())
        assert "press r" not in str(bench.app.screen.query_one("#progress", Lines).render())


async def test_escape_stops_running_batch_before_leaving(make_replayed: Callable[..., Any]) -> None:
    bench = make_replayed(opened=False, batch=PreparedBatch(order=demo_order(), prices=demo_prices()))
    bench.engine.starts = False
    async with bench.app.run_test(size=(80, 24)) as pilot:
        generation = bench.app.runs.generation
        await bench.until(pilot, lambda: generation.progress.is_running and "esc stop generating" in key_bar(bench))
        await pilot.press("escape")
        await bench.until(pilot, lambda: generation.progress.ended is not None and "esc back" in key_bar(bench))
        assert isinstance(bench.app.screen, ModelsScreen)
        assert generation.progress.ended.ending is Ending.CANCELLED


def key_bar(bench: Any) -> str:
    """The text of the key bar."""
    return str(bench.app.screen.query_one("#keys").render())


def test_bars_are_as_long_as_their_share() -> None:
    assert [bar(share, glyphs=ASCII) for share in (0.0, 0.001, 0.5, 1.0)] == ["", "#", "#" * 10, "#" * 20]


def test_model_without_price_is_listed_as_unknown(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text('["replay:alpha"]\ninput = 3.0\noutput = 15.0\n')
    prices = read_prices(tmp_path / "prices.toml")
    view = price_view(("replay:beta",), prices, at=datetime(2026, 1, 1, tzinfo=UTC), file="prices.toml")
    assert [tuple(cell.text for cell in row.cells) for row in view.rows] == [
        ("replay:alpha", "$3", "$15", "$3", "$3", "your file"), ("replay:beta", "unknown", "", "", "", ""),
    ]  # fmt: skip
