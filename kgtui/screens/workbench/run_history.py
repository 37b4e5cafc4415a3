"""Past runs on the workbench: their list, and showing one."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from engine.errors import UsageError
from engine.model import Problem
from kgtui.background import in_background
from kgtui.ports.protocols import BestRun, PastRun
from kgtui.screens.workbench.context import WorkbenchContext
from kgtui.screens.workbench.tabs import TabSwitcher
from kgtui.state.compare.sides import toggled, unmarked
from kgtui.widgets.panes.base.pane import is_seen
from kgtui.widgets.panes.history import HistoryPane


class PastRunViewer:
    """Lists past runs of the operator, and shows one of them."""

    def __init__(self, context: WorkbenchContext, *, tabs: TabSwitcher) -> None:
        self._context = context
        self._tabs = tabs
        self.runs: tuple[PastRun, ...] = ()
        self.best: BestRun | None = None

    def forget(self) -> None:
        """Reset for a newly opened file."""
        self.runs, self.best = (), None

    def read(self) -> None:
        """Fetch the runs of this operator, and the best one of this file, from the store."""
        in_background(self._context.screen, self._read, group="history")

    def open(
        self, number: int, *, problem: Problem | None = None, path: Path | None = None, filename: str = ""
    ) -> None:
        """Show a past run once this screen is shown; a run in progress continues in the background.

        The open file stays open, whatever file and operator the run has.  Without a `path` it is that of the list of
        runs; `filename` is the name of a source without a file.
        """
        is_own = problem is None or problem.name == self._context.bench.problem.name
        other = None if is_own else problem
        self._context.screen.call_later(partial(self.show, number, problem=other, path=path, filename=filename))

    def show(
        self, number: int, *, problem: Problem | None = None, path: Path | None = None, filename: str = ""
    ) -> None:
        """Show a past run; `problem` is given if it is of another operator than the open file."""
        in_background(self._context.screen, partial(self._open, number, problem, path, filename), group="past")

    def show_candidate(self, number: int, *, label: str, remark: str) -> None:
        """Show the run of a generated candidate of the open operator."""
        in_background(self._context.screen, partial(self._open_candidate, number, label, remark), group="past")

    @property
    def run_under_cursor(self) -> int | None:
        """The past run under the cursor; None if its tab is not shown."""
        pane = self._context.screen.query_one(HistoryPane)
        return pane.current if is_seen(pane) else None

    def refresh(self) -> None:
        """Read the shown run again if another process is running it."""
        old = self._context.bench.old
        if old is not None and old.number is not None and old.view.running and not old.candidate:
            again = partial(self._open, old.number, old.problem, old.path, old.filename, keeps_tab=True)
            in_background(self._context.screen, again, group="past")

    def action_follow_agents(self) -> None:
        """Switch following the runs of coding agents on or off."""
        self._context.notify(self._context.host.agents.follow())

    def action_review(self, wanted: str) -> None:
        """Pin or veto the run under the cursor of the history, or the shown one; the same action again undoes it."""
        number = self.run_under_cursor or self._context.bench.shown.number
        if number is None:
            self._context.notify("no saved run is shown")
            return
        in_background(self._context.screen, partial(self._review, number, wanted), group="review")

    def action_mark(self) -> None:
        """Mark the past run under the cursor for comparison, or unmark it."""
        number = self.run_under_cursor
        if number is None:
            self._context.notify("space marks runs in the history: 5 shows it")
            return
        history = self._context.host.run_history
        try:
            history.marked = toggled(history.marked, number)
        except UsageError as error:
            self._context.notify(str(error), severity="warning")
        self._context.draw()

    def action_unmark(self) -> None:
        """Remove all marks."""
        history = self._context.host.run_history
        self._context.notify(unmarked(history.marked))
        history.marked = ()
        self._context.draw()

    def leave(self) -> None:
        """Return to the newest run and the file's content."""
        context = self._context
        context.bench = replace(context.bench, old=None)
        if not context.bench.unsaved:
            context.source.load(context.bench.saved)
        context.draw()

    async def _read(self) -> None:
        context = self._context
        runs = await context.host.run_history.runs_of(context.bench.problem.name)
        self.runs = self.runs if runs is None else runs  # keeps the list read before
        self.best = await context.host.run_history.best_for(context.bench.order())
        context.draw()
        context.screen.host_changed()

    async def _review(self, number: int, wanted: str) -> None:
        from sessions.rows import Review

        history = self._context.host.run_history
        before = next((run.review for run in self.runs if run.number == number), "")
        review = None if before == wanted else Review(wanted)
        await history.ask(lambda store: store.review(number, review))
        words = f"{review}; its verdict is unchanged" if review else f"no longer {before}"
        self._context.notify(f"run #{number} is {words}")
        await self._read()

    async def _open(
        self, number: int, problem: Problem | None, path: Path | None, filename: str, *, keeps_tab: bool = False
    ) -> None:
        context = self._context
        stored = await context.host.run_history.run(number)
        if stored is None:
            return
        events, source = stored
        listed = await self._listed(number, problem or context.bench.problem)
        context.bench = context.bench.opened(
            number,
            events,
            is_running=listed is not None and listed.is_running,
            problem=problem,
            path=path or (listed.path if listed is not None else None),
            filename=filename,
        )
        if not context.bench.unsaved:
            context.source.load(source)
        if keeps_tab:
            context.draw()
        else:
            self._tabs.show("cases")

    async def _open_candidate(self, number: int, label: str, remark: str) -> None:
        context = self._context
        stored = await context.host.run_history.run(number)
        if stored is not None and context.bench.shown.candidate == label:
            events, source = stored
            context.bench = context.bench.opened(number, events, candidate=label, remark=remark)
            context.source.load(source)
            context.draw()

    async def _listed(self, number: int, problem: Problem) -> PastRun | None:
        """The run in the list of the store; None for one that is too old for the list."""
        runs = await self._context.host.run_history.runs_of(problem.name)
        return next((run for run in runs or () if run.number == number), None)
