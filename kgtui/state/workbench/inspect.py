"""The page of an inspection, made from the run that the workbench shows.

The words are the engine's own, the same as `kgtui inspect` prints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.inspection.evidence import Evidence, Inspection, inspect
from engine.inspection.page import Mark, page_of
from engine.inspection.speedup_claim import Claim
from engine.inspection.text import PageLine, Part, page_lines
from engine.reports.bench import Benchmarks, gated
from engine.reports.text import doubt_of
from kgtui.state.format.lines import Line, Span, Tone, line
from kgtui.state.workbench.workbench import Workbench

WIDEST = 120

_NOTHING = "nothing was judged yet; r judges the file as it is"
_STALE = "of an earlier text: the file has changed since, and r judges it"
_UNFINISHED = "the run did not come to its end"
_TONES: Mapping[Mark, Tone] = {
    Mark.PLAIN: Tone.PLAIN,
    Mark.MUTED: Tone.MUTED,
    Mark.GOOD: Tone.GOOD,
    Mark.DOUBT: Tone.WARN,
    Mark.BAD: Tone.BAD,
}


@dataclass(frozen=True, kw_only=True)
class PageRow:
    """A line of the page as the screen draws it, and the line of the source that it is about."""

    line: Line
    about: int | None = None


def evidence_of_bench(bench: Workbench) -> Evidence:
    """What the shown run has said so far."""
    view = bench.view
    verdict = view.verdict
    benchmarks = Benchmarks(
        cases=tuple(map(gated, view.benchmarks)),
        summaries=view.summaries,
        kernels=view.kernels,
        doubt=doubt_of(verdict) if verdict is not None else _UNFINISHED,
    )
    return Evidence(
        file=bench.shown_filename, number=bench.shown.number, problem=view.problem, digest=view.digest,
        device=view.device or bench.device, device_name=view.device_name, target=view.target,
        policy=view.policy, planned=view.planned, verdict=verdict,
        elapsed_s=view.finished_s, cases=view.cases, findings=view.findings, layers=view.layers,
        benchmarks=benchmarks, cut_short=view.cut_short,
    )  # fmt: skip


def inspection_of(
    bench: Workbench,
    *,
    claim: Claim | None = None,
    versions: Mapping[str, str] | None = None,
    inspected_at: str | None = None,
) -> Inspection:
    """The run that the workbench shows; lines have their text where the file still holds what was judged.

    `versions` are those of now: a past run that is looked at may be of others, and then none are told.
    """
    is_of_this_text = bench.view.digest == bench.content_digest
    return inspect(
        evidence_of_bench(bench),
        problem=bench.shown_problem,
        source=bench.saved.decode("utf-8", errors="replace") if is_of_this_text else "",
        claim=claim,
        versions=versions if bench.old is None else None,
        inspected_at=inspected_at,
    )


def page_rows(inspection: Inspection, *, width: int, stale: bool, is_ascii: bool) -> tuple[PageRow, ...]:
    """The page, line by line; one of an earlier text says so and is dimmed."""
    if not inspection.evidence.digest:
        return (PageRow(line=line(Span(_NOTHING, Tone.MUTED))),)
    lines = page_lines(page_of(inspection, is_ascii=is_ascii), width=min(width, WIDEST))
    rows = tuple(PageRow(line=_drawn(one, stale=stale), about=one.line) for one in lines)
    return (PageRow(line=line(Span(f"stale {_STALE}", Tone.WARN))), *rows) if stale else rows


def _drawn(page_line: PageLine, *, stale: bool) -> Line:
    return tuple(Span(part.text, Tone.STALE if stale else _tone(part)) for part in page_line.parts)


def _tone(part: Part) -> Tone:
    return Tone.STRONG if part.strong and part.mark is Mark.PLAIN else _TONES[part.mark]
