"""Runs side by side: a line for each, the result of every case, and the time of every timed one.
Rows are items and columns are sides; differences between sides are stated in words. A speed-up of a failing candidate,
or one that was not measured, is never shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.model import CaseResult, Outcome
from engine.model.benchmark import Comparison
from kgtui.state.bench.benchmarks import STANDING_TONES, comparison_span, time_span
from kgtui.state.bench.measurements import Trust
from kgtui.state.compare.sides import Side
from kgtui.state.compare.speedup_comparison import CaseVersus, ComparisonMethod, Versus, device_time, trust_of
from kgtui.state.format import numbers
from kgtui.state.format.glyphs import TONES, Glyphs, State, outcome_tone, outcome_words, state_of, verdict_words
from kgtui.state.format.lines import Column, Line, Row, Span, Tone, line, muted, strong
from kgtui.state.history.past_runs import one_line

MEAN = "geometric mean"
SAME, DIFFERS = "same", "differs"
_REGRESSED, _FIXED = "regressed", "fixed"
_USUAL = "eager"


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows under columns; `about` has the text below the table by row key, `empty` the text without rows.
    `differing` counts the rows that differ between sides.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    about: Mapping[str, tuple[Line, ...]]
    empty: str = ""
    differing: int = 0


def side_line(side: Side, versus: Versus | None, *, glyphs: Glyphs) -> Line:
    """One side in a line: verdict, mean, file, model, tag and note; the reference itself has no `versus`."""
    run, dot = side.run, muted(f" {glyphs.dot} ")
    state = State.FLAGGED if run.flagged else state_of(run.outcome)
    word = "no verdict"
    if run.outcome is not None:
        word = verdict_words(run.outcome, flagged=run.flagged, passed=run.passed, proven=run.proven)
    counts = f"{run.passed}/{run.total}"
    if run.proven is not None and run.proven != run.passed:
        counts += f", {run.proven} proven"
    parts = [strong(f"{side.name:<5} "), Span(f"{glyphs.state(state)} {word} {counts}", TONES[state])]
    parts += [muted("  "), muted("reference") if versus is None else mean_span(versus, glyphs=glyphs), muted("  ")]
    parts.append(Span(side.filename) if side.filename else muted("no file"))
    if side.answer is not None:
        parts += [dot, Span(one_line(side.answer.model), Tone.LINK)]
    if run.tag:
        parts += [dot, muted("tag "), Span(one_line(run.tag), Tone.LINK)]
    if run.note:
        parts += [dot, Span(one_line(run.note))]
    return line(*parts)


def mean_span(versus: Versus, *, glyphs: Glyphs) -> Span:
    """The mean over all compared cases with its standing as sign and word; or a note that there is none."""
    if versus.mean is None or versus.standing is None:
        return muted("times not compared")
    text = f"{numbers.factor(versus.mean.speedup, glyphs=glyphs)} {versus.reference}"
    if versus.trust is Trust.FLAGGED:
        return Span(f"{glyphs.state(State.FLAGGED)} {text}, but not credible", Tone.WARN)
    return Span(f"{glyphs.standings[versus.standing]} {text}, {versus.standing}", STANDING_TONES[versus.standing])


def cases_table(sides: Sequence[Side], *, glyphs: Glyphs) -> Table:
    """Result of every case on every side; those that differ come first."""
    names = list(dict.fromkeys(result.case for side in sides for result in side.view.cases))
    rows: list[Row] = []
    about: dict[str, tuple[Line, ...]] = {}
    for name in names:
        results = [side.view.case(name) for side in sides]
        change = change_of([result.outcome if result else None for result in results])
        rows.append(Row(key=name, cells=(Span(name), *(_case_cell(result, glyphs) for result in results), change)))
        about[name] = tuple(_case_words(side, result, glyphs) for side, result in zip(sides, results, strict=True))
    rows.sort(key=lambda row: row.cells[-1].text == SAME)
    columns = (
        Column(label="case", width=20),
        *(Column(label=side.name, width=19, rank=1) for side in sides),
        Column(label="change", width=10),
    )
    return Table(
        columns=columns,
        rows=tuple(rows),
        about=about,
        empty="no case was run in these runs",
        differing=sum(row.cells[-1].text != SAME for row in rows),
    )


def change_of(outcomes: Sequence[Outcome | None]) -> Span:
    """Change of the other sides against the first: same, fixed, regressed, or otherwise different."""
    first, *others = outcomes
    if all(outcome is first for outcome in others):
        return muted(SAME)
    if None in outcomes:
        return Span(DIFFERS, Tone.BUSY)
    if first is Outcome.PASS:
        return Span(_REGRESSED, Tone.BAD)
    return Span(_FIXED, Tone.GOOD) if Outcome.PASS in others else Span(DIFFERS, Tone.BUSY)


def times_table(sides: Sequence[Side], comparisons: Sequence[Versus], *, glyphs: Glyphs) -> Table:
    """Time of every timed case on every side, and its ratio to the first.
    `comparisons` are those of the other sides with the first, in order.
    """
    names = list(dict.fromkeys(timed.case for side in sides for timed in side.view.benchmarks))
    columns = (
        Column(label="case", width=17),
        *(Column(label=f"{one.other} / {one.reference}", width=15) for one in comparisons),
        *(Column(label=f"{side.name} {glyphs.micro}s", width=15) for side in sides),
        *(Column(label=f"{side.name} {glyphs.times} {_USUAL}", width=15) for side in sides),
        Column(label="compared", width=40, least=16),
    )
    if not names:
        return Table(columns=columns, rows=(), about={}, empty="; ".join(dict.fromkeys(one.why for one in comparisons)))
    rows = [Row(key=name, cells=_time_cells(name, sides, comparisons, glyphs)) for name in names]
    means = tuple(_mean_cell(one, glyphs) for one in comparisons)
    rows.append(Row(key=MEAN, cells=(strong(MEAN), *means, *([Span("")] * (2 * len(sides) + 1)))))
    about = {name: _time_words(name, sides, comparisons, glyphs) for name in names}
    about[MEAN] = tuple(mean_words(one, glyphs=glyphs) for one in comparisons)
    return Table(columns=columns, rows=tuple(rows), about=about)


def mean_words(versus: Versus, *, glyphs: Glyphs) -> Line:
    """Sentence with the mean, its number of cases and method; or the reason why there is none."""
    if versus.mean is None:
        return line(f"{versus.other} against {versus.reference}: not compared, {versus.why}")
    ways = dict.fromkeys(_way(one) for one in versus.cases if one.comparison is not None)
    many = f"over {versus.mean.cases} of {versus.mean.planned} timed cases"
    least = f"up to {100 * versus.resolution:.1f} % counts as no difference"
    return line(f"{versus.other} ", mean_span(versus, glyphs=glyphs), muted(f"  {many}, {least}: {', or '.join(ways)}"))


def versus_words(one: CaseVersus, versus: Versus, *, glyphs: Glyphs) -> str:
    """Sentence with the comparison of one case: ratio, interval, method."""
    if one.comparison is None:
        return f"{versus.other} against {versus.reference}: not compared, {one.why}"
    found = one.comparison
    many = f"{found.speedup.value:.3f}{glyphs.times} ({numbers.span(found.speedup, digits=3)})"
    least = f"up to {100 * found.resolution:.1f} % counts as no difference"
    return f"{versus.other} is {many} as fast as {versus.reference}, {found.standing} ({least}): {_way(one)}"


def _way(one: CaseVersus) -> str:
    """Explanation of the method of comparison."""
    if one.method is ComparisonMethod.INTERLEAVED:
        return "timed interleaved on the device"
    return f"the ratio of their speed-ups over {one.baseline}, timed at different times"


def _case_cell(result: CaseResult | None, glyphs: Glyphs) -> Span:
    if result is None:
        return muted(glyphs.dash)
    return Span(f"{glyphs.outcome(result.outcome)} {outcome_words(result.outcome)}", outcome_tone(result.outcome))


def _case_words(side: Side, result: CaseResult | None, glyphs: Glyphs) -> Line:
    if result is None:
        return line(strong(f"{side.name:<5} "), muted("not run in this run"))
    errors = [one.max_absolute_error for one in result.outputs if one.max_absolute_error is not None]
    worst = f"max abs {numbers.error(max(errors))}" if errors else ""
    place = f"line {result.location.line}" if result.location else ""
    said = f" {glyphs.dot} ".join(word for word in (worst, place, " ".join(result.message.split())) if word)
    return line(strong(f"{side.name:<5} "), _case_cell(result, glyphs), muted(f"  {said}"))


def _time_cells(name: str, sides: Sequence[Side], comparisons: Sequence[Versus], glyphs: Glyphs) -> tuple[Span, ...]:
    timed = [side.view.benchmark(name) for side in sides]
    dash = muted(glyphs.dash)
    usual = [
        next((one for one in case.comparisons if one.baseline == _USUAL), None) if case else None for case in timed
    ]
    known = [one.of(name) for one in comparisons]
    ratios = [(case.comparison if case else None, one.trust) for case, one in zip(known, comparisons, strict=True)]
    methods = dict.fromkeys(
        case.method if case.comparison is not None and case.method else case.why for case in known if case
    )
    return (
        Span(name),
        *(_ratio_cell(comparison, trust, glyphs) for comparison, trust in ratios),
        *(time_span(case, glyphs) if case else dash for case in timed),
        *(_ratio_cell(one, trust_of(side), glyphs) for one, side in zip(usual, sides, strict=True)),
        muted("; ".join(methods) or "; ".join(dict.fromkeys(one.why for one in comparisons))),
    )


def _ratio_cell(comparison: Comparison | None, trust: Trust, glyphs: Glyphs) -> Span:
    return muted(glyphs.dash) if comparison is None else comparison_span(comparison, trust, glyphs)


def _mean_cell(versus: Versus, glyphs: Glyphs) -> Span:
    if versus.mean is None or versus.standing is None:
        return muted(glyphs.dash)
    mean = Comparison(
        baseline=versus.reference, speedup=versus.mean.speedup, resolution=versus.resolution, standing=versus.standing
    )
    return comparison_span(mean, versus.trust, glyphs)


def _time_words(name: str, sides: Sequence[Side], comparisons: Sequence[Versus], glyphs: Glyphs) -> tuple[Line, ...]:
    lines = []
    for one in comparisons:
        case = one.of(name)
        lines.append(line(versus_words(case, one, glyphs=glyphs) if case else f"not compared: {one.why}"))
    taken = [(side, device_time(side, name)) for side in sides]
    words = ", ".join(
        f"{side.name} {numbers.span_us(time_us)} {glyphs.micro}s" for side, time_us in taken if time_us is not None
    )
    return (*lines, line(muted(f"95 % intervals of the device time: {words}"))) if words else tuple(lines)
