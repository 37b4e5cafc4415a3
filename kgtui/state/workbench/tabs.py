"""The tabs beside the source and what stands on them."""

from __future__ import annotations

from kgtui.state.format.lines import Line, Span, Tone, line, muted
from kgtui.state.run.run import RunView

TABS = ("cases", "findings", "bench", "ir", "history", "log")
_TITLES = {"cases": "Cases", "findings": "Findings", "bench": "Bench", "ir": "IR", "history": "History", "log": "Log"}
_LONGEST_FILTER = 16


def tab_line(name: str, view: RunView, *, wanted: str = "") -> Line:
    """The number that chooses the tab, its title, how much there is to see, and what the cases are filtered by."""
    counts = {"cases": len(view.failed), "findings": len(view.findings), "ir": len(view.kernels)}
    count = f"({counts[name]})" if counts.get(name) else ""
    tone = Tone.BAD if name == "cases" and count else Tone.PLAIN
    sought = wanted if len(wanted) <= _LONGEST_FILTER else f"{wanted[: _LONGEST_FILTER - 1]}…"
    only = Span(f" /{sought}", Tone.WARN) if name == "cases" and wanted else Span("")
    return line(muted(f"{TABS.index(name) + 1} "), Span(f"{_TITLES[name]}{count}", tone), only)


def turned(name: str, step: int) -> str:
    """The tab that lies `step` further, round and round."""
    return TABS[(TABS.index(name) + step) % len(TABS)]
