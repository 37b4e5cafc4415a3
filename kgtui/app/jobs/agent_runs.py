"""Runs of coding agents in other processes: announced and shown live in an open workbench.

`kgtui mcp` writes them to the store; they are read when SQLite's data version shows a write of another process.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from kgtui.state.format.glyphs import verdict_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from kgtui.app.terminal import TerminalApp
    from kgtui.screens.base.host import Host
    from sessions.rows import RunRow

LOOK_EVERY_S = 2.0
_NEWEST = 20


class AgentRuns:
    """Looks for runs of agents every two seconds; `follows` shows each new one on the open operator while it runs."""

    def __init__(self, host: Host, *, app: TerminalApp, refresh: Callable[[], None]) -> None:
        self.follows = False
        self._host = host
        self._app = app
        self._refresh = refresh
        self._change: int | None = None
        self._has_verdict: dict[int, bool] = {}

    async def watch(self) -> None:
        """Poll for new runs until cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(LOOK_EVERY_S)

    async def look(self) -> None:
        """Announce and show new runs, if another process has written since the last call."""
        history = self._host.run_history
        change = await history.ask(lambda store: store.change_number())
        if change is None or change == self._change:
            return
        is_first, self._change = self._change is None, change
        runs = await history.ask(lambda store: store.agent_runs(limit=_NEWEST))
        new = [run for run in reversed(runs or ()) if self._has_verdict.get(run.id) is not (run.outcome is not None)]
        self._has_verdict |= {run.id: run.outcome is not None for run in new}
        if is_first:
            return
        self._refresh()
        if new:
            self._app.notify(announced(new[-1]), markup=False)
        self._show(new)

    def follow(self) -> str:
        """Follow the runs of agents on the open operator from now on, or no longer; a sentence that confirms it."""
        self.follows = not self.follows
        if not self.follows:
            return "not following agents: their runs are only listed in the history"
        newest = max(self._has_verdict, default=None)
        if newest is not None:
            self._open(newest)
        return "following agents: each of their runs on this operator is shown while it runs"

    def _show(self, new: list[RunRow]) -> None:
        """Update the shown run of another process; follow the newest one."""
        workbench = self._host.workbench
        if workbench is None:
            return
        workbench.history.read()
        of_operator = [run.id for run in new if run.problem == workbench.bench.problem.name]
        if self.follows and of_operator and not workbench.bench.unsaved:
            self._open(of_operator[-1])
        else:
            workbench.history.refresh()

    def _open(self, number: int) -> None:
        workbench = self._host.workbench
        if workbench is not None:
            workbench.history.open(number)


def announced(run: RunRow) -> str:
    """Sentence that announces a run of an agent."""
    if run.outcome is None:
        return f"agent: run #{run.id} of {run.problem} started; A follows the runs of agents"
    word = verdict_words(run.outcome, flagged=run.flagged, passed=run.passed, proven=run.proven)
    return f"agent: run #{run.id} of {run.problem}: {word}, {run.passed}/{run.total} cases passed"
