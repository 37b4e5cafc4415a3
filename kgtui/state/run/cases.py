"""The cases of a run: one row each, and the details of a failed one.
A case that this run has not run yet keeps the row of the previous run, marked as stale; one that was skipped states its
previous result.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby

from engine.model import Case, CaseResult, Diagnosis, Outcome, OutOfBounds, OutputReport
from engine.reports.run_record import RunRecord
from kgtui.state.format.glyphs import Glyphs, outcome_tone, outcome_words
from kgtui.state.format.lines import Column, Line, Row, Span, Tone, line, muted, strong
from kgtui.state.format.numbers import error, seconds
from kgtui.state.run.suspects import Suspects

MAX_ROWS = 200  # three times the largest operator: all rows are added to the table at once
_CASE_WIDTHS = range(10, 23)
_FAILED_OUTPUTS_SHOWN = 4


def case_columns(cases: Sequence[Case]) -> tuple[Column, ...]:
    """The columns for these cases; on a narrow terminal, the error comes before its size."""
    longest = max((len(case.name) for case in cases), default=0) + 2
    return (
        Column(label="case", width=min(max(longest, _CASE_WIDTHS.start), _CASE_WIDTHS.stop)),
        Column(label="outcome", width=16),
        Column(label="wrong", width=8),
        Column(label="max abs", width=8),
        Column(label="max rel", width=8, rank=2),
        Column(label="ulp", width=8, rank=3),
        Column(label="took", width=9, rank=4),
        Column(label="note", width=40, least=16, rank=1),
    )


def case_rows(
    cases: tuple[Case, ...],
    view: RunRecord,
    before: RunRecord,
    *,
    glyphs: Glyphs,
    wanted: str = "",
    stale: bool = False,
) -> tuple[Row, ...]:
    """A row for every case, those of `view` first in the order they ran; `wanted` filters by the text of any cell."""
    names = list(dict.fromkeys([result.case for result in view.cases[:MAX_ROWS]] + [case.name for case in cases]))
    now, earlier = {result.case: result for result in view.cases}, {result.case: result for result in before.cases}
    rows = []
    for name in names:
        if name in now:
            row = _row(name, now[name], glyphs, stale=stale)
        elif name in earlier and (view.running or stale):
            row = _row(name, earlier[name], glyphs, stale=True)
        else:
            row = _row_without_result(name, earlier.get(name), glyphs)
        if wanted.lower() in " ".join(cell.text for cell in row.cells).lower():
            rows.append(row)
    return tuple(rows[:MAX_ROWS])


def case_detail(
    result: CaseResult, *, glyphs: Glyphs, stale: bool = False, suspected: Suspects | None = None
) -> tuple[Line, ...]:
    """Details of one case, most relevant first: the worst element, then size and location of the error."""
    state = Span(f"{glyphs.outcome(result.outcome)} {outcome_words(result.outcome)}", outcome_tone(result.outcome))
    where = f" line {result.location.line}" if result.location else ""
    age = Span("  stale: from an earlier version", Tone.WARN) if stale else Span("")
    lines: list[Line] = [line(strong(result.case), "  ", state, muted(where), age)]
    said = {report.message for report in result.outputs}
    if result.out_of_bounds:
        lines += out_of_bounds_lines(result.out_of_bounds)
    elif result.message and result.message not in said and not any(report.worst for report in result.outputs):
        lines.append(line(result.message))
    wrong = [report for report in result.outputs if report.outcome is not Outcome.PASS]
    for report in wrong[:_FAILED_OUTPUTS_SHOWN]:
        lines += _report(report, glyphs, suspected)
        suspected = None  # shown only once
    if len(wrong) > _FAILED_OUTPUTS_SHOWN:
        lines.append(line(muted(f"and {len(wrong) - _FAILED_OUTPUTS_SHOWN} more outputs that differ")))
    calls = f"{result.calls} call{'s' if result.calls != 1 else ''}"
    lines += [line(muted(f"{calls}, {seconds(result.elapsed_s)}, inputs from seed {result.seed}"))]
    return tuple(lines)


def case_brief(
    result: CaseResult, *, glyphs: Glyphs, stale: bool = False, suspected: Suspects | None = None
) -> tuple[Line, ...]:
    """A failed case in a few lines: the likely cause, and the line to check."""
    seen = _diagnosis(result)
    looks = seen.sentence if seen else next((hint for report in result.outputs if (hint := _hint(report))), "")
    what = looks or " ".join(result.message.split()) or _where(result) or outcome_words(result.outcome)
    age = Span("stale: " if stale else "", Tone.WARN)
    lines = [line(strong(result.case), "  ", age, Span(what, Tone.WARN))]
    bounds = result.out_of_bounds.location if result.out_of_bounds else None
    location = result.location or bounds
    if location is not None:
        lines.append(line(muted("check    "), Span(f"line {location.line}", Tone.LINK)))
    elif suspected is not None:
        places = ", ".join(f"line {number}" for number, _ in suspected.lines)
        lines.append(line(muted("check    "), Span(places, Tone.LINK), muted(f"  {glyphs.dot} {suspected.what}")))
    return tuple(lines)


def error_map(rows: tuple[str, ...], *, glyphs: Glyphs) -> tuple[Line, ...]:
    """The output as a small heat map: one character per tile, darker for a larger share of wrong elements."""
    lines = []
    for row in rows:
        runs = groupby((_tile(sign, glyphs) for sign in row), key=lambda tile: tile.tone)
        lines.append(tuple(Span("".join(tile.text for tile in tiles), tone) for tone, tiles in runs))
    return tuple(lines)


def first_wrong_row(rows: tuple[str, ...]) -> int:
    """The index of the first row of tiles with a wrong element."""
    return next((place for place, row in enumerate(rows) if row.strip(".")), 0)


def reading(report: OutputReport) -> str:
    """Interpretation of the pattern of wrong elements, or ""; a hint, never a verdict."""
    rows, total = report.error_map, report.total
    if not rows or not report.mismatched:
        return ""
    if report.mismatched == total:
        return "every element is wrong: a missing scale, another axis, or nothing was written"
    ulp = report.max_ulp_error
    if ulp is not None and ulp <= 64 and not report.nonfinite_got:
        return "all errors are a few ulp: looks like a loss of precision"
    columns = {j for row in rows for j, sign in enumerate(row) if sign != "."}
    lines = {i for i, row in enumerate(rows) if row.strip(".")}
    width, height = len(rows[0]), len(rows)
    if width > 1 and columns and min(columns) == width - 1:
        return "only the end of the last dimension is wrong: check the mask of the tail block"
    if width > 1 and columns == {0}:
        return "only the start of the last dimension is wrong: check the first block and its offset"
    if height > 1 and lines and min(lines) == height - 1:
        return "only the last rows are wrong: check the grid and the mask of the last program"
    if len(lines) == 1 and height > 1:
        return "the wrong elements are in one band of rows: check the program that writes it"
    return ""


def _row_without_result(name: str, before: CaseResult | None, glyphs: Glyphs) -> Row:
    note = f"before: {_word(before, glyphs).text}" if before is not None else ""
    cells = (Span(name), muted(f"{glyphs.outcome(None)} not run"), *[muted(glyphs.dash)] * 5, muted(note))
    return Row(key=name, cells=cells)


def _word(result: CaseResult, glyphs: Glyphs) -> Span:
    return Span(f"{glyphs.outcome(result.outcome)} {outcome_words(result.outcome)}", outcome_tone(result.outcome))


def _row(name: str, result: CaseResult, glyphs: Glyphs, *, stale: bool) -> Row:
    dash = muted(glyphs.dash)
    word = _word(result, glyphs)
    wrong = sum(report.mismatched for report in result.outputs)
    seen = _diagnosis(result)
    kind = f"{seen.kind.value.replace('_', ' ')}; " if seen else ""
    note = kind + " ".join((result.message or _where(result)).split())
    return Row(
        key=name,
        stale=stale,
        cells=(
            Span(name),
            word,
            Span(f"{wrong:,}" if wrong else glyphs.dash, Tone.BAD if wrong else Tone.MUTED),
            *(_largest(list(errors), dash) for errors in _errors_of_outputs(result)),
            muted(seconds(result.elapsed_s)),
            muted(f"stale; {note}" if stale and note else "stale" if stale else note),
        ),
    )


def _errors_of_outputs(result: CaseResult) -> tuple[tuple[float | None, ...], ...]:
    """The largest errors of every output, by kind."""
    return tuple(zip(*map(max_errors, result.outputs), strict=True)) or ((), (), ())


def _diagnosis(result: CaseResult) -> Diagnosis | None:
    """The judge's best diagnosis."""
    explained = (report.explanation for report in result.outputs if report.explanation is not None)
    return next((found for explanation in explained for found in explanation.diagnoses), None)


def _where(result: CaseResult) -> str:
    worst = next((report.worst for report in result.outputs if report.worst), None)
    return f"worst at {where_text(worst.index)}" if worst else ""


def _largest(errors: list[float | None], absent: Span) -> Span:
    known = [error for error in errors if error is not None]
    return Span(error(largest(known))) if known else absent


def largest(errors: Sequence[float]) -> float:
    """The largest error; NaN counts as larger than all."""
    return math.nan if any(map(math.isnan, errors)) else max(errors)


def max_errors(report: OutputReport) -> tuple[float | None, float | None, float | None]:
    """The largest absolute and relative error, and that in ulp.

    If NaN or infinity was found where a finite value was expected, the errors are not finite: the judge measures only
    the others, whose maximum would look as if the output were nearly correct.
    """
    measured = (report.max_absolute_error, report.max_relative_error, report.max_ulp_error)
    unlike = _not_finite(report)
    return measured if unlike is None else (unlike, unlike, unlike)


def _not_finite(report: OutputReport) -> float | None:
    """The error of the worst element if it is not finite."""
    if report.worst is None:
        return None
    words = {word.strip("()+-j ").lower() for word in (report.worst.expected, report.worst.got)}
    if any("nan" in word for word in words):
        return math.nan
    return math.inf if any("inf" in word for word in words) else None


def where_text(index: tuple[int, ...]) -> str:
    """An index as shown on the screen."""
    return f"[{', '.join(map(str, index))}]"


def out_of_bounds_lines(report: OutOfBounds) -> list[Line]:
    """Lines on an access outside every tensor, and its program."""
    place = f" at line {report.location.line}" if report.location else ""
    program = ", ".join(map(str, report.program))
    return [
        line(Span(f"{report.access} out of bounds", Tone.BAD), f" in {report.kernel}{place}"),
        line(muted("tensor    "), strong(report.tensor), muted(f"  has {report.elements:,} elements")),
        line(muted("index     "), Span(f"{report.index:,}", Tone.BAD), muted("  counted from its first element")),
        line(muted("program   "), f"({program})"),
    ]


def _report(report: OutputReport, glyphs: Glyphs, suspected: Suspects | None) -> list[Line]:
    shape = f"{report.dtype}[{', '.join(map(str, report.shape))}]" if report.dtype else ""
    lines: list[Line] = [line(muted("output    "), strong(report.name), muted(f"  {shape}"))]
    if report.worst:
        expected, got = Span(report.worst.expected, Tone.GOOD), Span(report.worst.got, Tone.BAD)
        lines.append(line(muted("worst at  "), Span(where_text(report.worst.index), Tone.LINK)))
        lines.append(line(muted("expected  "), expected, muted("  got "), got))
    elif report.message:
        lines.append(line(report.message))
    if errors := errors_of(report):
        lines.append(line(muted("max error "), *errors))
    if report.total:
        share = 100 * report.mismatched / report.total
        lines.append(line(muted("wrong     "), f"{report.mismatched:,} of {report.total:,} elements ({share:.3g} %)"))
    if report.nonfinite_got or report.nonfinite_expected:
        count = Span(f"{report.nonfinite_got:,}", Tone.BAD)
        lines.append(line(muted("nan, inf  "), count, f", expected {report.nonfinite_expected:,}"))
    if report.first_wrong is not None and report.last_wrong is not None:
        lines.append(line(muted("bounds    "), f"{where_text(report.first_wrong)} to {where_text(report.last_wrong)}"))
    if hint := _hint(report):
        lines.append(line(Span(hint, Tone.WARN)))
    if suspected is not None:
        places = ", ".join(f"line {number}" for number, _ in suspected.lines)
        lines.append(line(muted("check     "), Span(places, Tone.LINK), muted(f": {suspected.what}")))
    if report.error_map:
        empty, *_, full = glyphs.heat
        legend = muted(f"where     {empty} right  ")
        lines.append(line(legend, Span(full, Tone.BAD), muted(" all wrong, one cell per tile")))
        first = first_wrong_row(report.error_map)
        if first:
            lines.append(line(muted(f"          the first {first} of {len(report.error_map)} rows of tiles are right")))
        lines += error_map(report.error_map[first:], glyphs=glyphs)
    return lines


def _hint(report: OutputReport) -> str:
    """Diagnosis of the judge; without one, the pattern of the error map."""
    if report.explanation is None:
        return reading(report)
    best = report.explanation.diagnoses[:1]
    return "".join(f"{found.sentence} ({found.confidence})" for found in best)


def errors_of(report: OutputReport) -> list[Span]:
    """The largest errors, each with its name."""
    parts: list[Span] = []
    if (unlike := _not_finite(report)) is not None:
        parts += [Span(error(unlike), Tone.BAD), muted("; of the finite elements ")]
    measured = (report.max_absolute_error, report.max_relative_error, report.max_ulp_error)
    for name, value in zip(("abs", "rel", "ulp"), measured, strict=True):
        if value is not None:
            parts += [muted(f"{name} "), Span(f"{error(value)}  ")]
    return parts


def _tile(sign: str, glyphs: Glyphs) -> Span:
    if sign == ".":
        return Span(glyphs.heat[0], Tone.MUTED)
    if sign == "#":
        return Span(glyphs.heat[4], Tone.BAD)
    return Span(glyphs.heat[1 + (int(sign) - 1) // 3], Tone.BAD)
