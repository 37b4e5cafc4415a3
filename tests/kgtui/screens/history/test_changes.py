"""Changes on the History screen: tags, notes, pins, and deleting runs and sessions after a question."""

from __future__ import annotations

from typing import Any

from textual.pilot import Pilot
from textual.widgets import Input

from engine.model import Outcome
from kgtui.widgets.controls.ask import Ask
from kgtui.widgets.controls.entry import Entry
from kgtui.widgets.tables.paged_grid import PagedGrid
from kgtui.widgets.text.toned import Lines
from sessions.rows import Review
from tests.kgtui.screens.history.past_runs import Past, details, head, history, listed, settled, typed


async def said(bench: Any, pilot: Pilot[None], words: str) -> None:
    """Wait for this notification, which is the only one."""
    await bench.until(pilot, lambda: len(bench.app._notifications) > 0)
    assert [note.message for note in bench.app._notifications] == [words]


async def test_tag_and_note_are_stored_and_found(looking_back: Any, some: Past) -> None:
    bench = looking_back(some)
    async with bench.app.run_test() as pilot:
        screen = await history(bench, pilot)
        await pilot.press("t", *"keep", "enter")
        await settled(bench, pilot)
        await pilot.press("n", *"[a] b", "enter")
        await settled(bench, pilot)
        assert (some.store.run(4).tag, some.store.run(4).note) == ("keep", "[a] b")
        assert "tag keep   note [a] b" in details(screen)
        await typed(bench, pilot, "tag:keep")
        assert listed(screen) == ["4"]


async def test_tag_is_one_word_and_empty_removes(looking_back: Any, some: Past) -> None:
    some.store.set_tag(4, "old")
    bench = looking_back(some)
    async with bench.app.run_test() as pilot:
        screen = await history(bench, pilot)
        await pilot.press("t", "space", *"two", "enter")
        await settled(bench, pilot)
        entry = screen.query_one("#entry", Entry)
        assert (str(entry.query_one(Lines).content), entry.field.value) == (
            "tag of #4: expected one word, got 2",
            "old two",
        )
        assert screen.focused is entry.field, "what is typed next would be commands"
        assert some.store.run(4).tag == "old"
        screen.query_one("#entry Input", Input).value = ""
        await pilot.press("enter")
        await settled(bench, pilot)
        assert some.store.run(4).tag is None


async def test_run_is_pinned_vetoed_and_released(looking_back: Any, some: Past) -> None:
    bench = looking_back(some)
    async with bench.app.run_test() as pilot:
        screen = await history(bench, pilot)
        shown = []
        for key in ("P", "V", "V"):
            await pilot.press(key)
            await settled(bench, pilot)
            shown.append((some.store.run(4).review, " by you" in details(screen)))
        assert shown == [(Review.PINNED, True), (Review.VETOED, True), (None, False)]
        assert some.store.run(4).outcome is Outcome.PASS


async def test_escape_leaves_line_and_keeps_value(looking_back: Any, some: Past) -> None:
    bench = looking_back(some)
    async with bench.app.run_test() as pilot:
        screen = await history(bench, pilot)
        await pilot.press("n", *"never", "escape")
        await settled(bench, pilot)
        assert some.store.run(4).note is None
        assert screen.focused is screen.query_one(PagedGrid)


async def test_a_run_is_deleted_only_after_the_question(looking_back: Any, some: Past) -> None:
    bench = looking_back(some)
    async with bench.app.run_test() as pilot:
        screen = await history(bench, pilot)
        await pilot.press("j", "d")
        assert screen.query_one(Ask).question == "Permanently delete #3 with its events, times and source?"
        await pilot.press("n", "escape")
        await settled(bench, pilot)
        assert listed(screen) == ["4", "3", "2", "1"]
        await pilot.press("d", "y")
        await settled(bench, pilot)
        assert listed(screen) == ["4", "2", "1"]
        assert screen.query_one(PagedGrid).current == "2"
        assert [run.id for run in some.store.runs()] == [4, 2, 1]
        assert head(screen).startswith("History  3 runs")


async def test_question_is_closed_by_another_key(looking_back: Any, some: Past) -> None:
    bench = looking_back(some)
    async with bench.app.run_test() as pilot:
        screen = await history(bench, pilot)
        await pilot.press("d", "enter")
        await settled(bench, pilot)
        assert bench.app.screen is screen
        assert screen.query_one(Ask).subject == "delete"


async def test_unused_compiled_code_is_deleted(looking_back: Any, past: Past) -> None:
    past.add("softmax.py")
    bench = looking_back(past)
    async with bench.app.run_test() as pilot:
        await history(bench, pilot)
        await pilot.press("d", "y")
        await settled(bench, pilot)
        assert past.recording.removed != []
        assert past.store.runs() == ()


async def test_active_run_is_not_deleted_and_reported(looking_back: Any, past: Past) -> None:
    past.add("softmax.py", script="stops_half_way")
    bench = looking_back(past)
    async with bench.app.run_test(notifications=True) as pilot:
        screen = await history(bench, pilot)
        await pilot.press("d", "y")
        await settled(bench, pilot)
        assert listed(screen) == ["1"]
        await said(bench, pilot, "run #1 is still running; wait for its verdict or stop it, then delete it")


async def test_session_is_deleted_with_runs_after_question(looking_back: Any, some: Past) -> None:
    some.store.end_session(some.session)
    bench = looking_back(some)
    async with bench.app.run_test() as pilot:
        screen = await history(bench, pilot)
        await pilot.press("s")
        await settled(bench, pilot)
        await pilot.press("d")
        assert screen.query_one(Ask).question == "Permanently delete session 1 with its 4 runs and its costs?"
        await pilot.press("y")
        await settled(bench, pilot)
        assert listed(screen) == []
        assert some.store.runs() == ()


async def test_session_has_no_tag_or_note(looking_back: Any, some: Past) -> None:
    bench = looking_back(some)
    async with bench.app.run_test(notifications=True) as pilot:
        screen = await history(bench, pilot)
        await pilot.press("s")
        await settled(bench, pilot)
        await pilot.press("t")
        assert not screen.query_one("#entry").display
        await said(bench, pilot, "tag: not available for a session; enter lists its runs")
