"""Where the time of a run went: each kind of work and each stage, with a bar on the run's own time axis.

Work of different kinds overlaps; the bars show that, and the seconds of a column are never summed up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from engine.model.benchmark import Span
from engine.model.events import StageFinished
from engine.reports.table import aligned

NO_PROFILE = "the engine told no profile of this run"

_FULL, _EMPTY = "█", "·"
_FULL_ASCII, _EMPTY_ASCII = "#", "."
_LEAST_BAR, _WIDEST_BAR = 10, 60
_GAP = "  "


@dataclass(frozen=True, kw_only=True)
class Profile:
    """The kinds of work of a run, None when it told none, and its stages; the run took `elapsed_s`."""

    spans: tuple[Span, ...] | None
    stages: tuple[StageFinished, ...]
    elapsed_s: float


def profile_lines(profile: Profile, *, width: int, is_ascii: bool = False) -> list[str]:
    """A line for each kind of work, then one for each stage, all on one axis from 0 to the end of the run."""
    works, stages = _work_rows(profile.spans or ()), _stage_rows(profile.stages)
    cells = aligned([("work", "count", "busy s", "from", "to"), *works, ("stage", "", "took s", "from", "to"), *stages])
    texts = [cell.ljust(max(map(len, cells))) for cell in cells]
    periods = [
        None,
        *((span.began_s, span.ended_s) for span in profile.spans or ()),
        None,
        *((stage.at_s - stage.elapsed_s, stage.at_s) for stage in profile.stages),
    ]
    end_s = max((profile.elapsed_s, *(period[1] for period in periods if period is not None)))
    wide = min(_WIDEST_BAR, max(_LEAST_BAR, width - len(texts[0]) - len(_GAP)))
    axis = f"0 s{f'{end_s:.2f} s':>{wide - 3}}"
    lines = [
        f"{text}{_GAP}{_bar(period, end_s=end_s, wide=wide, is_ascii=is_ascii) if period else axis}".rstrip()
        for text, period in zip(texts, periods, strict=True)
    ]
    return lines if profile.spans is not None else [NO_PROFILE, *lines[1:]]


def profile_rows(profile: Profile) -> list[tuple[str, ...]]:
    """The kinds of work, a header first; nothing when the run told none."""
    rows = _work_rows(profile.spans or ())
    return [("work", "count", "busy s", "from", "to"), *rows] if rows else []


def _work_rows(spans: Sequence[Span]) -> list[tuple[str, ...]]:
    return [
        (span.name, str(span.count), f"{span.busy_s:.3f}", f"{span.began_s:.3f}", f"{span.ended_s:.3f}")
        for span in spans
    ]


def _stage_rows(stages: Sequence[StageFinished]) -> list[tuple[str, ...]]:
    return [
        (
            stage.stage,
            "",
            f"{stage.elapsed_s:.3f}",
            f"{max(0.0, stage.at_s - stage.elapsed_s):.3f}",
            f"{stage.at_s:.3f}",
        )
        for stage in stages
    ]


def _bar(period: tuple[float, float], *, end_s: float, wide: int, is_ascii: bool) -> str:
    """The part of the axis that the period covers, at least one sign of it."""
    full, empty = (_FULL_ASCII, _EMPTY_ASCII) if is_ascii else (_FULL, _EMPTY)
    began_s, ended_s = period
    scale = wide / end_s if end_s > 0 else 0.0
    first = min(wide - 1, max(0, math.floor(began_s * scale)))
    last = min(wide, max(first + 1, math.ceil(ended_s * scale)))
    return empty * first + full * (last - first) + empty * (wide - last)
