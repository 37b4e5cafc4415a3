"""One benchmarked case in full: times, method, state of the device, and unknown values."""

from __future__ import annotations

import math

from engine.model import Outcome
from engine.model.benchmark import (
    Bound,
    CaseBenchmark,
    CaseEstimate,
    Comparison,
    DeviceState,
    Floor,
    Interval,
    Method,
    Timing,
)
from kgtui.state.bench.benchmarks import BOUND_WORDS, comparison_span
from kgtui.state.bench.distribution import distribution
from kgtui.state.bench.measurements import Measurement, Trust
from kgtui.state.format import numbers
from kgtui.state.format.glyphs import Glyphs, State, outcome_tone, outcome_words
from kgtui.state.format.lines import Line, Span, Tone, line, muted, strong
from kgtui.state.run.resources import kernel_lines

_MOST_BINS = 40
_METHODS = {
    Method.CUPTI: "CUPTI timestamps, all streams",
    Method.GRAPH: "a replayed CUDA graph",
    Method.EVENTS: "events: launch gaps count, other streams do not",
}
LABEL = 10
_INDENT = " " * LABEL


def bench_detail(one: Measurement, *, glyphs: Glyphs) -> tuple[Line, ...]:
    """Details, most important first: times and ratios, the floor, the spread, the checks, kernels, device, notes."""
    timed = one.benchmark
    lines: list[Line] = [_heading(one, glyphs)]
    if timed.message:
        lines.append(line(timed.message))
    if timed.timing is not None and timed.outcome is Outcome.PASS:
        lines += _timing(timed.timing, glyphs)
        lines += _kernel_time(timed, glyphs)
        for baseline in timed.baselines:
            lines += _baseline(one, baseline, glyphs)
        lines += _against_itself(timed.ratio_to_self, timed.comparisons, glyphs)
        if timed.floor is not None:
            lines.append(_floor(timed.floor, glyphs))
        lines += _spread(timed.timing.samples_us, glyphs)
    lines.append(_checked(timed))
    lines += _kernels(one)
    lines += _device("before", timed.before)
    lines += _device("after", timed.after)
    return tuple(lines)


def estimate_detail(estimate: CaseEstimate, *, glyphs: Glyphs) -> tuple[Line, ...]:
    """The times so far of a case that is being timed, and those that follow."""
    lines: list[Line] = [line(strong(estimate.case), muted(f"  so far, after {estimate.rounds} rounds"))]
    lines.append(_time("device", estimate.device_us, _METHODS[estimate.method], glyphs))
    for comparison in estimate.comparisons:
        ratio = _ratio(comparison, Trust.CREDIBLE, glyphs)
        lines.append(line(muted(f"{comparison.baseline:<9} "), *ratio))
    lines.append(line(muted("more rounds, whole calls and graphs follow")))
    return tuple(lines)


def _heading(one: Measurement, glyphs: Glyphs) -> Line:
    outcome = one.benchmark.outcome
    state = Span(f"{glyphs.outcome(outcome)} {outcome_words(outcome)}", outcome_tone(outcome))
    number = f" (#{one.number})" if one.number is not None else ""
    age = Span(f"  stale: from an earlier version{number}", Tone.WARN) if one.stale else Span("")
    return line(strong(one.case), "  ", state, *_doubt(one.trust, glyphs), age)


def _doubt(trust: Trust, glyphs: Glyphs) -> tuple[Span, ...]:
    match trust:
        case Trust.CREDIBLE:
            return ()
        case Trust.FLAGGED:
            return (Span(f"  {glyphs.state(State.FLAGGED)} flagged: does not count; the findings say why", Tone.WARN),)
        case Trust.WRONG:
            return (Span("  the run did not pass: no speed-up is shown", Tone.BAD),)


def _timing(timing: Timing, glyphs: Glyphs) -> list[Line]:
    count = timing.activities
    activities = "" if count is None else f", {count} {'activity' if count == 1 else 'activities'} a call"
    method = _METHODS[timing.method] if timing.method else "no method"
    named = (
        ("device", timing.device_us, f"{method}{activities}"),
        ("call", timing.call_us, "end to end, with the host"),
        ("graph", timing.graph_us, "inside a CUDA graph"),
        ("stream", timing.stream_us, "events on the current stream"),
    )
    lines = [_time(name, known, how, glyphs) for name, known, how in named if known is not None]
    return lines + [line(muted("note      "), Span(note, Tone.WARN)) for note in timing.notes]


def _kernel_time(timed: CaseBenchmark, glyphs: Glyphs) -> list[Line]:
    """The time of the launches alone, or why they were not timed."""
    how = "recorded launches, without the candidate's Python"
    lines = [_time("kernels", timed.kernel_us, how, glyphs)] if timed.kernel_us is not None else []
    note = [line(muted("kernels   "), Span(timed.kernel_note, Tone.WARN))] if timed.kernel_note else []
    return lines + note


def _time(name: str, value_us: Interval, how: str, glyphs: Glyphs) -> Line:
    value = strong(f"{numbers.short(value_us.value)} {glyphs.micro}s")
    return line(muted(f"{name:<10}"), value, muted(f"  [{numbers.span_us(value_us)}]  {how}"))


def _baseline(one: Measurement, timing: Timing, glyphs: Glyphs) -> list[Line]:
    lines: list[Line] = []
    name = muted(f"{timing.side:<9} ")
    if timing.device_us is not None:
        known = next((other for other in one.benchmark.comparisons if other.baseline == timing.side), None)
        value = Span(f"{numbers.short(timing.device_us.value)} {glyphs.micro}s")
        lines.append(line(name, value, "  ", *_ratio(known, one.trust, glyphs)))
    notes = [line(_INDENT if lines else name, Span(note, Tone.WARN)) for note in timing.notes]
    return lines + notes


def _ratio(comparison: Comparison | None, trust: Trust, glyphs: Glyphs) -> tuple[Span, ...]:
    if comparison is None or trust is Trust.WRONG:
        return (muted("not compared"),)
    word = f" {comparison.standing}" if trust is Trust.CREDIBLE else " flagged"
    reach = muted(f"  [{numbers.span(comparison.speedup, digits=3)}]")
    return (comparison_span(comparison, trust, glyphs), Span(word), reach)


def _against_itself(ratio: Interval | None, comparisons: tuple[Comparison, ...], glyphs: Glyphs) -> list[Line]:
    """The A/A comparison, and the smallest difference that counts."""
    if ratio is None:
        return []
    finest = max((comparison.resolution for comparison in comparisons), default=None)
    least = "" if finest is None else f", under {100 * finest:.1f}% is no difference"
    return [line(muted("A/A       "), f"{ratio.value:.3f}", muted(f"  [{numbers.span(ratio, digits=3)}]{least}"))]


def _floor(floor: Floor, glyphs: Glyphs) -> Line:
    percent = "not known" if floor.percent is None else numbers.percent(floor.percent)
    beyond = floor.percent is not None and floor.percent > 100
    rate = numbers.rate_bytes(floor.bandwidth_bytes_per_s)
    if floor.bound is Bound.COMPUTE and floor.peak_flops_per_s is not None:
        rate = f"{numbers.rate_flops(floor.peak_flops_per_s)} {floor.precision}"
    return line(
        muted("roofline  "),
        Span(percent, Tone.WARN if beyond else Tone.STRONG),
        f"  {numbers.short(floor.floor_us)} {glyphs.micro}s by {BOUND_WORDS[floor.bound]}",
        muted(f" at the {rate} measured here"),
    )


def _spread(samples_us: tuple[float, ...], glyphs: Glyphs) -> list[Line]:
    known = distribution(samples_us, bins=min(_MOST_BINS, round(2 * math.sqrt(len(samples_us)))))
    if known is None:
        return []
    beyond = f", {known.beyond} above" if known.beyond else ""
    reach = f"  {numbers.short(known.low)} to {numbers.short(known.high)} {glyphs.micro}s"
    strip = Span(known.strip(glyphs), Tone.LINK)
    return [line(muted("spread    "), strip, muted(f"{reach}, {len(samples_us)} samples{beyond}"))]


def _checked(timed: CaseBenchmark) -> Line:
    whole = timed.calls > 0 and timed.verified == timed.calls
    count = Span(f"{timed.verified:,} of {timed.calls:,} timed calls", Tone.PLAIN if whole else Tone.WARN)
    slots = f", {timed.slots} slots of {numbers.bytes_of(timed.slot_bytes)}" if timed.slots else ""
    return line(muted("verified  "), count, muted(f"{slots}, L2 {timed.cache}, {numbers.seconds(timed.elapsed_s)}"))


def _kernels(one: Measurement) -> list[Line]:
    lines: list[Line] = []
    for launch, kernel in one.compiled:
        first, second = kernel_lines(launch, kernel)
        lines += [line(muted("kernel    "), *first), line(_INDENT, *second)]
    return lines


def _device(when: str, state: DeviceState | None) -> list[Line]:
    if state is None:
        return [line(muted(f"{when:<10}the driver reported no device state"))]
    readings = (
        (state.sm_clock_mhz, " MHz"),
        (state.memory_clock_mhz, " MHz memory"),
        (state.temperature_c, " C"),
        (None if state.power_w is None else round(state.power_w), " W"),
        (state.utilisation_percent, "% busy"),
    )
    words = ", ".join(f"{value:,}{unit}" for value, unit in readings if value is not None) or "no data"
    lines = [line(muted(f"{when:<10}"), words)]
    if state.throttled_by:
        lines.append(line(_INDENT, Span(f"clocks limited: {', '.join(state.throttled_by)}", Tone.WARN)))
    if state.other_processes:
        others = ", ".join(map(str, state.other_processes))
        lines.append(line(_INDENT, Span(f"other processes use the device: {others}", Tone.WARN)))
    lines += [line(_INDENT, muted(f"unknown: {refused}")) for refused in state.refused]
    return lines
