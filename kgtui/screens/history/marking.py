"""The part of History that changes something: tags, notes, a restored file, and what is deleted for good."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from engine.errors import StoreError, UsageError
from kgtui.background import in_background
from kgtui.history.store_admin import StoreAdmin
from kgtui.state.compare.sides import toggled
from kgtui.state.history.past_runs import counted
from kgtui.widgets.controls.ask import Answer, Ask
from kgtui.widgets.controls.entry import Entry
from sessions.rows import ListedRun, SessionRow

if TYPE_CHECKING:
    from kgtui.screens.history.screen import HistoryScreen

_DELETE = "delete"
_RESTORE = "restore"
_TAG_HINT = "one word; an empty line takes it away"

T = TypeVar("T")


class Marker:
    """One for each History screen; remembers what a question or a line to type in is about."""

    def __init__(self, screen: HistoryScreen) -> None:
        self._screen = screen
        self._subject: ListedRun | SessionRow | None = None
        self._mark: Callable[[StoreAdmin, int, str | None], ListedRun] | None = None

    def mark(self, listed: ListedRun | None) -> None:
        """Mark this run to be compared, or take that back."""
        past = self._screen.host.past
        if listed is None:
            self._refuse("mark")
            return
        try:
            past.marked = toggled(past.marked, listed.run.id)
        except UsageError as error:
            self._screen.notify(str(error), severity="warning", markup=False)

    def tag(self, listed: ListedRun | None) -> None:
        """Let the user type the tag of this run."""
        if listed is not None:
            self._enter(listed, f"tag of #{listed.run.id}", StoreAdmin.set_tag, hint=_TAG_HINT, value=listed.run.tag)
        else:
            self._refuse("tag")

    def note(self, listed: ListedRun | None) -> None:
        """Let the user type the note to this run."""
        if listed is not None:
            hint = "an empty line takes it away"
            self._enter(listed, f"note to #{listed.run.id}", StoreAdmin.set_note, hint=hint, value=listed.run.note)
        else:
            self._refuse("note")

    def entered(self, text: str) -> None:
        """Keep what was typed; a tag that is none is asked for again, as what is typed next would be commands."""
        listed, mark = self._subject, self._mark
        if not isinstance(listed, ListedRun) or mark is None:
            return
        words = len(text.split())
        if mark is StoreAdmin.set_tag and words > 1:
            self._entry.ask(f"tag of #{listed.run.id}, one word and not {words}", hint=_TAG_HINT, value=text)
        else:
            self._entry.close()
            in_background(self._screen, partial(self._keep, listed.run.id, text.strip() or None, mark), group="mark")

    def ask_to_delete(self, subject: ListedRun | SessionRow | None) -> None:
        """Ask whether this is to go for good."""
        if isinstance(subject, ListedRun):
            question = f"Delete #{subject.run.id} with its events, times and source for good?"
        elif subject is not None:
            question = f"Delete session {subject.id} with its {counted(subject.runs, 'run')} and its costs for good?"
        else:
            return
        self._ask(subject, _DELETE, question, Answer(key="y", label="delete"))

    def ask_to_restore(self, listed: ListedRun) -> None:
        """Its file is gone: ask whether to make one."""
        question = f"The file of #{listed.run.id} is gone. Put its source into a new one?"
        self._ask(listed, _RESTORE, question, Answer(key="r", label="restore"))

    def answered(self, question: str) -> None:
        """Do what was asked about, and to nothing else, wherever the cursor is by now."""
        subject = self._subject
        if question == _RESTORE and isinstance(subject, ListedRun):
            self.restore(subject)
        elif question == _DELETE and subject is not None:
            in_background(self._screen, partial(self._delete, subject), group="mark")

    def restore(self, listed: ListedRun | None) -> None:
        """Put the source of this run into a new file, and open that."""
        if listed is not None:
            in_background(self._screen, partial(self._restore, listed), group="mark")
        else:
            self._refuse("source to restore")

    def step_back(self) -> bool:
        """Withdraw the question or the line; False when there is neither."""
        ask, entry = self._screen.query_one(Ask), self._entry
        if not ask.subject and not entry.display:
            return False
        if ask.subject:
            ask.close()
        entry.close()
        return True

    @property
    def _entry(self) -> Entry:
        return self._screen.query_one("#entry", Entry)

    def _enter(
        self,
        listed: ListedRun,
        label: str,
        mark: Callable[[StoreAdmin, int, str | None], ListedRun],
        *,
        hint: str,
        value: str | None,
    ) -> None:
        self._screen.app.clear_notifications()  # they would lie over the line
        self._subject, self._mark = listed, mark
        self._entry.ask(label, hint=hint, value=value or "")

    def _ask(self, subject: ListedRun | SessionRow, kind: str, question: str, answer: Answer) -> None:
        self._screen.app.clear_notifications()  # they would lie over the question
        self._subject = subject
        self._screen.query_one(Ask).ask(kind, question, (answer,))

    def _refuse(self, what: str) -> None:
        why = "a session has none; enter lists its runs" if self._screen.session else "there is no run here"
        self._screen.notify(f"{what}: {why}", markup=False)

    async def _keep(
        self, number: int, text: str | None, mark: Callable[[StoreAdmin, int, str | None], ListedRun]
    ) -> None:
        listed = await self._done(lambda archive: mark(archive, number, text))
        if listed is not None:
            self._screen.changed(listed)

    async def _delete(self, subject: ListedRun | SessionRow) -> None:
        host, is_session = self._screen.host, isinstance(subject, SessionRow)
        number = subject.id if isinstance(subject, SessionRow) else subject.run.id
        what = f"session {number}" if is_session else f"#{number}"
        done = await self._done(
            lambda archive: archive.delete_session(number) if is_session else archive.delete_run(number)
        )
        if done is None:
            return
        self._screen.notify(f"{what} is deleted", markup=False)
        self._screen.deleted(number, is_session=is_session)
        await host.past.refresh()
        if host.workbench is not None:
            host.workbench.read_history()

    async def _restore(self, listed: ListedRun) -> None:
        screen, run = self._screen, listed.run
        host = screen.host
        source = await self._done(lambda archive: archive.source(run.digest))
        if source is None:
            return
        problem = next((one for one in host.problems if one.name == run.problem), None)
        name = run.path.name if run.path else f"{run.problem.rpartition('::')[2]}.py"
        try:
            path = host.kernels.restore(source, name=name, number=run.id)
        except UsageError as error:
            screen.notify(str(error), severity="error", markup=False)
            return
        screen.notify(f"the source of #{run.id} is now in {host.kernels.shown(path)}", markup=False)
        if problem is not None:
            host.open_file(problem, path)

    async def _done(self, question: Callable[[StoreAdmin], T]) -> T | None:
        """The answer; None when it failed, which is said."""
        try:
            return await self._screen.host.past.ask(question)
        except (UsageError, StoreError) as error:
            self._screen.notify(str(error), severity="error", markup=False)
            return None
