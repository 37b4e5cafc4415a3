"""Result and age of a stored run as short texts; imports nothing that reads runs."""

from __future__ import annotations

from datetime import datetime

from kgtui.ports.protocols import PastRun
from kgtui.state.format.glyphs import State, state_of, verdict_words


def ago(then: datetime, now: datetime) -> str:
    """Time since then, as a short text for a column."""
    passed_s = max(0.0, (now - then).total_seconds())
    if passed_s < 60:
        return "just now"
    if passed_s < 3600:
        return f"{passed_s // 60:.0f} min ago"
    if passed_s < 86400:
        return f"{passed_s // 3600:.0f} h ago"
    return f"{then:%Y-%m-%d}"


def ending_of(run: PastRun) -> tuple[State, str]:
    """Result of a run, as glyph and text."""
    if run.outcome is not None:
        state = State.FLAGGED if run.flagged else state_of(run.outcome)
        return state, verdict_words(run.outcome, flagged=run.flagged, passed=run.passed, proven=run.proven)
    return (State.VERIFYING, "running") if run.is_running else (State.INTERRUPTED, "interrupted")
