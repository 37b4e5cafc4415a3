"""History on a real store in memory: found, marked, opened as it was, restored, deleted; by keys alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from engine.model import Candidate, Outcome, Plan, Tier
from kgtui.history.recorder import StoreRecording
from kgtui.screens.history.screen import HistoryScreen
from kgtui.state.format.lines import plain_text
from kgtui.state.history.paging import MOST
from kgtui.state.history.past_runs import counted
from kgtui.state.workbench.status import Mode
from kgtui.widgets.controls.ask import Ask
from kgtui.widgets.controls.bars import Strip
from kgtui.widgets.controls.entry import Entry
from kgtui.widgets.tables.paged_grid import PagedGrid
from kgtui.widgets.text.toned import Lines
from sessions import Generation, Store, open_memory_store
from sessions.rows import Review
from tests.kgtui import fakes

TIERS = (Tier.SMOKE, Tier.FULL)
OURS = {"pages", "more", "way", "mark"}


class Kept(StoreRecording):
    """A store in memory that the application opens; `removed` is the compiled code that it was told to delete."""

    def __init__(self, store: Store) -> None:
        self.removed: list[str] = []
        super().__init__(store, label="test", environment={}, remove_artefact=self.removed.append)
        self.store = store

    def open_or_raise(self) -> None:
        """It is open."""


class Past:
    """Judges what the tests need to have been judged."""

    def __init__(self, folder: Path) -> None:
        self.recording = Kept(open_memory_store(clock=lambda: fakes.NOW))
        self.store = self.recording.store
        self.session = self.store.begin_session("an evening [bold]", environment={"torch": "2.13.0"})
        self._folder = folder
        (folder / "kernels").mkdir()

    def judge(
        self,
        filename: str,
        *,
        script: str = "all_pass",
        problem: int = 0,
        source: bytes | None = None,
        device: str = "cpu",
    ) -> int:
        """The number of a run of this file."""
        known = fakes.catalogue()[problem]
        path = self._folder / "kernels" / filename
        candidate = Candidate(
            source=fakes.SOURCE if source is None else source,
            problem=known.name,
            filename=filename,
            folder=path.parent,
        )
        number = self.store.begin_run(self.session, candidate, device=device, target="sm_90", tiers=TIERS, path=path)
        plan = Plan.for_tiers(known, tiers=TIERS, device=device, target="sm_90", failed_before=())
        self.store.record_all(number, getattr(fakes, script)(candidate, plan))
        return number


@pytest.fixture
def past(tmp_path: Path) -> Past:
    """A store with nothing but a session."""
    return Past(tmp_path)


@pytest.fixture
def some(past: Past) -> Past:
    """Four runs: right, wrong, suspicious, and one of another operator under a strange name."""
    past.judge("softmax.py")
    past.judge("softmax_v2.py", script="some_fail", source=b"# the second\n")
    past.judge("softmax_v2.py", script="suspicious", source=b"# the third\n")
    past.judge("日本語 [red]x[b] 🚀.py", problem=1, source=b"# the fourth\n")
    return past


@pytest.fixture
def looking_back(make_bench: Any) -> Callable[..., Any]:
    """An application without a file, on this past."""

    def make(past: Past, **settings: Any) -> Any:
        return make_bench(opened=settings.pop("opened", False), recording=past.recording, **settings)

    return make


async def settled(bench: Any, pilot: Pilot[None]) -> None:
    await bench.settled(pilot)
    while any(worker.group in OURS and worker.is_running for worker in bench.app.workers):
        await pilot.pause()
    await pilot.pause()


async def history(bench: Any, pilot: Pilot[None]) -> HistoryScreen:
    """The screen, opened by its key and settled."""
    await bench.until(pilot, lambda: bench.app.problems != () and bench.app.past.recording is not None)
    await settled(bench, pilot)
    await pilot.press("f8")
    await settled(bench, pilot)
    screen = bench.app.screen
    assert isinstance(screen, HistoryScreen)
    return screen


def listed(screen: HistoryScreen) -> list[str]:
    return [row.key for row in screen.query_one(PagedGrid).shown]


def head(screen: HistoryScreen) -> str:
    return plain_text(tuple(left for left, _ in screen.query_one("#head", Strip).rows))


def details(screen: HistoryScreen) -> str:
    return plain_text(screen.query_one("#details", Lines).lines)


async def typed(bench: Any, pilot: Pilot[None], text: str) -> None:
    bench.app.screen.query_one("#filter", Input).value = text
    await settled(bench, pilot)


async def said(bench: Any, pilot: Pilot[None], words: str) -> None:
    """Wait for this notification, which is the only one."""
    await bench.until(pilot, lambda: len(bench.app._notifications) > 0)
    assert [note.message for note in bench.app._notifications] == [words]


async def test_newest_run_is_first_with_totals(looking_back: Any, some: Past) -> None:
    bench = looking_back(some)
    async with bench.app.run_test() as pilot:
        screen = await history(bench, pilot)
        assert listed(screen) == ["4", "3", "2", "1"]
        assert head(screen).startswith("History  4 runs · 2 passed · 1 flagged · ")


async def test_cost_of_answers_is_in_the_totals(looking_back: Any, some: Past) -> None:
    some.store.add_generation(some.session, Generation(
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
        assert words == ("no runs yet; ctrl+o, then enter on an operator opens its file, and every save is a run")
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
            "History  colour: is no filter; use op:, file:, device:, tag:, is:, outcome:, session: or plain words"
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


async def test_tag_is_one_word_and_nothing_removes_it(looking_back: Any, some: Past) -> None:
    some.store.set_tag(4, "old")
    bench = looking_back(some)
    async with bench.app.run_test() as pilot:
        screen = await history(bench, pilot)
        await pilot.press("t", "space", *"two", "enter")
        await settled(bench, pilot)
        entry = screen.query_one("#entry", Entry)
        assert (str(entry.query_one(Lines).content), entry.field.value) == ("tag of #4, one word and not 2", "old two")
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


async def test_run_is_opened_read_only_with_its_file(looking_back: Any, some: Past, tmp_path: Path) -> None:
    (tmp_path / "kernels" / "softmax_v2.py").write_bytes(b"# by now another\n")
    bench = looking_back(some)
    async with bench.app.run_test() as pilot:
        await history(bench, pilot)
        await pilot.press("j", "j", "enter")
        await bench.until(pilot, lambda: bench.app.workbench is not None and bench.app.workbench.bench.old is not None)
        await settled(bench, pilot)
        workbench = bench.app.workbench
        assert bench.app.screen is workbench
        assert workbench.bench.shown.number == 2
        assert workbench.bench.view.failed[0].case == "127x128 f32"
        assert workbench.source.editor.text == "# the second\n"
        await pilot.press("escape")
        assert workbench.source.editor.text == "# by now another\n"


async def test_run_of_same_operator_opens_beside_unsaved_text(looking_back: Any, some: Past) -> None:
    bench = looking_back(some, opened=True)
    async with bench.app.run_test() as pilot:
        await settled(bench, pilot)
        await pilot.press("e", "x", "escape")
        await history(bench, pilot)
        await typed(bench, pilot, "is:failed")
        await pilot.press("enter")
        await bench.until(pilot, lambda: bench.app.workbench.bench.old is not None)
        workbench = bench.app.workbench
        assert workbench.bench.shown.number == 2
        assert workbench.source.editor.text.startswith("x")


async def test_run_with_missing_file_offers_to_restore_it(looking_back: Any, some: Past, tmp_path: Path) -> None:
    bench = looking_back(some)
    async with bench.app.run_test() as pilot:
        screen = await history(bench, pilot)
        await pilot.press("j", "enter")
        assert screen.query_one(Ask).question == "The file of #3 is gone. Put its source into a new one?"
        await pilot.press("escape")
        assert list((tmp_path / "kernels").iterdir()) == []
        await pilot.press("enter", "r")
        await bench.until(pilot, lambda: bench.app.workbench is not None and bench.app.screen is bench.app.workbench)
        await settled(bench, pilot)
        assert (tmp_path / "kernels" / "softmax_v2_run3.py").read_bytes() == b"# the third\n"
        assert bench.app.workbench.bench.path.name == "softmax_v2_run3.py"


async def test_restoring_never_touches_a_file_that_is_there(looking_back: Any, some: Past, tmp_path: Path) -> None:
    taken = tmp_path / "kernels" / "softmax_run1.py"
    taken.write_bytes(b"mine\n")
    bench = looking_back(some)
    async with bench.app.run_test() as pilot:
        await history(bench, pilot)
        await pilot.press("G", "R")
        await bench.until(pilot, lambda: bench.app.workbench is not None)
        await settled(bench, pilot)
        assert taken.read_bytes() == b"mine\n"
        assert (tmp_path / "kernels" / "softmax_run1_2.py").read_bytes() == bench.app.workbench.bench.saved


async def test_unsaved_text_stays_when_a_source_is_restored(looking_back: Any, some: Past, tmp_path: Path) -> None:
    bench = looking_back(some, opened=True)
    async with bench.app.run_test(notifications=True) as pilot:
        await settled(bench, pilot)
        await pilot.press("e", "x")
        await history(bench, pilot)
        await typed(bench, pilot, "is:failed")
        await pilot.press("R")
        await bench.until(pilot, lambda: (tmp_path / "kernels" / "softmax_v2_run2.py").exists())
        await bench.until(pilot, lambda: bench.app.screen is bench.app.workbench)
        assert bench.app.workbench.bench.path.name == "softmax.py"
        assert bench.app.workbench.source.editor.text.startswith("x")
        assert bench.app.workbench.bench.mode is Mode.EDIT


async def test_a_run_is_deleted_only_after_the_question(looking_back: Any, some: Past) -> None:
    bench = looking_back(some)
    async with bench.app.run_test() as pilot:
        screen = await history(bench, pilot)
        await pilot.press("j", "d")
        assert screen.query_one(Ask).question == "Delete #3 with its events, times and source for good?"
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
    past.judge("softmax.py")
    bench = looking_back(past)
    async with bench.app.run_test() as pilot:
        await history(bench, pilot)
        await pilot.press("d", "y")
        await settled(bench, pilot)
        assert past.recording.removed != []
        assert past.store.runs() == ()


async def test_active_run_is_not_deleted_and_reported(looking_back: Any, past: Past) -> None:
    past.judge("softmax.py", script="stops_half_way")
    bench = looking_back(past)
    async with bench.app.run_test(notifications=True) as pilot:
        screen = await history(bench, pilot)
        await pilot.press("d", "y")
        await settled(bench, pilot)
        assert listed(screen) == ["1"]
        await said(bench, pilot, "run #1 is still running; wait for its verdict, or stop it, then delete it")


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


async def test_session_is_deleted_with_runs_after_question(looking_back: Any, some: Past) -> None:
    some.store.end_session(some.session)
    bench = looking_back(some)
    async with bench.app.run_test() as pilot:
        screen = await history(bench, pilot)
        await pilot.press("s")
        await settled(bench, pilot)
        await pilot.press("d")
        assert screen.query_one(Ask).question == "Delete session 1 with its 4 runs and its costs for good?"
        await pilot.press("y")
        await settled(bench, pilot)
        assert listed(screen) == []
        assert some.store.runs() == ()


async def test_a_session_has_neither_tag_nor_note(looking_back: Any, some: Past) -> None:
    bench = looking_back(some)
    async with bench.app.run_test(notifications=True) as pilot:
        screen = await history(bench, pilot)
        await pilot.press("s")
        await settled(bench, pilot)
        await pilot.press("t")
        assert not screen.query_one("#entry").display
        await said(bench, pilot, "tag: a session has none; enter lists its runs")


async def test_progress_of_file_under_cursor_is_drawn(looking_back: Any, some: Past) -> None:
    bench = looking_back(some)
    async with bench.app.run_test() as pilot:
        screen = await history(bench, pilot)
        await pilot.press("j")
        await settled(bench, pilot)
        assert details(screen).splitlines()[-1] == ("best ▆█ 8 of 8 cases right at best, of 2 runs; nothing was timed")


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


# Pictures


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
