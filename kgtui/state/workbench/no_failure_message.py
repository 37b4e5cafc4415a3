"""Reason why there is nothing to show of a requested case: it passed, or was not run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.model import Outcome
from kgtui.state.format.glyphs import outcome_words

if TYPE_CHECKING:
    from kgtui.state.workbench.workbench import Workbench


def why_nothing_failed(bench: Workbench, name: str | None) -> str:
    """A sentence about the case `name`, which has no failure in the shown run."""
    if name is None:
        return "no case has run yet; r runs the file"
    view = bench.view
    other = "; n shows a case that failed" if bench.results.failed else ""
    if bench.results.case(name) is not None and not bench.ended_before_cases:
        return f"{name} did not fail{other}"
    if not view.started and (bench.waiting or bench.shown.begun):
        return f"{name} has not run yet: the run is starting"
    if not view.started:
        return f"{name} was not run: there is no run yet; r runs the file"
    if view.cut_short:
        return f"{name} was not run: the run was interrupted first{other}"
    if view.verdict is None:
        return (
            f"{name} has not run yet: the run is in progress, {len(view.cases)} of {view.planned} cases are done{other}"
        )
    if view.verdict.outcome is Outcome.CANCELLED:
        return f"{name} was not run: the run was cancelled first; a runs this case, r all cases"
    if view.planned and len(view.cases) >= view.planned:
        return f"{name} was not run: this run had other cases; a runs this case, r all cases{other}"
    stopped = view.verdict.sentence or outcome_words(view.verdict.outcome)
    return f"{name} was not run: the run ended first: {stopped}{other}"
