"""The store for the History screen: pages, totals, tags and notes, and deletion with compiled code of deleted runs.
Called from threads only: a query may wait for another process's write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgtui.history.comparison_source import read_side
from kgtui.ports.requests import AGENT_TAG
from kgtui.state.history.paging import PAGE
from sessions.rows import ListedRun, Milestone, Review, RunFilter, RunRow, SessionRow, Totals

if TYPE_CHECKING:
    from collections.abc import Callable

    from kgtui.state.compare.sides import Side
    from sessions import Deleted, Store


class StoreAdmin:
    """The whole store.  Each method may raise StoreError, and UsageError for an entry that does not exist."""

    def __init__(self, store: Store, *, remove_artefact: Callable[[str], None]) -> None:
        self._store = store
        self._remove_artefact = remove_artefact

    def runs(
        self, wanted: RunFilter, *, before: int | None = None, after: int | None = None, limit: int = PAGE
    ) -> tuple[ListedRun, ...]:
        """A page of runs, newest first."""
        return self._store.page(wanted, before_id=before, after_id=after, limit=limit)

    def sessions(
        self, *, before: int | None = None, after: int | None = None, limit: int = PAGE
    ) -> tuple[SessionRow, ...]:
        """A page of sessions, newest first."""
        return self._store.sessions(before_id=before, after_id=after, limit=limit)

    def totals(self, wanted: RunFilter) -> Totals:
        """Totals of these runs."""
        return self._store.totals(wanted)

    def milestones(self, number: int) -> tuple[Milestone, ...]:
        """The runs of the same file, the oldest first."""
        return self._store.milestones(number)

    def review(self, number: int, review: Review | None) -> ListedRun:
        """Pin or veto a run, or undo that; returns the updated run."""
        self._store.set_review(number, review)
        return self._listed(number)

    def change_number(self) -> int:
        """A number that changes when another process writes to the store."""
        return self._store.change_number()

    def agent_runs(self, *, limit: int) -> tuple[RunRow, ...]:
        """The newest runs of coding agents."""
        return tuple(self._store.runs(RunFilter(tag=AGENT_TAG), limit=limit))

    def side(self, number: int) -> Side:
        """A run as one side of a comparison."""
        return read_side(self._store, number)

    def source(self, digest: str) -> bytes:
        """The source with this hash."""
        return self._store.source(digest)

    def set_tag(self, number: int, tag: str | None) -> ListedRun:
        """Set or remove the tag of a run; returns the updated run."""
        self._store.set_tag(number, tag)
        return self._listed(number)

    def set_note(self, number: int, note: str | None) -> ListedRun:
        """Set or remove the note of a run; returns the updated run."""
        self._store.set_note(number, note)
        return self._listed(number)

    def delete_run(self, number: int) -> Deleted:
        """Delete a run permanently."""
        return self._removed(self._store.delete_run(number))

    def delete_session(self, number: int) -> Deleted:
        """Delete a session with all its runs permanently."""
        return self._removed(self._store.delete_session(number))

    def _listed(self, number: int) -> ListedRun:
        return self._store.page(RunFilter(), before_id=number + 1, limit=1)[0]

    def _removed(self, deleted: Deleted) -> Deleted:
        for digest in deleted.artefacts:
            self._remove_artefact(digest)
        return deleted
