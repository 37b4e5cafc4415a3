"""From a row of the list to the run, to the runs of a session, or to a new file with its source.

A source is restored into a new file only.
"""

from __future__ import annotations

from functools import partial

from engine.errors import UsageError
from engine.problem_source import ProblemDescription
from kgtui.background import in_background
from kgtui.screens.history.asking import ask_store, ask_user
from kgtui.screens.history.listing import Listing
from kgtui.widgets.controls.ask import Answer
from sessions.rows import ListedRun

_RESTORE = "restore"


class RunOpener:
    """Opens the run under the cursor, or restores its source."""

    def __init__(self, listing: Listing) -> None:
        self._listing = listing

    def action_open(self) -> None:
        """Show the run, or list the runs of the session."""
        session, listed = self._listing.session, self._listing.listed
        if session is not None:
            self._listing.narrow("session", str(session.id))
        elif listed is not None:
            self._open(listed)

    def action_restore(self) -> None:
        """Write the source of the run to a new file, and open that."""
        listed = self._listing.listed
        if listed is not None:
            in_background(self._listing.screen, partial(self._restore, listed), group="mark")
        else:
            self._listing.refuse("source to restore")

    def _open(self, listed: ListedRun) -> None:
        host, run = self._listing.screen.host, listed.run
        workbench, described = host.workbench, self._problem_of(listed)
        if described is None:
            words = f"{run.problem} is not in the catalogue, so #{run.id} cannot be shown; R restores its source"
            self._listing.screen.notify(words, severity="warning", markup=False)
        elif (problem := host.problem_named(run.problem)) is None:
            return  # its file is invalid, which is shown
        elif workbench is not None:
            host.action_show("workbench")
            workbench.history.open(run.id, problem=problem, path=run.path)
        elif run.path is None or not run.path.is_file():
            self._ask_to_restore(listed)
        else:
            host.open_file(problem, run.path)
            if host.workbench is not None and host.workbench.bench.path == run.path:
                host.workbench.history.open(run.id, problem=problem, path=run.path)

    def _problem_of(self, listed: ListedRun) -> ProblemDescription | None:
        return next((one for one in self._listing.screen.host.problems if one.name == listed.run.problem), None)

    def _ask_to_restore(self, listed: ListedRun) -> None:
        """Ask whether to restore the run's missing file."""
        question = f"The file of #{listed.run.id} is missing. Restore it to a new file?"
        answer = Answer(key="r", label="restore")
        ask_user(self._listing.screen, _RESTORE, question, answer, answered=partial(self._answered, listed))

    def _answered(self, listed: ListedRun, key: str) -> None:
        screen = self._listing.screen
        screen.set_focus(self._listing.grid)
        in_background(screen, partial(self._restore, listed), group="mark")

    async def _restore(self, listed: ListedRun) -> None:
        screen, run = self._listing.screen, listed.run
        host = screen.host
        source = await ask_store(screen, lambda store: store.source(run.digest))
        if source is None:
            return
        problem = self._problem_of(listed)
        name = run.path.name if run.path else f"{run.problem.rpartition('::')[2]}.py"
        try:
            path = host.kernels.restore(source, name=name, number=run.id)
        except UsageError as error:
            screen.notify(str(error), severity="error", markup=False)
            return
        screen.notify(f"the source of #{run.id} is now in {host.kernels.shown(path)}", markup=False)
        if problem is not None:
            host.open_file(problem, path)
