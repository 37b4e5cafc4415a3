"""Marking runs for comparison."""

from __future__ import annotations

from engine.errors import UsageError
from kgtui.screens.history.listing import Listing
from kgtui.state.compare.sides import FEWEST, toggled, unmarked


class RunMarker:
    """Marks runs of the list, and compares them."""

    def __init__(self, listing: Listing) -> None:
        self._listing = listing

    def action_mark(self) -> None:
        """Mark the run for comparison, or unmark it."""
        screen, listed = self._listing.screen, self._listing.listed
        history = screen.host.run_history
        if listed is None:
            self._listing.refuse("mark")
        else:
            try:
                history.marked = toggled(history.marked, listed.run.id)
            except UsageError as error:
                screen.notify(str(error), severity="warning", markup=False)
        screen.draw()

    def action_unmark(self) -> None:
        """Remove all marks."""
        screen = self._listing.screen
        history = screen.host.run_history
        screen.notify(unmarked(history.marked), markup=False)
        history.marked = ()
        screen.draw()

    def action_compare(self) -> None:
        """Compare the marked runs; with fewer than two marks the run under the cursor is one of them."""
        host, listed = self._listing.screen.host, self._listing.listed
        marked = host.run_history.marked
        if len(marked) < FEWEST and listed is not None and listed.run.id not in marked:
            self.action_mark()
        host.action_show("compare")
