"""The list of the History screen: order, totals, filters, details and the window of a long list."""

from __future__ import annotations

from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from engine.model import Candidate
from engine.model.counts import counted
from kgtui.state.format.lines import plain_text
from kgtui.state.history.paging import MOST
from kgtui.widgets.tables.paged_grid import PagedGrid
from kgtui.widgets.text.toned import Lines
from tests.generated import Generation, add_generation
from tests.kgtui.screens.history.past_runs import TIERS, Past, details, head, history, listed, settled, typed


async def test_newest_run_is_first_with_totals(looking_back: Any, some: Past) -> None:
    bench = looking_back(some)
    async with bench.app.run_test() as pilot:
        screen = await history(bench, pilot)
        assert listed(screen) == ["4", "3", "2", "1"]
        assert head(screen).startswith("History  4 runs · 2 passed · 1 flagged · ")


async def test_cost_of_answers_is_in_the_totals(looking_back: Any, some: Past) -> None:
    add_generation(some.store, some.session, Generation(
        problem="aten::softmax", provider="p", model="m", prompt_tokens=900, completion_tokens=2100,
        cost_microusd=410_000, source=None, elapsed_s=3.0,
    ))  # fmt: skip
    bench = looking_back(some)
    async with bench.app.run_test(size=(120, 36)) as pilot:
        screen = await history(bench, pilot)
        assert head(screen).endswith("$0.41 · 3.00 K tokens")


async def test_empty_store_states_how_to_start(looking_back: Any, past: Past) -> None:
    bench = looking_back(past)
    async with bench.app.run_test() as pilot:
        screen = await history(bench, pilot)
        words = plain_text(screen.query_one("#empty", Lines).lines)
        assert words == ("no runs yet; ctrl+o, then enter on an operator opens its file, and each save starts a run")
        assert screen.query_one("#empty").display


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("softmax", ["3", "2", "1"]),
        ("is:failed", ["2"]),
        ("file:_v2 is:fl", ["3"]),
        ("outcome:pass device:cpu", ["4", "3", "1"]),
        ("[red]x[b]", ["4"]),
        ("session:1 🚀", ["4"]),
        ("tag:none", []),
    ],
)
async def test_typing_narrows_the_list(looking_back: Any, some: Past, text: str, found: list[str]) -> None:
    bench = looking_back(some)
    async with bench.app.run_test() as pilot:
        screen = await history(bench, pilot)
        await typed(bench, pilot, text)
        assert listed(screen) == found
        assert head(screen).startswith(f"History  {counted(len(found), 'run')} ")


async def test_the_filter_is_typed_and_cleared_by_keys(looking_back: Any, some: Past) -> None:
    bench = looking_back(some)
    async with bench.app.run_test() as pilot:
        screen = await history(bench, pilot)
        await pilot.press("slash", *"is:failed", "enter")
        await settled(bench, pilot)
        assert listed(screen) == ["2"]
        assert screen.focused is screen.query_one(PagedGrid)
        await pilot.press("escape")
        await settled(bench, pilot)
        assert listed(screen) == ["4", "3", "2", "1"]
        await pilot.press("escape")
        assert bench.app.screen is not screen


async def test_invalid_filter_is_reported_and_changes_nothing(looking_back: Any, some: Past) -> None:
    bench = looking_back(some)
    async with bench.app.run_test(size=(120, 36)) as pilot:
        screen = await history(bench, pilot)
        await typed(bench, pilot, "colour:red")
        assert head(screen) == (
            "History  unknown filter colour:; use op:, file:, device:, tag:, is:, outcome:, session: or plain words"
        )
        assert listed(screen) == ["4", "3", "2", "1"]


async def test_filter_without_match_states_next_step(looking_back: Any, some: Past) -> None:
    bench = looking_back(some)
    async with bench.app.run_test() as pilot:
        screen = await history(bench, pilot)
        await typed(bench, pilot, "nowhere")
        assert plain_text(screen.query_one("#empty", Lines).lines) == "no run matches the filter; esc clears it"


async def test_one_key_narrows_to_operator_or_file(looking_back: Any, some: Past) -> None:
    bench = looking_back(some)
    async with bench.app.run_test() as pilot:
        screen = await history(bench, pilot)
        await pilot.press("j", "o")
        await settled(bench, pilot)
        assert listed(screen) == ["3", "2", "1"]
        await pilot.press("f")
        await settled(bench, pilot)
        assert listed(screen) == ["3", "2"]


async def test_sessions_have_no_filter_of_runs(looking_back: Any, some: Past) -> None:
    bench = looking_back(some)
    async with bench.app.run_test() as pilot:
        screen = await history(bench, pilot)
        shown = screen.query_one("#filter")
        await pilot.press("s")
        assert not shown.display
        await pilot.press("slash")
        assert (shown.display, screen.focused) == (True, shown)


async def test_sessions_are_listed_and_enter_lists_runs(looking_back: Any, some: Past) -> None:
    some.store.begin_session("a morning")
    bench = looking_back(some)
    async with bench.app.run_test() as pilot:
        screen = await history(bench, pilot)
        await pilot.press("s")
        await settled(bench, pilot)
        assert listed(screen) == ["2", "1"]
        assert details(screen).startswith("session 2  a morning")
        await pilot.press("j")
        await settled(bench, pilot)
        assert "4 runs of 2 operators · 2 passed · 1 flagged" in details(screen)
        await pilot.press("enter")
        await settled(bench, pilot)
        assert listed(screen) == ["4", "3", "2", "1"]
        assert screen.query_one("#filter", Input).value == "session:1"


async def test_progress_of_file_under_cursor_is_drawn(looking_back: Any, some: Past) -> None:
    bench = looking_back(some)
    async with bench.app.run_test() as pilot:
        screen = await history(bench, pilot)
        await pilot.press("j")
        await settled(bench, pilot)
        assert details(screen).splitlines()[-1] == ("best ▆█ 8 of 8 cases passed at best, of 2 runs; nothing was timed")


async def test_new_run_is_added_on_top(looking_back: Any, some: Past) -> None:
    bench = looking_back(some, opened=True)
    async with bench.app.run_test() as pilot:
        screen = await history(bench, pilot)
        before = listed(screen)
        bench.watcher.save(b"# saved while looking back\n")
        await bench.until(pilot, lambda: len(listed(screen)) == len(before) + 1)
        assert listed(screen)[1:] == before


async def test_long_list_keeps_window_in_memory_for_keys(looking_back: Any, past: Past) -> None:
    candidate = Candidate(source=b"", problem="aten::softmax")
    runs = MOST + 250
    for _ in range(runs):
        past.store.begin_run(past.session, candidate, device="cpu", target=None, tiers=TIERS, path=None)
    bench = looking_back(past)
    async with bench.app.run_test() as pilot:
        screen = await history(bench, pilot)
        grid = screen.query_one(PagedGrid)
        assert listed(screen)[0] == str(runs)
        seen: list[str] = []
        while grid.current != "1":
            seen.append(grid.current or "")
            await pilot.press("pagedown")
            await settled(bench, pilot)
        assert len(grid.shown) <= MOST
        assert sorted(seen, key=int, reverse=True) == seen
        await pilot.press("g")
        await settled(bench, pilot)
        assert grid.current == str(runs)
        await pilot.press("G")
        await settled(bench, pilot)
        assert grid.current == "1"
        await pilot.press("pageup")
        await settled(bench, pilot)
        rows = [int(key) for key in listed(screen)]
        assert rows == list(range(rows[0], 0, -1))


async def test_long_list_keeps_window_in_memory_for_wheel(looking_back: Any, past: Past) -> None:
    candidate = Candidate(source=b"", problem="aten::softmax")
    runs = MOST + 450
    for _ in range(runs):
        past.store.begin_run(past.session, candidate, device="cpu", target=None, tiers=TIERS, path=None)
    bench = looking_back(past)
    async with bench.app.run_test() as pilot:
        screen = await history(bench, pilot)
        grid = screen.query_one(PagedGrid)

        def shown() -> list[str]:
            return [grid.render_line(y).text for y in range(grid.size.height)]

        async def turn(*, down: bool) -> None:
            """To the end of what is there; more comes, and what is seen stays."""
            grid.scroll_to(y=grid.max_scroll_y if down else 0, animate=False, immediate=True)
            before = shown()
            await settled(bench, pilot)
            assert shown() == before
            assert len(grid.shown) <= MOST
            assert screen._listing.listed is not None

        while not screen._listing.runs.window.at_bottom:
            await turn(down=True)
        await turn(down=True)
        assert listed(screen)[-1] == "1"
        while not screen._listing.runs.window.at_top:
            await turn(down=False)
        await turn(down=False)
        assert listed(screen)[0] == str(runs)


async def test_store_is_never_read_on_event_loop(looking_back: Any, some: Past) -> None:
    import threading

    asked: list[bool] = []
    database = some.store._database
    rows = database.rows
    database.rows = lambda *how: asked.append(threading.current_thread() is threading.main_thread()) or rows(*how)  # type: ignore[method-assign, func-returns-value]
    bench = looking_back(some)
    async with bench.app.run_test() as pilot:
        await history(bench, pilot)
        await pilot.press("j", "s", "s", "o")
        await settled(bench, pilot)
    assert set(asked) == {False}


def test_ascii_history_at_least_size_matches_snapshot(looking_back: Any, some: Past, snap_compare: Any) -> None:
    bench = looking_back(some, ascii=True)

    async def drive(pilot: Pilot[None]) -> None:
        screen = await history(bench, pilot)
        await pilot.press("j", "n")
        await settled(bench, pilot)
        for line in screen.query(Input):
            line.cursor_blink = False
        await pilot.pause()

    assert snap_compare(bench.app, terminal_size=(60, 15), run_before=drive)
