"""Tags, notes and reviews of runs on the History screen; tags and notes are typed in an input line."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias, TypeVar

from kgtui.background import in_background
from kgtui.history.store_admin import StoreAdmin
from kgtui.screens.history.asking import ask_store
from kgtui.screens.history.listing import Listing
from kgtui.widgets.controls.entry import Entry
from sessions.rows import ListedRun, Review

_TAG_HINT = "one word; leave empty to remove it"
_NOTE_HINT = "leave empty to remove it"

T = TypeVar("T")
Change: TypeAlias = Callable[[StoreAdmin, int, T | None], ListedRun]


class Annotator:
    """Edits tags, notes and reviews of runs."""

    def __init__(self, listing: Listing) -> None:
        self._listing = listing

    def action_tag(self) -> None:
        """Open the input for the tag of the run."""
        listed = self._listing.listed
        if listed is None:
            self._listing.refuse("tag")
        else:
            label = f"tag of #{listed.run.id}"
            self._ask(listed, label, StoreAdmin.set_tag, hint=_TAG_HINT, value=listed.run.tag)

    def action_note(self) -> None:
        """Open the input for the note of the run."""
        listed = self._listing.listed
        if listed is None:
            self._listing.refuse("note")
        else:
            label = f"note to #{listed.run.id}"
            self._ask(listed, label, StoreAdmin.set_note, hint=_NOTE_HINT, value=listed.run.note)

    def action_review(self, wanted: str) -> None:
        """Pin or veto the run; the same action again undoes it."""
        listed = self._listing.listed
        if listed is None:
            self._listing.refuse(wanted)
            return
        review = None if listed.run.review == wanted else Review(wanted)
        in_background(self._listing.screen, partial(self._keep, listed.run.id, review, StoreAdmin.review), group="mark")

    @property
    def _entry(self) -> Entry:
        return self._listing.screen.query_one("#entry", Entry)

    def _ask(self, listed: ListedRun, label: str, change: Change[str], *, hint: str, value: str | None) -> None:
        self._listing.screen.app.clear_notifications()  # they would cover the input line
        self._entry.ask(label, submitted=partial(self._entered, listed, change), hint=hint, value=value or "")

    def _entered(self, listed: ListedRun, change: Change[str], text: str) -> None:
        """Save the text; after an invalid tag the input stays open, or the next letters would be commands."""
        screen = self._listing.screen
        screen.set_focus(self._listing.grid)
        words = len(text.split())
        if change is StoreAdmin.set_tag and words > 1:
            label = f"tag of #{listed.run.id}: expected one word, got {words}"
            self._entry.ask(label, submitted=partial(self._entered, listed, change), hint=_TAG_HINT, value=text)
        else:
            self._entry.close()
            in_background(screen, partial(self._keep, listed.run.id, text.strip() or None, change), group="mark")

    async def _keep(self, number: int, value: T | None, change: Change[T]) -> None:
        listed = await ask_store(self._listing.screen, lambda store: change(store, number, value))
        if listed is not None:
            self._listing.changed(listed)
