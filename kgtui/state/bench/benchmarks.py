"""The bench tab: time of each case, comparison with the baselines, and percent of the roofline.
Correctness gates speed: a failing candidate has no ratio, and that of a flagged one is marked and never shown as good.
"""

from __future__ import annotations

from datetime import UTC, datetime

from engine.model import Case, Outcome, Problem, Stage, Tier
from engine.model.benchmark import (
    Bound,
    CaseBenchmark,
    CaseEstimate,
    Comparison,
    Holder,
    Interval,
    Standing,
    Summary,
)
from engine.reports.run_record import RunRecord
from kgtui.ports.protocols import BestRun
from kgtui.state.bench.distribution import distribution
from kgtui.state.bench.measurements import Measurement, Measurements, Trust, evidence
from kgtui.state.format import numbers
from kgtui.state.format.glyphs import Glyphs, State, outcome_tone, outcome_words
from kgtui.state.format.lines import Column, Line, Row, Span, Tone, line, muted, strong
from kgtui.state.run.resources import resource_cells

STANDING_TONES = {Standing.FASTER: Tone.GOOD, Standing.SLOWER: Tone.BAD, Standing.SAME: Tone.PLAIN}
BOUND_WORDS = {Bound.MEMORY: "memory", Bound.COMPUTE: "compute"}
NOT_RIGHT = "no speed-up is shown: the candidate did not pass"
_SPREAD_BINS = 10
_CASE_WIDTHS = range(12, 18)


def bench_cases(problem: Problem) -> tuple[Case, ...]:
    """The cases to time."""
    return tuple(case for case in problem.cases if case.tier is Tier.BENCH)


def bench_columns(problem: Problem, measurements: Measurements, *, glyphs: Glyphs) -> tuple[Column, ...]:
    """The columns, with one for each baseline; those dropped first on a narrow terminal are last."""
    longest = max((len(case.name) for case in bench_cases(problem)), default=0) + 1
    first, *others = measurements.baselines or ("eager",)
    ratios = [Column(label=f"{glyphs.times} {name}", width=14) for name in (first, *others)]
    return (
        Column(label="case", width=min(max(longest, _CASE_WIDTHS.start), _CASE_WIDTHS.stop)),
        Column(label=f"{glyphs.micro}s", width=14),
        ratios[0],
        Column(label="roofline", width=12),
        *ratios[1:],
        Column(label=f"call {glyphs.micro}s", width=9),
        Column(label="spread", width=_SPREAD_BINS + 1),
        Column(label="regs", width=5),
        Column(label="spill", width=7),
        Column(label="occ.", width=5),
        Column(label="L2", width=5),
        Column(label="note", width=50, least=20),
    )


def bench_rows(
    problem: Problem, view: RunRecord, measurements: Measurements, *, glyphs: Glyphs, dimmed: bool = False
) -> tuple[Row, ...]:
    """A row for every bench case and every other timed one; `dimmed` says that all are of another version.

    The case that is being timed has its times so far.
    """
    estimate = shown_estimate(view)
    names = dict.fromkeys([case.name for case in bench_cases(problem)] + [one.case for one in measurements.cases])
    baselines = measurements.baselines or ("eager",)
    rows = []
    for name in names:
        one = measurements.of(name)
        if estimate is not None and name == estimate.case:
            rows.append(Row(key=name, cells=_estimated(estimate, baselines, glyphs)))
        elif one is None:
            rows.append(Row(key=name, cells=_untimed(name, view, len(baselines), glyphs)))
        else:
            cells = _cells(one, baselines, glyphs, dimmed=dimmed)
            rows.append(Row(key=name, cells=cells, stale=one.stale or dimmed))
    return tuple(rows)


def shown_estimate(view: RunRecord) -> CaseEstimate | None:
    """Times so far of the case that is being timed, if they can count."""
    return view.estimate if view.running and evidence(view) is Trust.CREDIBLE else None


def summary_lines(measurements: Measurements, *, glyphs: Glyphs, dimmed: bool = False) -> tuple[Line, ...]:
    """One line for each baseline: the geometric mean with its interval, and the cases at least p times as fast."""
    if measurements.trust is Trust.WRONG:
        return ()
    return tuple(_summary(summary, measurements, glyphs, dimmed=dimmed) for summary in measurements.summaries)


def current_headline(view: RunRecord, measurements: Measurements, *, glyphs: Glyphs) -> Line:
    """The numbers for the strip: those so far while a case is timed, else `headline`."""
    return estimate_line(view, glyphs=glyphs) or headline(measurements, glyphs=glyphs)


def headline(measurements: Measurements, *, glyphs: Glyphs) -> Line:
    """Percent of the roofline, and the speed-up against the first baseline and its noise."""
    if measurements.trust is Trust.WRONG or not measurements.summaries:
        return ()
    summary, percent = measurements.summaries[0], measurements.roofline_median
    tone, sign = _standing(summary, measurements, glyphs)
    text = f"{sign} {numbers.factor(summary.speedup, glyphs=glyphs)} {summary.baseline}"
    if measurements.stale:
        return line(Span(f"stale: {text}{_from(measurements.number)}", Tone.STALE))
    counts = measurements.trust is Trust.CREDIBLE
    peak = f"{numbers.percent(percent)} peak  " if counts and percent is not None else ""
    return line(strong(peak), Span(text, Tone.STRONG if tone is Tone.PLAIN else tone))


def estimate_line(view: RunRecord, *, glyphs: Glyphs) -> Line:
    """The speed-up so far of the case that is being timed, its time without a baseline; empty without an estimate."""
    estimate = shown_estimate(view)
    if estimate is None:
        return ()
    if not estimate.comparisons:
        time = numbers.microseconds(estimate.device_us, glyphs=glyphs)
        return line(muted(f"{time} {glyphs.micro}s so far"))
    first = estimate.comparisons[0]
    return line(muted(f"{numbers.factor(first.speedup, glyphs=glyphs)} {first.baseline} so far"))


def best_line(best: BestRun | None, *, shown: int | None, glyphs: Glyphs) -> Line:
    """The best run and its mean speed-up, or a note that run `shown` is the best; empty without one.
    A measurement under other package versions than the current ones is marked.
    """
    if best is None:
        return ()
    others = best.changed[0] if len(best.changed) == 1 else f"{len(best.changed)} versions"
    changed = (Span(f" ({others} changed since)", Tone.WARN),) if best.changed else ()
    if best.number == shown:
        return line(Span("best so far", Tone.GOOD), *changed)
    return line(
        muted("best "),
        strong(f"#{best.number}"),
        f" {numbers.factor(best.speedup, glyphs=glyphs)}",
        muted(f" {best.baseline}"),
        *changed,
    )


def comparison_span(comparison: Comparison, trust: Trust, glyphs: Glyphs) -> Span:
    """The speed-up with its interval, its standing as a sign and a colour; marked if it may not count."""
    text = numbers.ratio(comparison.speedup, glyphs=glyphs)
    if trust is Trust.WRONG:
        return muted(glyphs.dash)
    if trust is Trust.FLAGGED:
        return Span(f"{glyphs.state(State.FLAGGED)} {text}", Tone.WARN)
    return Span(f"{glyphs.standings[comparison.standing]} {text}", STANDING_TONES[comparison.standing])


def time_span(timed: CaseBenchmark, glyphs: Glyphs) -> Span:
    """The device time with its interval, or the outcome of an untimed case."""
    if timed.outcome is not Outcome.PASS:
        return Span(f"{glyphs.outcome(timed.outcome)} {outcome_words(timed.outcome)}", outcome_tone(timed.outcome))
    if timed.timing is None or timed.timing.device_us is None:
        return muted(glyphs.dash)
    return strong(numbers.microseconds(timed.timing.device_us, glyphs=glyphs))


def ratio_span(one: Measurement, baseline: str, glyphs: Glyphs) -> Span:
    """The speed-up against this baseline, if it counts."""
    comparison = next((known for known in one.benchmark.comparisons if known.baseline == baseline), None)
    return comparison_span(comparison, one.trust, glyphs) if comparison else muted(glyphs.dash)


def roofline_span(timed: CaseBenchmark, glyphs: Glyphs) -> Span:
    """Percent of the roofline, and what bounds the case."""
    if timed.floor is None or timed.floor.percent is None:
        return muted(glyphs.dash)
    beyond = timed.floor.percent > 100
    return Span(
        f"{numbers.percent(timed.floor.percent)} {BOUND_WORDS[timed.floor.bound]}", Tone.WARN if beyond else Tone.PLAIN
    )


def standing_of(speedup: Interval, *, resolution: float) -> Standing:
    """Standing of a mean of speed-ups: faster or slower only when its whole interval exceeds the resolution."""
    if abs(speedup.value - 1) <= resolution or speedup.low <= 1 <= speedup.high:
        return Standing.SAME
    return Standing.FASTER if speedup.value > 1 else Standing.SLOWER


def why_nothing(view: RunRecord, problem: Problem) -> str:
    """Reason why no case is timed, and what to do."""
    if not bench_cases(problem):
        return f"{problem.name} has no bench cases, so there is nothing to time"
    stage = view.stage(Stage.BENCHMARK)
    if stage is not None and stage.outcome not in (None, Outcome.PASS):
        return f"nothing was timed: {stage.message or outcome_words(stage.outcome or Outcome.ENGINE_ERROR)}"
    if view.holder is not None:
        return awaited(view.holder)
    if evidence(view) is Trust.WRONG:
        return "nothing was timed: only passing candidates are timed; see the cases"
    if view.verdict is not None and view.verdict.outcome is not Outcome.PASS:
        return (
            f"nothing was timed: the run ended first ({outcome_words(view.verdict.outcome)}); b times the bench cases"
        )
    if view.running and stage is not None:
        return "the first bench case is being timed"
    if view.running:
        return "the bench cases are timed once all cases pass"
    return "nothing timed yet: b times the bench cases"


def trouble(view: RunRecord) -> str:
    """Reason why a timed run shows no speed-up, or not for all cases; empty if it does."""
    if view.benchmarks and evidence(view) is Trust.WRONG:
        return NOT_RIGHT
    stage = view.stage(Stage.BENCHMARK)
    if stage is None or stage.outcome in (None, Outcome.PASS) or not stage.message:
        return ""
    return f"not all was timed: {stage.message}"


def awaited(holder: Holder) -> str:
    """Holder of the device, and since when; an unreadable time is shown unchanged."""
    try:
        since = datetime.fromisoformat(holder.since).astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
    except ValueError:
        since = holder.since
    return f"process {holder.pid} has held the device since {since}: {holder.command}"


def _summary(summary: Summary, measurements: Measurements, glyphs: Glyphs, *, dimmed: bool) -> Line:
    tone, sign = _standing(summary, measurements, glyphs)
    speedup = f"{sign} {numbers.factor(summary.speedup, glyphs=glyphs)}"
    fast = [f"fast_{p} {count}/{summary.planned}" for p, count in summary.fast.items()]
    words = f" {summary.baseline}, geomean of {summary.cases}/{summary.planned}"
    rest = "".join(f" {glyphs.dot} {one}" for one in fast)
    if measurements.stale or dimmed:
        return line(Span(f"stale{_from(measurements.number)}: {speedup}{words}{rest}", Tone.STALE))
    flagged = Span("  flagged: does not count", Tone.WARN) if measurements.trust is Trust.FLAGGED else Span("")
    return line(Span(speedup, Tone.STRONG if tone is Tone.PLAIN else tone), words, flagged, muted(rest))


def _standing(summary: Summary, measurements: Measurements, glyphs: Glyphs) -> tuple[Tone, str]:
    if measurements.trust is not Trust.CREDIBLE:
        return Tone.WARN, glyphs.state(State.FLAGGED)
    standing = standing_of(summary.speedup, resolution=measurements.resolution(summary.baseline))
    return STANDING_TONES[standing], glyphs.standings[standing]


def _untimed(name: str, view: RunRecord, baselines: int, glyphs: Glyphs) -> tuple[Span, ...]:
    waiting = view.running and view.stage(Stage.BENCHMARK) is not None
    word = muted(f"{glyphs.outcome(None)} {'waits' if waiting else 'not timed'}")
    return (Span(name), word, *[muted(glyphs.dash)] * (baselines + 7), Span(""))


def _estimated(estimate: CaseEstimate, baselines: tuple[str, ...], glyphs: Glyphs) -> tuple[Span, ...]:
    """The time and the speed-ups so far, without the emphasis of final ones."""
    dash = muted(glyphs.dash)
    speedup_by_baseline = {one.baseline: numbers.ratio(one.speedup, glyphs=glyphs) for one in estimate.comparisons}
    first, *others = [muted(speedup_by_baseline.get(name, glyphs.dash)) for name in baselines]
    return (
        Span(estimate.case),
        muted(f"{glyphs.outcome(None)} {numbers.microseconds(estimate.device_us, glyphs=glyphs)}"),
        first,
        dash,
        *others,
        *[dash] * 6,
        muted(f"so far, after {estimate.rounds} rounds"),
    )


def _cells(one: Measurement, baselines: tuple[str, ...], glyphs: Glyphs, *, dimmed: bool) -> tuple[Span, ...]:
    timed, dash = one.benchmark, muted(glyphs.dash)
    timing = timed.timing
    first, *others = [ratio_span(one, name, glyphs) for name in baselines]
    return (
        Span(one.case),
        time_span(timed, glyphs),
        first,
        roofline_span(timed, glyphs),
        *others,
        Span(numbers.short(timing.call_us.value)) if timing and timing.call_us else dash,
        _spread(timed, glyphs),
        *resource_cells(one.compiled, glyphs),
        muted(timed.cache),
        _note(one, glyphs, dimmed=dimmed),
    )


def _spread(timed: CaseBenchmark, glyphs: Glyphs) -> Span:
    known = distribution(timed.timing.samples_us, bins=_SPREAD_BINS) if timed.timing else None
    return Span(known.strip(glyphs), Tone.LINK) if known else muted(glyphs.dash)


def _note(one: Measurement, glyphs: Glyphs, *, dimmed: bool) -> Span:
    words: list[str] = []
    if one.stale or dimmed:
        words.append(f"stale{_from(one.number)}")
    elif one.earlier:
        words.append(f"of run #{one.number}" if one.number is not None else "of an earlier run")
    if one.trust is Trust.FLAGGED:
        words.append(f"{glyphs.state(State.FLAGGED)} flagged: does not count")
    if one.trust is Trust.WRONG:
        words.append("the run did not pass")
    if one.benchmark.message:
        words.append(" ".join(one.benchmark.message.split()))
    return Span("; ".join(words), Tone.WARN if one.trust is Trust.FLAGGED else Tone.MUTED)


def _from(number: int | None) -> str:
    return f" (#{number})" if number is not None else ""
