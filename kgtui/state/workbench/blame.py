"""The lines of the open file to which a failed case points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgtui.state.run.suspects import Suspects, suspects

if TYPE_CHECKING:
    from engine.model import CaseResult
    from kgtui.state.workbench.workbench import Workbench


def suspects_of(bench: Workbench, result: CaseResult) -> Suspects | None:
    """The lines to check for a failed case; None if the file has changed since."""
    is_of_this_text = bench.results.digest == bench.content_digest
    return suspects(result, bench.saved) if is_of_this_text else None


def blamed_line(bench: Workbench) -> int | None:
    """The line to check first: the location of the verdict, or the first suspect of the first failed case."""
    view = bench.view
    if view.verdict is None:
        return None
    if view.verdict.location is not None:
        return view.verdict.location.line
    suspected = suspects_of(bench, view.failed[0]) if view.failed else None
    return suspected.lines[0][0] if suspected is not None else None
