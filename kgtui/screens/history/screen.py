"""Every stored run and session: search, mark, show, restore, delete.
The list with its filter and the actions on the entry under its cursor are controllers with one job each; the screen
composes the widgets and draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Input

from kgtui.screens import Place
from kgtui.screens.base.host import Host
from kgtui.screens.base.screen import KgtuiScreen
from kgtui.screens.history.annotating import Annotator
from kgtui.screens.history.comparing import RunMarker
from kgtui.screens.history.deleting import Deleter
from kgtui.screens.history.listing import Listing
from kgtui.screens.history.opening import RunOpener
from kgtui.settings.keys import Where, bindings_of
from kgtui.state.format.lines import Span, Tone, line, muted, strong
from kgtui.state.history.past_runs import (
    SESSION_COLUMNS,
    run_columns,
    run_details,
    run_rows,
    session_details,
    session_rows,
    totals_line,
)
from kgtui.state.history.run_filter import HINT
from kgtui.widgets.controls.ask import Ask
from kgtui.widgets.controls.bars import Bar, Strip
from kgtui.widgets.controls.entry import Entry
from kgtui.widgets.controls.too_small import TooSmall
from kgtui.widgets.tables.paged_grid import PagedGrid
from kgtui.widgets.text.toned import Lines
from kgtui.widgets.text.typed_keys import Field

PLACE = Place.OVER


def make(host: Host) -> HistoryScreen:
    """The list; an empty one shows a message."""
    return HistoryScreen()


class HistoryScreen(KgtuiScreen):
    """The history, over the screen that opened it."""

    WHERE = Where.HISTORY
    CSS_PATH = "../../styles/history.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Where.HISTORY)]
    CONTROLLERS: ClassVar[Mapping[str, type[object]]] = {
        "opener": RunOpener,
        "marker": RunMarker,
        "annotator": Annotator,
        "deleter": Deleter,
    }

    def __init__(self) -> None:
        super().__init__()
        self._listing = listing = Listing(self, draw_details=self._draw_details)
        self.opener = RunOpener(listing)
        self.marker = RunMarker(listing)
        self.annotator = Annotator(listing)
        self.deleter = Deleter(listing)

    def compose(self) -> ComposeResult:
        """Create the widgets: totals, filter, list, details of the row under the cursor, an input and a question."""
        yield Lines(id="banner")
        yield Strip(id="head")
        yield Field(placeholder=f"/ to type: {HINT}", id="filter", compact=True)
        yield PagedGrid(run_columns(medium=False, wide=False), id="runs")
        yield Lines(id="empty")
        yield Lines(id="details")
        yield Entry(id="entry", selects=False)
        yield Ask(id="ask")
        yield Bar(id="keys")
        yield TooSmall()

    def on_mount(self) -> None:
        """Focus the list: letters are commands until an input is open."""
        self.query_one(Ask).display = False
        self.set_focus(self._listing.grid)
        self.host_changed()

    # Drawing

    def host_changed(self) -> None:
        """Fetch the shown rows again after a run, or when this screen is shown."""
        self.draw()
        self._listing.refresh()

    def on_resize(self) -> None:
        """Choose the columns for the new width."""
        self.call_after_refresh(self.draw)

    def draw(self) -> None:
        """Draw what has changed."""
        host, listing = self.host, self._listing
        self.show_trouble()
        grid = listing.grid
        listing.filter.display = not listing.shows_sessions  # it selects runs
        if listing.shows_sessions:
            grid.show(session_rows(listing.sessions.window.entries, glyphs=host.glyphs), SESSION_COLUMNS)
        else:
            columns = run_columns(medium=self.has_class("-medium"), wide=self.has_class("-wide"))
            entries, marked = listing.runs.window.entries, host.run_history.marked
            rows = run_rows(entries, columns, glyphs=host.glyphs, now=host.now(), marked=marked)
            grid.show(rows, columns)
        self.set_class(not grid.shown, "-empty")
        self.query_one("#empty", Lines).show((line(muted(listing.why_empty)),))
        self._draw_head()
        self._draw_details()
        nothing, sessions = not grid.shown, listing.shows_sessions
        idle = dict.fromkeys(("mark", "compare", "tag", "note", "pin", "veto", "restore"), nothing or sessions)
        self.show_keys_but(idle | dict.fromkeys(("open-run", "delete"), nothing))

    def _draw_head(self) -> None:
        listing = self._listing
        title = strong("Sessions  " if listing.shows_sessions else "History  ")
        if listing.complaint:
            words = line(title, Span(listing.complaint, Tone.WARN))
        elif listing.totals is None:
            words = line(title)
        else:
            words = line(title, *totals_line(listing.totals, glyphs=self.host.glyphs))
        self.query_one("#head", Strip).show(((words, ()),))

    def _draw_details(self) -> None:
        session, listed = self._listing.session, self._listing.listed
        if session is not None:
            lines = session_details(session, glyphs=self.host.glyphs)
        elif listed is not None:
            file = self.host.kernels.shown(listed.run.path) if listed.run.path else "no file"
            lines = run_details(listed, self._listing.milestones, file=file, glyphs=self.host.glyphs)
        else:
            lines = ()
        self.query_one("#details", Lines).show(lines)

    # Actions

    def action_filter(self) -> None:
        """Open the input for the filter of the runs."""
        if self._listing.shows_sessions:
            self.action_sessions()
        self.set_focus(self._listing.filter)

    def action_same(self, what: str) -> None:
        """Narrow to the operator or the file of the run under the cursor."""
        listed = self._listing.listed
        if listed is None:
            return
        if what == "operator":
            self._listing.narrow("op", listed.run.problem)
        elif listed.run.path is not None:
            self._listing.narrow("file", listed.run.path.name)

    def action_sessions(self) -> None:
        """List the sessions, or the runs again."""
        self._listing.shows_sessions = not self._listing.shows_sessions
        self.host_changed()

    def action_copy_value(self) -> None:
        """Copy the number."""
        listed, session = self._listing.listed, self._listing.session
        self.copy_text(f"#{listed.run.id}" if listed else str(session.id) if session else "")

    async def action_move(self, direction: str) -> None:
        """Move as on other screens, but top and bottom are those of the whole list."""
        if direction == "top" and self._listing.go_to_top():
            return
        if direction == "bottom" and self._listing.go_to_bottom():
            return
        await super().action_move(direction)

    def action_back(self) -> None:
        """Undo one step: close the question, the input, the list of sessions or the filter; then leave."""
        listing = self._listing
        if self._withdraw() or (self.focused is listing.filter and not listing.filter.value):
            self.set_focus(listing.grid)
        elif listing.shows_sessions:
            self.action_sessions()
        elif listing.filter.value:
            listing.filter.value = ""
            self.set_focus(listing.grid)
        else:
            self.action_close()

    def _withdraw(self) -> bool:
        """Close the question or the input line; False if neither is open."""
        ask, entry = self.query_one(Ask), self.query_one("#entry", Entry)
        was_open = bool(ask.subject) or entry.display
        if ask.subject:
            ask.close()
        entry.close()
        return was_open

    # Messages

    @on(Input.Changed, "#filter")
    def _filter_changed(self, message: Input.Changed) -> None:
        self._listing.take_filter(message.value)
        self._draw_head()

    @on(Input.Submitted, "#filter")
    def _filter_submitted(self) -> None:
        self.set_focus(self._listing.grid)

    @on(PagedGrid.Chosen)
    def _row_chosen(self) -> None:
        self.opener.action_open()

    @on(PagedGrid.Moved)
    def _moved(self) -> None:
        self._draw_details()
        self._listing.read_milestones()

    @on(PagedGrid.EndNear)
    def _end_near(self, message: PagedGrid.EndNear) -> None:
        self._listing.load_more(below=message.below)
