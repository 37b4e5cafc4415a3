"""The list of runs or of sessions: its filter, its loaded part, and the row under the cursor.

Store queries run in threads, by the host.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any

from textual.widgets import Input

from engine.errors import UsageError
from kgtui.background import in_background
from kgtui.history.paged_list import PagedList
from kgtui.screens.base.screen import KgtuiScreen
from kgtui.state.history.paging import PAGE
from kgtui.state.history.past_runs import NOTHING_YET
from kgtui.state.history.run_filter import read_filter, with_word
from kgtui.widgets.tables.paged_grid import PagedGrid
from sessions.rows import ListedRun, Milestone, RunFilter, SessionRow, Totals


class Listing:
    """The list of one History screen; its controllers get the entry under the cursor from it."""

    def __init__(self, screen: KgtuiScreen, *, draw_details: Callable[[], None]) -> None:
        self.screen = screen
        self._draw_details = draw_details
        self.runs: PagedList[ListedRun] = PagedList(self._fetch_runs, number=lambda listed: listed.run.id)
        self.sessions: PagedList[SessionRow] = PagedList(self._fetch_sessions, number=lambda session: session.id)
        self.shows_sessions = False
        self.wanted = RunFilter()
        self.complaint = ""
        self.totals: Totals | None = None
        self.milestones: tuple[Milestone, ...] = ()

    @property
    def grid(self) -> PagedGrid:
        """The table."""
        return self.screen.query_one(PagedGrid)

    @property
    def filter(self) -> Input:
        """The line with the filter."""
        return self.screen.query_one("#filter", Input)

    @property
    def shown(self) -> PagedList[ListedRun] | PagedList[SessionRow]:
        """The shown list."""
        return self.sessions if self.shows_sessions else self.runs

    @property
    def listed(self) -> ListedRun | None:
        """The run under the cursor."""
        key = self.grid.current
        return None if key is None or self.shows_sessions else self.runs.window.find(int(key))

    @property
    def session(self) -> SessionRow | None:
        """The session under the cursor."""
        key = self.grid.current
        return None if key is None or not self.shows_sessions else self.sessions.window.find(int(key))

    @property
    def why_empty(self) -> str:
        """Why no row is shown."""
        host = self.screen.host
        if host.run_history.recording is None:
            return "the store is not open" if host.trouble else "opening the store"
        if not self.shown.loaded:
            return "reading the store"
        if self.wanted != RunFilter() and not self.shows_sessions:
            return "no run matches the filter; esc clears it"
        return NOTHING_YET

    def refuse(self, what: str) -> None:
        """Report that there is no `what` here, since no run is under the cursor."""
        why = "not available for a session; enter lists its runs" if self.session else "there is no run here"
        self.screen.notify(f"{what}: {why}", markup=False)

    # Shown content

    def take_filter(self, text: str) -> None:
        """Show the runs that match this filter; an invalid filter changes nothing."""
        try:
            wanted = read_filter(text)
        except UsageError as error:
            self.complaint = str(error)
            return
        self.complaint = ""
        if wanted != self.wanted:
            self.wanted = wanted
            self._in_background(partial(self._jump, self.runs.load_newest, last=False))

    def narrow(self, name: str, value: str) -> None:
        """Add a word to the filter, and list runs."""
        self.shows_sessions = False
        self.filter.value = with_word(self.filter.value, name, value)
        self.screen.draw()

    def refresh(self) -> None:
        """Fetch the shown rows again."""
        self._in_background(self._refresh)

    def go_to_top(self) -> bool:
        """Load the top of the list and go there; False if it is already loaded."""
        listing = self.shown
        is_loaded = listing.window.at_top
        if not is_loaded:
            self._in_background(partial(self._jump, listing.load_newest, last=False))
        return not is_loaded

    def go_to_bottom(self) -> bool:
        """Load the bottom of the list and go there; False if it is already loaded."""
        listing = self.shown
        is_loaded = listing.window.at_bottom
        if not is_loaded:
            self._in_background(partial(self._jump, listing.load_oldest, last=True))
        return not is_loaded

    def load_more(self, *, below: bool) -> None:
        """Load the next page below or above the loaded ones."""
        window = self.shown.window
        if not (window.at_bottom if below else window.at_top):
            in_background(self.screen, partial(self._load_more, below=below), group="more")

    def read_milestones(self) -> None:
        """Read the progress of the file of the run under the cursor, and draw it."""
        in_background(self.screen, self._read_milestones, group="way")

    # Changes

    def changed(self, listed: ListedRun) -> None:
        """Redraw after a change of a run's tag or note."""
        self.runs.window = self.runs.window.with_entry(listed)
        self.screen.draw()

    def deleted(self, number: int, *, is_session: bool) -> None:
        """Redraw after the deletion of a run or session."""
        history = self.screen.host.run_history
        history.marked = tuple(one for one in history.marked if is_session or one != number)
        if is_session:
            self.sessions.window = self.sessions.window.without(number)
        else:
            self.runs.window = self.runs.window.without(number)
        self.screen.host_changed()

    # Inside

    def _in_background(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:  # Any: as in `in_background`
        in_background(self.screen, work, group="pages")

    async def _fetch_runs(
        self, *, before: int | None = None, after: int | None = None, limit: int = PAGE
    ) -> tuple[ListedRun, ...] | None:
        wanted = self.wanted
        history = self.screen.host.run_history
        return await history.ask(lambda store: store.runs(wanted, before=before, after=after, limit=limit))

    async def _fetch_sessions(
        self, *, before: int | None = None, after: int | None = None, limit: int = PAGE
    ) -> tuple[SessionRow, ...] | None:
        history = self.screen.host.run_history
        return await history.ask(lambda store: store.sessions(before=before, after=after, limit=limit))

    async def _refresh(self) -> None:
        await self.shown.refresh()
        await self._count()

    async def _jump(self, load: Callable[[], Awaitable[None]], *, last: bool) -> None:
        """Show another part of the list, with the cursor on its first or last row."""
        await load()
        self.screen.draw()
        self.grid.go_to(len(self.grid.shown) - 1 if last else 0)
        await self._count()

    async def _load_more(self, *, below: bool) -> None:
        # By the visible rows, not by the cursor, which the mouse wheel does not move.
        listing, grid = self.shown, self.grid
        if below:
            await listing.load_below(first_seen=lambda: grid.seen[0])
        else:
            await listing.load_above(last_seen=lambda: grid.seen[1])
        self.screen.draw()

    async def _count(self) -> None:
        wanted = RunFilter() if self.shows_sessions else self.wanted
        self.totals = await self.screen.host.run_history.ask(lambda store: store.totals(wanted))
        self.screen.draw()
        await self._read_milestones()

    async def _read_milestones(self) -> None:
        listed = self.listed
        if listed is None:
            return
        number = listed.run.id
        with contextlib.suppress(UsageError):  # deleted meanwhile, here or by another process
            self.milestones = await self.screen.host.run_history.ask(lambda store: store.milestones(number)) or ()
        self._draw_details()
