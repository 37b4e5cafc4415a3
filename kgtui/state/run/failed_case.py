"""One failed case in full: expected and actual value, likely cause, location, and inputs of the worst element.
Lines of text for a screen of any width; unknown facts are left out or stated as unknown, never guessed.
"""

from __future__ import annotations

import math
import textwrap

from engine.model import CaseResult, Diagnosis, Explanation, InputElement, Outcome, OutputReport
from kgtui.state.format.glyphs import Glyphs, outcome_tone, outcome_words
from kgtui.state.format.lines import Line, Span, Tone, line, muted, plain_text, strong
from kgtui.state.format.numbers import seconds
from kgtui.state.run.cases import (
    error_map,
    errors_of,
    first_wrong_row,
    out_of_bounds_lines,
    reading,
    where_text,
)
from kgtui.state.run.suspects import Suspects

_LABEL = 11
# Keeps an element on one line; replaced by a space after wrapping.
_KEPT_SPACE = "\N{NO-BREAK SPACE}"
_NOTHING_FITS = "no known mistake matches: check the map, the first wrong element and its inputs"


def failed_case(
    result: CaseResult,
    *,
    glyphs: Glyphs,
    width: int,
    number: int | None,
    stale: bool = False,
    suspected: Suspects | None = None,
) -> tuple[Line, ...]:
    """The details of a failed case; `number` is that of its run in the store."""
    lines: list[Line] = [_head(result, glyphs, number=number, stale=stale)]
    said = {report.message for report in result.outputs}
    if result.out_of_bounds is not None:
        lines += out_of_bounds_lines(result.out_of_bounds)
    elif result.message and result.message not in said and not any(report.worst for report in result.outputs):
        lines += _wrapped("", result.message, width)
    for report in result.outputs:
        if report.outcome is not Outcome.PASS:
            lines += [line(), *_output(report, glyphs, width, suspected)]
            suspected = None  # shown only once
    calls = f"{result.calls} call{'s' if result.calls != 1 else ''}"
    lines += [line(), line(muted(f"{calls}, {seconds(result.elapsed_s)}, inputs from seed {result.seed}"))]
    return tuple(lines)


def case_text(result: CaseResult, *, glyphs: Glyphs, number: int | None, suspected: Suspects | None = None) -> str:
    """The failed case as plain text, for the clipboard."""
    return plain_text(failed_case(result, glyphs=glyphs, width=100, number=number, suspected=suspected))


def _why(explanation: Explanation | None, report: OutputReport, *, width: int) -> list[Line]:
    """Diagnoses, best first, each with its evidence."""
    if explanation is None:
        hint = reading(report)
        return _wrapped("why", hint, width, tone=Tone.WARN) if hint else []
    if not explanation.diagnoses:
        return _wrapped("why", explanation.untried or _NOTHING_FITS, width, tone=Tone.MUTED)
    lines: list[Line] = []
    for place, found in enumerate(explanation.diagnoses):
        lines += _diagnosis(found, width, label="why" if place == 0 else "or")
    return lines


def _head(result: CaseResult, glyphs: Glyphs, *, number: int | None, stale: bool) -> Line:
    state = Span(f"{glyphs.outcome(result.outcome)} {outcome_words(result.outcome)}", outcome_tone(result.outcome))
    location = f"  line {result.location.line}" if result.location else ""
    run = f"  run #{number}" if number is not None else ""
    age = Span("  stale: from an earlier version", Tone.WARN) if stale else Span("")
    return line(strong(result.case), "  ", state, muted(location + run), age)


def _output(report: OutputReport, glyphs: Glyphs, width: int, suspected: Suspects | None) -> list[Line]:
    shape = f"{report.dtype}[{', '.join(map(str, report.shape))}]" if report.dtype else ""
    lines = [_labelled("output", strong(report.name), muted(f"  {shape}"))]
    if report.worst:
        expected, got = Span(report.worst.expected, Tone.GOOD), Span(report.worst.got, Tone.BAD)
        index = Span(where_text(report.worst.index), Tone.LINK)
        lines.append(_labelled("worst at", index, muted("  expected "), expected, muted("  got "), got))
    elif report.message:
        lines += _wrapped("", report.message, width)
    if spans := errors_of(report):
        lines.append(_labelled("max error", *spans))
    if report.total:
        share = 100 * report.mismatched / report.total
        lines.append(_labelled("wrong", f"{report.mismatched:,} of {report.total:,} elements ({share:.3g} %)"))
    if report.nonfinite_got or report.nonfinite_expected:
        count = Span(f"{report.nonfinite_got:,}", Tone.BAD)
        lines.append(_labelled("nan, inf", count, f", expected {report.nonfinite_expected:,}"))
    if report.first_wrong is not None and report.last_wrong is not None:
        lines.append(_labelled("bounds", f"{where_text(report.first_wrong)} to {where_text(report.last_wrong)}"))
    lines += _why(report.explanation, report, width=width)
    lines += _look_at(suspected, width) if suspected is not None else []
    if report.explanation is not None and report.worst is not None:
        lines += _feeds(report.explanation, width)
    return lines + _map(report, glyphs)


def _look_at(suspected: Suspects, width: int) -> list[Line]:
    """The suspected lines of the kernel, and the reason."""
    lines: list[Line] = []
    for place, (number, text) in enumerate(suspected.lines):
        lines += _wrapped("" if place else "check", f"line {number}  {text}", width, tone=Tone.LINK)
    return [*lines, *_wrapped("", suspected.what, width, tone=Tone.MUTED)]


def _diagnosis(found: Diagnosis, width: int, *, label: str) -> list[Line]:
    tone = Tone.WARN if label == "why" else Tone.PLAIN
    kind = found.kind.value.replace("_", " ")
    return [
        *_wrapped(label, f"{kind}: {found.sentence}", width, tone=tone),
        *_wrapped("", f"{found.confidence}; {found.evidence}", width, tone=Tone.MUTED),
    ]


def _feeds(explanation: Explanation, width: int) -> list[Line]:
    """Lines on the elements of the arguments that the worst element depends on."""
    if not explanation.feeds:
        nothing = "found no argument element that it depends on" if explanation.feeding == 0 else ""
        return _wrapped("inputs", explanation.untried or nothing, width, tone=Tone.MUTED)
    shown, count = len(explanation.feeds), explanation.feeding
    many = f"at least {shown}" if count is None else f"{count:,}"
    heading = f"{many} element{'' if count == 1 else 's'} of the arguments"
    if count is not None and count > shown:
        heading += f", the {shown} most influential:"
    values = "   ".join(map(_element, explanation.feeds))
    return [*_wrapped("inputs", heading, width), *_wrapped("", values, width, tone=Tone.MUTED)]


def _element(fed: InputElement) -> str:
    index = f",{_KEPT_SPACE}".join(map(str, fed.index))
    return f"{fed.argument}[{index}]{_KEPT_SPACE}={_KEPT_SPACE}{fed.value}"


def _map(report: OutputReport, glyphs: Glyphs) -> list[Line]:
    """The error map, each row with its first row of the output."""
    if not report.error_map:
        return []
    columns = report.shape[-1] if report.shape else 1
    rows = math.prod(report.shape[:-1])
    height, breadth = len(report.error_map), len(report.error_map[0])
    empty, *_, full = glyphs.heat
    tile = f"{_span(rows, height)} x {_span(columns, breadth)}"
    lines = [
        _labelled("where", muted(f"{empty} right  "), Span(full, Tone.BAD), muted(" all wrong")),
        _labelled("", muted(f"one cell = {tile} elements, columns 0 to {columns - 1:,}")),
    ]
    begin = first_wrong_row(report.error_map)
    if begin:
        lines.append(_labelled("", muted(f"the first {begin} of {height} rows of tiles are right")))
    for place, tiles in enumerate(error_map(report.error_map[begin:], glyphs=glyphs), start=begin):
        first = -(-place * rows // height)
        lines.append((muted(f"{first:>{_LABEL - 2},}  "), *tiles))
    return lines


def _span(size: int, tiles: int) -> str:
    """Number of elements of a tile."""
    least, most = size // tiles, -(-size // tiles)
    return f"{least}" if least == most else f"{least} or {most}"


def _labelled(label: str, *parts: Span | str) -> Line:
    return line(muted(f"{label:<{_LABEL}}"), *parts)


def _wrapped(label: str, text: str, width: int, *, tone: Tone = Tone.PLAIN) -> list[Line]:
    """A text wrapped to fit, with the label before the first line."""
    pieces = textwrap.wrap(text, max(20, width - _LABEL), break_on_hyphens=False)
    return [
        line(muted(f"{label if place == 0 else '':<{_LABEL}}"), Span(piece.replace(_KEPT_SPACE, " "), tone))
        for place, piece in enumerate(pieces)
    ]
