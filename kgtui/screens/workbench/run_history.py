"""Past runs on the workbench: the list of them, and looking at one as it was."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from engine.errors import UsageError
from engine.model import Problem
from kgtui.background import in_background
from kgtui.ports.protocols import BestRun, PastRun
from kgtui.state.compare.sides import toggled, unmarked

if TYPE_CHECKING:
    from kgtui.screens.workbench.screen import WorkbenchScreen


class PastRunViewer:
    """One for each workbench screen."""

    def __init__(self, screen: WorkbenchScreen) -> None:
        self._screen = screen
        self.runs: tuple[PastRun, ...] = ()
        self.best: BestRun | None = None

    def forget(self) -> None:
        """Another file is open now."""
        self.runs, self.best = (), None

    def read(self) -> None:
        """Fetch the runs of this operator, and the best one of this file, from the store."""
        in_background(self._screen, self._read, group="history")

    def open(self, number: int, *, problem: Problem | None = None, filename: str = "") -> None:
        """Look at a past run as it was; `problem` and `filename` are those of another file than the open one."""
        in_background(self._screen, partial(self._open, number, problem, filename), group="past")

    def mark(self, number: int) -> None:
        """Mark a past run to be compared, or take that back."""
        past = self._screen.host.past
        try:
            past.marked = toggled(past.marked, number)
        except UsageError as error:
            self._screen.notify(str(error), severity="warning", markup=False)
        self._screen.draw()

    def unmark(self) -> None:
        """Take back every mark."""
        past = self._screen.host.past
        self._screen.notify(unmarked(past.marked), markup=False)
        past.marked = ()
        self._screen.draw()

    def leave(self) -> None:
        """Return to the newest run and to what the file holds."""
        screen = self._screen
        screen.bench = replace(screen.bench, old=None)
        if not screen.bench.unsaved:
            screen.source.load(screen.bench.saved)
        screen.draw()

    async def _read(self) -> None:
        screen = self._screen
        runs = await screen.host.past.runs_of(screen.bench.problem.name)
        self.runs = self.runs if runs is None else runs  # what was read before is better than an empty list
        self.best = await screen.host.past.best_for(screen.bench.order())
        screen.draw()
        screen.host_changed()

    async def _open(self, number: int, problem: Problem | None, filename: str) -> None:
        screen = self._screen
        past = await screen.host.past.run(number)
        if past is None:
            return
        events, source = past
        goes_on = await self._goes_on(number, problem or screen.bench.problem)
        screen.bench = screen.bench.opened(number, events, goes_on=goes_on, problem=problem, filename=filename)
        if not screen.bench.unsaved:
            screen.source.load(source)
        screen.action_tab("cases")

    async def _goes_on(self, number: int, problem: Problem) -> bool:
        """Whether the store still waits for the verdict of this run, here or in another program."""
        runs = await self._screen.host.past.runs_of(problem.name)
        return any(run.number == number and run.goes_on for run in runs or ())
