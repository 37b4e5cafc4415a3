"""The page of an inspection, made from the shown run.
The texts are the engine's, the same as those of `kgtui inspect`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.inspection.evidence import Inspection, inspect
from engine.inspection.page import Mark, page_of
from engine.inspection.text import PageLine, Part, page_lines
from kgtui.state.format.lines import Line, Span, Tone, line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.inspection.speedup_claim import Claim
    from kgtui.state.workbench.workbench import Workbench

WIDEST = 120

_NOTHING = "nothing has run yet; r runs the file"
_STALE = "stale: from an earlier version; r runs the file"
_TONES: Mapping[Mark, Tone] = {
    Mark.PLAIN: Tone.PLAIN,
    Mark.MUTED: Tone.MUTED,
    Mark.GOOD: Tone.GOOD,
    Mark.DOUBT: Tone.WARN,
    Mark.BAD: Tone.BAD,
}


@dataclass(frozen=True, kw_only=True)
class PageRow:
    """A line of the page, and the source line that it refers to."""

    line: Line
    about: int | None = None


def inspection_of(
    bench: Workbench,
    *,
    claim: Claim | None = None,
    versions: Mapping[str, str] | None = None,
    inspected_at: str | None = None,
) -> Inspection:
    """The inspection of the shown run; lines have their text if the file is unchanged since the run.
    `versions` are the current ones: a past run may have had others, and then none are reported.
    """
    shown, view = bench.shown, bench.view
    run = replace(view, file=bench.shown_filename, number=shown.number, device=view.device or bench.device)
    is_of_this_text = view.digest == bench.content_digest
    return inspect(
        run,
        problem=bench.shown_problem,
        source=bench.saved.decode("utf-8", errors="replace") if is_of_this_text else "",
        claim=claim,
        versions=versions if bench.old is None else None,
        inspected_at=inspected_at,
    )


def page_rows(inspection: Inspection, *, width: int, stale: bool, is_ascii: bool) -> tuple[PageRow, ...]:
    """The page, line by line; one of an earlier version is marked and dimmed."""
    if not inspection.run.digest:
        return (PageRow(line=line(Span(_NOTHING, Tone.MUTED))),)
    lines = page_lines(page_of(inspection, is_ascii=is_ascii), width=min(width, WIDEST))
    rows = tuple(PageRow(line=_drawn(one, stale=stale), about=one.line) for one in lines)
    return (PageRow(line=line(Span(_STALE, Tone.WARN))), *rows) if stale else rows


def _drawn(page_line: PageLine, *, stale: bool) -> Line:
    return tuple(Span(part.text, Tone.STALE if stale else _tone(part)) for part in page_line.parts)


def _tone(part: Part) -> Tone:
    return Tone.STRONG if part.strong and part.mark is Mark.PLAIN else _TONES[part.mark]
