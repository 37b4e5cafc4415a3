"""The diagnosis as the lines of a page, wrapped to its width."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from kgtui.state.format.lines import Span, Tone, line, strong
from kgtui.state.workbench.inspect import PageRow

CHECKING_CONFINEMENT = "confinement  starting an engine to check the sandboxing"
"""The fact in the place of the sandboxing measures while the engine starts."""

_LABEL = 13
_WRONG = ("NOT IN FORCE", "NOT WRITABLE", "NOT USED", "cannot be started", "limited by", "other processes", "no GPU")


def diagnosis_rows(facts: Sequence[str], *, width: int, elapsed_s: float | None = None) -> tuple[PageRow, ...]:
    """One or more rows for every fact, grouped under its label; `elapsed_s` is the time since the engine starts."""
    rows: list[PageRow] = []
    before = ""
    for fact in facts:
        label, words = fact[:_LABEL].strip(), fact[_LABEL:].strip()
        if fact == CHECKING_CONFINEMENT and elapsed_s is not None:
            words = f"{words} ({elapsed_s:.0f} s)"
        if label and label != before and rows:
            rows.append(PageRow(line=line("")))
        shown = label if label != before else ""
        before = label or before
        tone = Tone.WARN if any(sign in words for sign in _WRONG) else Tone.PLAIN
        for place, part in enumerate(textwrap.wrap(words, max(20, width - _LABEL)) or [""]):
            head = strong(f"{shown if place == 0 else '':<{_LABEL}}")
            rows.append(PageRow(line=line(head, Span(part, tone))))
    return tuple(rows)
