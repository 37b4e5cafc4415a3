"""Every run and session that was kept: found, marked, looked at again, restored, deleted.

It keeps the filter and the window of the list; the store is asked in threads, through the host.  A
source is restored into a new file only, and nothing is deleted that was not asked about.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Input

from engine.errors import UsageError
from kgtui.background import in_background
from kgtui.history.paged_list import PagedList
from kgtui.screens import Place
from kgtui.screens.base.host import Host
from kgtui.screens.base.screen import KgtuiScreen
from kgtui.screens.history.marking import Marker
from kgtui.settings.keys import Where, bindings_of
from kgtui.state.compare.sides import FEWEST, unmarked
from kgtui.state.format.lines import Span, Tone, line, muted, strong
from kgtui.state.history.paging import PAGE
from kgtui.state.history.past_runs import (
    NOTHING_YET,
    SESSION_COLUMNS,
    run_columns,
    run_details,
    run_rows,
    session_details,
    session_rows,
    totals_line,
)
from kgtui.state.history.run_filter import HINT, read_filter, with_word
from kgtui.widgets.controls.ask import Ask
from kgtui.widgets.controls.bars import Bar, Strip
from kgtui.widgets.controls.entry import Entry
from kgtui.widgets.controls.too_small import TooSmall
from kgtui.widgets.tables.paged_grid import PagedGrid
from kgtui.widgets.text.toned import Lines
from sessions.rows import ListedRun, Milestone, RunFilter, SessionRow, Totals

PLACE = Place.OVER


def make(host: Host) -> HistoryScreen:
    """The list; it says itself when there is nothing in it."""
    return HistoryScreen(host)


class HistoryScreen(KgtuiScreen):
    """Lies over the screen that it was asked for on."""

    WHERE = Where.HISTORY
    CSS_PATH = "../../styles/history.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Where.HISTORY)]

    def __init__(self, host: Host) -> None:
        super().__init__()
        self._runs: PagedList[ListedRun] = PagedList(self._fetch_runs, number=lambda listed: listed.run.id)
        self._sessions: PagedList[SessionRow] = PagedList(self._fetch_sessions, number=lambda session: session.id)
        self._shows_sessions = False
        self._wanted = RunFilter()
        self._complaint = ""
        self._totals: Totals | None = None
        self._way: tuple[Milestone, ...] = ()
        self._marker = Marker(self)

    def compose(self) -> ComposeResult:
        """Totals, filter, list, what is under the cursor; a line to type in and a question when they are needed."""
        yield Lines(id="banner")
        yield Strip(id="head")
        yield Input(placeholder=f"/ to type: {HINT}", id="filter", compact=True)
        yield PagedGrid(run_columns(medium=False, wide=False), id="runs")
        yield Lines(id="empty")
        yield Lines(id="details")
        yield Entry(id="entry", selects=False)
        yield Ask(id="ask")
        yield Bar(id="keys")
        yield TooSmall()

    def on_mount(self) -> None:
        """Start on the list: letters are commands until something is to be typed."""
        self.query_one(Ask).display = False
        self.set_focus(self._grid)
        self.host_changed()

    # Drawing

    def host_changed(self) -> None:
        """A run was judged, or this screen is seen again: fetch what is shown anew."""
        self.draw()
        in_background(self, self._refresh, group="pages")

    def on_resize(self) -> None:
        """Other columns may have room."""
        self.call_after_refresh(self.draw)

    def draw(self) -> None:
        """Draw what has changed."""
        host = self.host
        self.show_trouble()
        grid = self._grid
        if self._shows_sessions:
            grid.show(session_rows(self._sessions.window.entries, glyphs=host.glyphs), SESSION_COLUMNS)
        else:
            columns = run_columns(medium=self.has_class("-medium"), wide=self.has_class("-wide"))
            entries, marked = self._runs.window.entries, host.past.marked
            rows = run_rows(entries, columns, glyphs=host.glyphs, now=host.now(), marked=marked)
            grid.show(rows, columns)
        self.set_class(not grid.shown, "-empty")
        self.query_one("#empty", Lines).show((line(muted(self._why_empty())),))
        self._draw_head()
        self._draw_details()
        nothing, sessions = not grid.shown, self._shows_sessions
        idle = dict.fromkeys(("mark", "compare", "tag", "note", "restore"), nothing or sessions)
        self.show_keys_but(idle | dict.fromkeys(("open-run", "delete"), nothing))

    def _draw_head(self) -> None:
        title = strong("Sessions  " if self._shows_sessions else "History  ")
        if self._complaint:
            words = line(title, Span(self._complaint, Tone.WARN))
        elif self._totals is None:
            words = line(title)
        else:
            words = line(title, *totals_line(self._totals, glyphs=self.host.glyphs))
        self.query_one("#head", Strip).show(((words, ()),))

    def _draw_details(self) -> None:
        session, listed = self.session, self.listed
        if session is not None:
            lines = session_details(session, glyphs=self.host.glyphs)
        elif listed is not None:
            file = self.host.kernels.shown(listed.run.path) if listed.run.path else "no file"
            lines = run_details(listed, self._way, file=file, glyphs=self.host.glyphs)
        else:
            lines = ()
        self.query_one("#details", Lines).show(lines)

    def _why_empty(self) -> str:
        if self.host.past.recording is None:
            return "the store is not open" if self.host.trouble else "opening the store"
        if not self._listing.loaded:
            return "reading the store"
        if self._wanted != RunFilter() and not self._shows_sessions:
            return "no run matches the filter; esc clears it"
        return NOTHING_YET

    # What is under the cursor

    @property
    def _grid(self) -> PagedGrid:
        return self.query_one(PagedGrid)

    @property
    def _listing(self) -> PagedList[ListedRun] | PagedList[SessionRow]:
        return self._sessions if self._shows_sessions else self._runs

    @property
    def _filter(self) -> Input:
        return self.query_one("#filter", Input)

    @property
    def listed(self) -> ListedRun | None:
        """The run under the cursor."""
        key = self._grid.current
        return None if key is None or self._shows_sessions else self._runs.window.find(int(key))

    @property
    def session(self) -> SessionRow | None:
        """The session under the cursor."""
        key = self._grid.current
        return None if key is None or not self._shows_sessions else self._sessions.window.find(int(key))

    # Actions

    def action_open(self) -> None:
        """Look at the run as it was, or list the runs of the session."""
        if self.session is not None:
            self._narrow("session", str(self.session.id))
            return
        listed = self.listed
        if listed is None:
            return
        run, workbench = listed.run, self.host.workbench
        problem = next((one for one in self.host.problems if one.name == run.problem), None)
        if problem is None:
            self.notify(
                f"{run.problem} is not in the catalogue, so #{run.id} cannot be shown; R restores its source",
                severity="warning",
                markup=False,
            )
        elif workbench is not None:
            self.host.action_show("workbench")
            workbench.open_past(run.id, problem=problem, filename=run.path.name if run.path is not None else "")
        elif run.path is None or not run.path.is_file():
            self._marker.ask_to_restore(listed)
        else:
            self.host.open_file(problem, run.path)
            if self.host.workbench is not None and self.host.workbench.bench.path == run.path:
                self.host.workbench.open_past(run.id, problem=problem, filename=run.path.name)

    def action_restore(self) -> None:
        """Put the source of the run into a new file, and open that."""
        self._marker.restore(self.listed)

    def action_mark(self) -> None:
        """Mark the run to be compared, or take that back."""
        self._marker.mark(self.listed)
        self.draw()

    def action_unmark(self) -> None:
        """Take back every mark."""
        past = self.host.past
        self.notify(unmarked(past.marked), markup=False)
        past.marked = ()
        self.draw()

    def action_compare(self) -> None:
        """Put the marked runs side by side; the run under the cursor is one of them where fewer than two are marked."""
        marked = self.host.past.marked
        if len(marked) < FEWEST and self.listed is not None and self.listed.run.id not in marked:
            self.action_mark()
        self.host.action_show("compare")

    def action_tag(self) -> None:
        """Put the run under a tag."""
        self._marker.tag(self.listed)

    def action_note(self) -> None:
        """Write a note to the run."""
        self._marker.note(self.listed)

    def action_delete(self) -> None:
        """Ask whether the run, or the session with its runs, is to go for good."""
        self._marker.ask_to_delete(self.listed or self.session)

    def action_filter(self) -> None:
        """Type what the runs must have."""
        self.set_focus(self._filter)

    def action_same(self, what: str) -> None:
        """Narrow to the operator or the file of the run under the cursor."""
        listed = self.listed
        if listed is None:
            return
        if what == "operator":
            self._narrow("op", listed.run.problem)
        elif listed.run.path is not None:
            self._narrow("file", listed.run.path.name)

    def action_sessions(self) -> None:
        """List the sessions, or the runs again."""
        self._shows_sessions = not self._shows_sessions
        self.host_changed()

    def action_copy_value(self) -> None:
        """Copy the number."""
        self.copy_text(f"#{self.listed.run.id}" if self.listed else str(self.session.id) if self.session else "")

    async def action_move(self, direction: str) -> None:
        """As everywhere; but top and bottom are those of the whole list."""
        listing = self._listing
        if direction == "top" and not listing.window.at_top:
            in_background(self, partial(self._jump, listing.load_newest, last=False), group="pages")
        elif direction == "bottom" and not listing.window.at_bottom:
            in_background(self, partial(self._jump, listing.load_oldest, last=True), group="pages")
        else:
            await super().action_move(direction)

    def action_back(self) -> None:
        """Undo one thing: the question, the typing, the list of sessions, the filter; then leave."""
        if self._marker.step_back() or (self.focused is self._filter and not self._filter.value):
            self.set_focus(self._grid)
        elif self._shows_sessions:
            self.action_sessions()
        elif self._filter.value:
            self._filter.value = ""
            self.set_focus(self._grid)
        else:
            self.action_close()

    # Messages

    @on(Input.Changed, "#filter")
    def _filter_changed(self, message: Input.Changed) -> None:
        try:
            wanted = read_filter(message.value)
        except UsageError as error:
            self._complaint = str(error)
            self._draw_head()
            return
        self._complaint = ""
        if wanted != self._wanted:
            self._wanted = wanted
            in_background(self, partial(self._jump, self._runs.load_newest, last=False), group="pages")
        self._draw_head()

    @on(Input.Submitted, "#filter")
    def _filter_submitted(self) -> None:
        self.set_focus(self._grid)

    @on(Input.Submitted, "#entry Input")
    def _entered(self, message: Input.Submitted) -> None:
        self.set_focus(self._grid)
        self._marker.entered(message.value)

    @on(Ask.Answered)
    def _answered(self, message: Ask.Answered) -> None:
        self.set_focus(self._grid)
        self._marker.answered(message.subject)

    @on(PagedGrid.Chosen)
    def _row_chosen(self) -> None:
        self.action_open()

    @on(PagedGrid.Moved)
    def _moved(self) -> None:
        self._draw_details()
        in_background(self, self._read_way, group="way")

    @on(PagedGrid.EndNear)
    def _end_near(self, message: PagedGrid.EndNear) -> None:
        listing = self._listing
        if not (listing.window.at_bottom if message.below else listing.window.at_top):
            in_background(self, partial(self._load_more, below=message.below), group="more")

    # Inside

    def changed(self, listed: ListedRun) -> None:
        """The run has another tag or note."""
        self._runs.window = self._runs.window.with_entry(listed)
        self.draw()

    def deleted(self, number: int, *, is_session: bool) -> None:
        """The run or session is gone."""
        listing, past = self._sessions if is_session else self._runs, self.host.past
        past.marked = tuple(one for one in past.marked if is_session or one != number)
        listing.window = listing.window.without(number)
        self.host_changed()

    def _narrow(self, name: str, value: str) -> None:
        self._shows_sessions = False
        self._filter.value = with_word(self._filter.value, name, value)
        self.draw()

    async def _fetch_runs(
        self, *, before: int | None = None, after: int | None = None, limit: int = PAGE
    ) -> tuple[ListedRun, ...] | None:
        wanted = self._wanted
        return await self.host.past.ask(lambda archive: archive.runs(wanted, before=before, after=after, limit=limit))

    async def _fetch_sessions(
        self, *, before: int | None = None, after: int | None = None, limit: int = PAGE
    ) -> tuple[SessionRow, ...] | None:
        return await self.host.past.ask(lambda archive: archive.sessions(before=before, after=after, limit=limit))

    async def _refresh(self) -> None:
        await self._listing.refresh()
        await self._count()

    async def _jump(self, load: Callable[[], Awaitable[None]], *, last: bool) -> None:
        """Show another part of the list, the cursor on its first or last row."""
        await load()
        self.draw()
        self._grid.go_to(len(self._grid.shown) - 1 if last else 0)
        await self._count()

    async def _load_more(self, *, below: bool) -> None:
        # By what is seen, not by the cursor: the wheel leaves that behind, and all between would have to be kept.
        listing, grid = self._listing, self._grid
        if below:
            await listing.load_below(first_seen=lambda: grid.seen[0])
        else:
            await listing.load_above(last_seen=lambda: grid.seen[1])
        self.draw()

    async def _count(self) -> None:
        wanted = RunFilter() if self._shows_sessions else self._wanted
        self._totals = await self.host.past.ask(lambda archive: archive.totals(wanted))
        self.draw()
        await self._read_way()

    async def _read_way(self) -> None:
        listed = self.listed
        if listed is None:
            return
        number = listed.run.id
        with contextlib.suppress(UsageError):  # deleted a moment ago, here or by another program
            self._way = await self.host.past.ask(lambda archive: archive.way(number)) or ()
        self._draw_details()
