"""The choice of runs to compare, read from the store, and reasons why two cannot be timed alternately."""

from __future__ import annotations

from engine.errors import UsageError
from engine.model import Outcome
from kgtui.screens.base.host import Host
from kgtui.screens.base.open_workbench import OpenWorkbench
from kgtui.state.bench.static_cost import EXECUTED_ON_CPU
from kgtui.state.compare.sides import FEWEST, Choice, Side, chosen
from kgtui.state.compare.view import Comparison


async def choice_of(host: Host, marked: tuple[int, ...]) -> Choice:
    """The marked runs; if there are too few, the best run and the current one.

    Raises:
        UsageError: there are not two.
    """
    workbench, history = host.workbench, host.run_history
    if workbench is None or len(marked) >= FEWEST:
        return chosen(marked, current=None)
    bench = workbench.bench
    return chosen(
        marked,
        current=bench.shown.number,
        digest=bench.view.digest,
        best=await history.best_for(bench.order()),
        runs=await history.runs_of(bench.problem.name) or (),
    )


async def side_of(host: Host, number: int) -> Side:
    """The run of this number; a deleted one is unmarked.

    Raises:
        UsageError: it cannot be read.
    """
    history = host.run_history
    try:
        side = await history.ask(lambda store: store.side(number))
    except UsageError:
        history.marked = tuple(one for one in history.marked if one != number)
        raise
    if side is None:
        raise UsageError(f"run #{number} cannot be read: the store is not open")
    return side


def why_not_measured(workbench: OpenWorkbench | None, comparison: Comparison | None, beside: int) -> str:
    """Why the side at `beside` and the reference cannot be timed alternately; empty if they can."""
    if comparison is None or workbench is None or workbench.bench.problem.name != comparison.problem:
        return "open a file of this operator first: its device and its bench cases are timed"
    if not workbench.bench.can_time:
        return EXECUTED_ON_CPU
    if workbench.bench.benchmark is None:
        return f"{comparison.problem} has no bench cases, so there is nothing to time"
    for side in (comparison.sides[0], comparison.sides[beside]):
        if side.run.outcome is not Outcome.PASS or side.run.flagged:
            return f"{side.name} did not pass without a flag, so it is not timed"
    return ""
