"""Time of a run by kind of work and by stage, with a bar on the run's own time axis.

Work of different kinds overlaps; the bars show that, and the seconds of a column are never summed up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.model.benchmark import Span
from engine.reports.run_record import RunRecord, StageRecord
from engine.reports.table import aligned

NO_PROFILE = "no profile was recorded for this run"

_FULL, _EMPTY = "█", "·"
_FULL_ASCII, _EMPTY_ASCII = "#", "."
_LEAST_BAR, _WIDEST_BAR = 10, 60
_GAP = "  "


def profile_lines(run: RunRecord, *, width: int, is_ascii: bool = False) -> list[str]:
    """A line for each kind of work, then one for each stage, all on one axis from 0 to the end of the run."""
    spans, stage_periods = run.profile or (), [(stage, _period(stage)) for stage in run.finished_stages]
    works, stages = _work_rows(spans), [_stage_row(*pair) for pair in stage_periods]
    cells = aligned([("work", "count", "busy s", "from", "to"), *works, ("stage", "", "took s", "from", "to"), *stages])
    texts = [cell.ljust(max(map(len, cells))) for cell in cells]
    periods = [
        None,
        *((span.began_s, span.ended_s) for span in spans),
        None,
        *(period for _, period in stage_periods),
    ]
    end_s = max((run.finished_s or run.at_s, *(period[1] for period in periods if period is not None)))
    wide = min(_WIDEST_BAR, max(_LEAST_BAR, width - len(texts[0]) - len(_GAP)))
    axis = f"0 s{f'{end_s:.2f} s':>{wide - 3}}"
    lines = [
        f"{text}{_GAP}{_bar(period, end_s=end_s, wide=wide, is_ascii=is_ascii) if period else axis}".rstrip()
        for text, period in zip(texts, periods, strict=True)
    ]
    return lines if run.profile is not None else [NO_PROFILE, *lines[1:]]


def profile_rows(run: RunRecord) -> list[tuple[str, ...]]:
    """Kinds of work under a header; empty when the run reported none."""
    rows = _work_rows(run.profile or ())
    return [("work", "count", "busy s", "from", "to"), *rows] if rows else []


def _work_rows(spans: Sequence[Span]) -> list[tuple[str, ...]]:
    return [
        (span.name, str(span.count), f"{span.busy_s:.3f}", f"{span.began_s:.3f}", f"{span.ended_s:.3f}")
        for span in spans
    ]


def _period(stage: StageRecord) -> tuple[float, float]:
    """Begin and end of a finished stage, in seconds of the run."""
    assert stage.finished_s is not None and stage.elapsed_s is not None
    return stage.finished_s - stage.elapsed_s, stage.finished_s


def _stage_row(stage: StageRecord, period: tuple[float, float]) -> tuple[str, ...]:
    began_s, ended_s = period
    return (stage.stage, "", f"{stage.elapsed_s:.3f}", f"{max(0.0, began_s):.3f}", f"{ended_s:.3f}")


def _bar(period: tuple[float, float], *, end_s: float, wide: int, is_ascii: bool) -> str:
    """The part of the axis that the period covers, at least one character of it."""
    full, empty = (_FULL_ASCII, _EMPTY_ASCII) if is_ascii else (_FULL, _EMPTY)
    began_s, ended_s = period
    scale = wide / end_s if end_s > 0 else 0.0
    first = min(wide - 1, max(0, math.floor(began_s * scale)))
    last = min(wide, max(first + 1, math.ceil(ended_s * scale)))
    return empty * first + full * (last - first) + empty * (wide - last)
