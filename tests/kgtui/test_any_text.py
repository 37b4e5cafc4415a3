"""What holds of every screen and pane whatever names and messages say: no markup, no steering, columns in line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import DataTable

from engine.model import Finding, Location, Problem, Severity, Stream
from engine.model.events import Event, KernelCompiled, KernelLaunched, LogWritten, RunFinished
from kgtui.screens import screen_ids
from kgtui.screens.base.styled import StyledScreen
from kgtui.state.format.lines import Column, Row, Span
from kgtui.widgets.panes import pane_modules
from kgtui.widgets.tables.paged_grid import PagedGrid
from tests.kgtui import fakes

pytestmark = [pytest.mark.sampled, pytest.mark.usefixtures("unpainted")]

MARKUP = "[bold]x[/bold]"
NAMES = (
    MARKUP,
    "[/]",
    "混合精度",
    "👩‍💻 dev",
    "\u202ereversed",
    "\u2066isolated",
    "a\u200bb",
    "e\u0301toile",
    "مرحبا",
    "\x1b[2J\x1b]2;owned\x07steered",
    "back\rhome\bx",
    "\x9b2Jshort",
)
# What a terminal obeys instead of drawing, or what reorders what is read beside it.
STEERING = {
    chr(code) for code in (*range(32), *range(127, 160), 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}
SEEN = {"cases": MARKUP, "findings": MARKUP, "log": "steered"}
SIZES = [(80, 24), (120, 36), (200, 60)]


@pytest.fixture
def problem() -> Problem:
    """An operator whose cases are called by the names."""
    usual = fakes.softmax_problem()
    first = usual.cases[0]
    return replace(
        usual,
        cases=tuple(replace(first, name=name) for name in NAMES),
        summary=" ".join(NAMES),
        tolerance_by_case=dict.fromkeys(NAMES, usual.tolerance(first)),
        cost_by_case=dict.fromkeys(NAMES, usual.cost(first)),
    )


@pytest.fixture
def says_anything() -> Callable[..., list[Event]]:
    """A run whose every message holds the names."""
    words = " ".join(NAMES)

    def script(candidate: Any, plan: Any) -> list[Event]:
        results = [replace(fakes.wrong(case), message=f"{case.name} {words}") for case in plan.cases]
        findings = [
            Finding(check=name, severity=Severity.SUSPECT, message=f"{name} {words}", location=Location(line=12))
            for name in NAMES
        ]
        events = fakes.run_events(candidate, plan, results, findings=findings)
        logs = [LogWritten(at_s=0.05, stream=Stream.STDOUT, text=name) for name in NAMES]
        return [*events[:8], *logs, *map(renamed, events[8:])]

    return script


def renamed(event: Event) -> Event:
    """The event with the kernel called by a name, and the verdict in the words."""
    match event:
        case KernelLaunched():
            return replace(event, launch=replace(event.launch, kernel=MARKUP))
        case KernelCompiled():
            return replace(event, kernel=replace(event.kernel, launch=replace(event.kernel.launch, kernel=MARKUP)))
        case RunFinished():
            return replace(event, verdict=replace(event.verdict, sentence=" ".join(NAMES)))
        case _:
            return event


def rows_of(bench: Any) -> Iterator[tuple[str, int]]:
    """The rows that are drawn, as text and in cells."""
    for strip in bench.app.screen._compositor.render_strips():
        yield "".join(segment.text for segment in strip), sum(segment.cell_length for segment in strip)


def complaints(bench: Any) -> list[str]:
    """The rows that hold what steers a terminal, or are not as wide as it."""
    width = bench.app.size.width
    return [ascii(text) for text, cells in rows_of(bench) if cells != width or set(text) & STEERING]


async def opened(bench: Any, pilot: Pilot[None]) -> None:
    await bench.until(pilot, lambda: bench.app.problems != ())
    await bench.settled(pilot)


async def resized(bench: Any, pilot: Pilot[None], size: tuple[int, int]) -> None:
    await pilot.resize_terminal(*size)
    await bench.settled(pilot)


@pytest.mark.parametrize("tab", pane_modules())
async def test_every_pane_draws_text_unchanged(make_bench: Any, problem: Problem, says_anything: Any, tab: str) -> None:
    bench = make_bench(says_anything, problem=problem, environment={})
    async with bench.app.run_test(size=SIZES[0]) as pilot:
        await opened(bench, pilot)
        bench.app.screen.action_tab(tab)
        for size in SIZES:
            await resized(bench, pilot, size)
            assert complaints(bench) == [], size
            seen = "".join(text for text, _ in rows_of(bench))
            assert SEEN.get(tab, "") in seen, size


@pytest.mark.parametrize("screen_id", screen_ids())
async def test_every_screen_draws_text_unchanged(
    make_bench: Any, problem: Problem, says_anything: Any, screen_id: str
) -> None:
    bench = make_bench(says_anything, problem=problem)
    async with bench.app.run_test(size=SIZES[0], notifications=True) as pilot:
        await opened(bench, pilot)
        bench.app.action_show(screen_id)
        for size in SIZES:
            await resized(bench, pilot, size)
            assert complaints(bench) == [], size


@pytest.mark.parametrize("tab", ["cases", "findings"])
async def test_the_columns_of_a_table_stay_in_line(
    make_bench: Any, problem: Problem, says_anything: Any, tab: str
) -> None:
    bench = make_bench(says_anything, problem=problem)
    async with bench.app.run_test(size=(120, 36)) as pilot:
        await opened(bench, pilot)
        bench.app.screen.action_tab(tab)
        await bench.settled(pilot)
        table = bench.app.screen.tabs.pane.query_one(DataTable)
        bounds = {x for x, _, _, _ in (table._get_cell_region((row, 1)) for row in range(table.row_count))}
        assert len(bounds) == 1


async def test_table_of_pages_draws_any_text_unchanged() -> None:
    columns = (Column(label="name", width=20), Column(label="note", width=20))

    class Table(App[None]):
        def get_default_screen(self) -> StyledScreen:
            return StyledScreen()  # it has the tones

        def compose(self) -> ComposeResult:
            yield PagedGrid(columns)

    app = Table()
    async with app.run_test(size=(60, 20)) as pilot:
        rows = tuple(Row(key=name, cells=(Span(name), Span(f"{name}\nnote"))) for name in NAMES)
        app.query_one(PagedGrid).show(rows, columns)
        await pilot.pause()
        strips = app.screen._compositor.render_strips()
        drawn = ["".join(segment.text for segment in strip) for strip in strips]
        assert [ascii(text) for text in drawn if set(text) & STEERING] == []
        assert {sum(segment.cell_length for segment in strip) for strip in strips} == {60}
        assert [text for text in drawn if MARKUP in text] != []


async def test_message_draws_text_unchanged(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=(120, 36), notifications=True) as pilot:
        await opened(bench, pilot)
        bench.app.notify("\n".join(NAMES), markup=False, timeout=60)
        await bench.until(pilot, lambda: any(MARKUP in text for text, _ in rows_of(bench)))
        assert complaints(bench) == []


@pytest.mark.parametrize("keys", [(), ("e",)], ids=["watching", "editing"])
async def test_source_draws_text_unchanged(make_bench: Any, keys: tuple[str, ...]) -> None:
    bench = make_bench(content="".join(f"# {name}\n" for name in NAMES).encode())
    async with bench.app.run_test(size=(120, 36)) as pilot:
        await opened(bench, pilot)
        await pilot.press(*keys)
        assert complaints(bench) == []
