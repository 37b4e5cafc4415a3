"""A generated candidate on the workbench before its verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engine.reports.run_record import NO_RUN
from engine.static.source import directive_lines, directives
from kgtui.state.workbench.workbench import Shown, Workbench

if TYPE_CHECKING:
    from engine.reports.run_record import RunRecord
    from kgtui.state.workbench.status import CandidateStage


def candidate_shown(
    bench: Workbench,
    label: str,
    *,
    stage: CandidateStage,
    began_s: float,
    view: RunRecord = NO_RUN,
    number: int | None = None,
    remark: str = "",
    has_code: bool = False,
) -> Workbench:
    """The workbench that shows this candidate; a stage in progress keeps its start time."""
    before = bench.old
    is_same = before is not None and (before.candidate, before.stage) == (label, stage)
    old = Shown(
        view=view,
        number=number,
        began_s=before.began_s if before is not None and is_same else began_s,
        filename=label,
        candidate=label,
        stage=stage,
        remark=remark,
        has_code=has_code,
    )
    return replace(bench, old=old)


def as_file(candidate: str, *, before: str) -> str:
    """The candidate as the new text of a file with the text `before`.
    It keeps the directives of that text, such as the operator, unless it has its own.
    """
    lines = () if directives(candidate) else directive_lines(before)
    return "\n".join((*lines, candidate))
