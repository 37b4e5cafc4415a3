"""Permanently deletes runs and sessions, always after a question."""

from __future__ import annotations

from functools import partial

from engine.model.counts import counted
from kgtui.background import in_background
from kgtui.screens.history.asking import ask_store, ask_user
from kgtui.screens.history.listing import Listing
from kgtui.widgets.controls.ask import Answer
from sessions.rows import ListedRun, SessionRow

_DELETE = "delete"


class Deleter:
    """Deletes runs and sessions after a question."""

    def __init__(self, listing: Listing) -> None:
        self._listing = listing

    def action_delete(self) -> None:
        """Ask whether to delete the run, or the session with its runs."""
        listed, session = self._listing.listed, self._listing.session
        if listed is not None:
            question = f"Permanently delete #{listed.run.id} with its events, times and source?"
        elif session is not None:
            question = f"Permanently delete session {session.id} with its {counted(session.runs, 'run')} and its costs?"
        subject = listed or session
        if subject is not None:
            answer = Answer(key="y", label="delete")
            ask_user(self._listing.screen, _DELETE, question, answer, answered=partial(self._answered, subject))

    def _answered(self, subject: ListedRun | SessionRow, key: str) -> None:
        """Delete the entries of the question, even if the cursor has moved since."""
        screen = self._listing.screen
        screen.set_focus(self._listing.grid)
        in_background(screen, partial(self._delete, subject), group="mark")

    async def _delete(self, subject: ListedRun | SessionRow) -> None:
        screen, is_session = self._listing.screen, isinstance(subject, SessionRow)
        host = screen.host
        number = subject.id if isinstance(subject, SessionRow) else subject.run.id
        done = await ask_store(
            screen, lambda store: store.delete_session(number) if is_session else store.delete_run(number)
        )
        if done is None:
            return
        screen.notify(f"{f'session {number}' if is_session else f'#{number}'} is deleted", markup=False)
        self._listing.deleted(number, is_session=is_session)
        await host.run_history.refresh()
        if host.workbench is not None:
            host.workbench.history.read()
