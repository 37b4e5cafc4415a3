"""Remarks on the numbers of a benchmark, in sentences: means, method, resolution, device, notes.

Only repeats recorded values.  Values that a driver did not report are left out, never guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from engine.model.benchmark import (
    CANDIDATE,
    OTHER_PROCESSES,
    CaseBenchmark,
    DeviceState,
    Method,
    Summary,
    Timing,
)
from engine.reports.bench import Benchmarks, bracketed, number

_METHODS = {
    Method.CUPTI: "cupti, the device's own timestamps of every kernel, copy and fill on all streams",
    Method.GRAPH: "graph, the time of a replayed CUDA graph divided by its calls",
    Method.EVENTS: "events around a call, which include launch gaps and exclude other streams",
}


@dataclass(frozen=True, kw_only=True)
class Remark:
    """A remark on the numbers: one word for its subject, and a sentence."""

    label: str
    text: str


def remarks_on(benchmarks: Benchmarks) -> Iterator[Remark]:
    """Means, counts, method, resolution, the state of the device and every note, most important first."""
    if benchmarks.doubt:
        yield Remark(label="doubt", text=benchmarks.doubt)
    for summary in benchmarks.summaries:
        yield Remark(label=summary.baseline, text=_summary_text(summary))
    yield from _remarks_on_method(benchmarks.right)
    yield from _remarks_on_device(benchmarks.cases)
    notes = (
        (case.case, note if timing.side == CANDIDATE else f"{timing.side}: {note}")
        for case in benchmarks.right
        for timing in (case.timing, *case.baselines)
        if timing is not None
        for note in timing.notes
    )
    yield from _gathered("note", notes, cases=len(benchmarks.right))


def _summary_text(summary: Summary) -> str:
    low, high = number(summary.speedup.low), number(summary.speedup.high)
    counts = ", ".join(f"{count} of {summary.planned} at least {least}x" for least, count in summary.fast.items())
    mean = f"{number(summary.speedup.value)}x as fast as {summary.baseline} [{low}, {high}]"
    mean = f"{mean}, geometric mean of {summary.cases} of {summary.planned} cases"
    return f"{mean}; {counts} as fast" if counts else mean


def _remarks_on_method(right: Sequence[CaseBenchmark]) -> Iterator[Remark]:
    methods = ((case.case, _method_text(case.timing)) for case in right)
    yield from _gathered("method", methods, cases=len(right))
    resolutions = [comparison.resolution for case in right for comparison in case.comparisons]
    if resolutions:
        least, most = min(resolutions), max(resolutions)
        amount = f"{least:.1%}" if f"{least:.1%}" == f"{most:.1%}" else f"{least:.1%} to {most:.1%}, by case,"
        yield Remark(label="resolution", text=f"differences below {amount} count as none")
    selves = [(case.case, case.ratio_to_self) for case in right if case.ratio_to_self is not None]
    if selves:
        name, worst = max(selves, key=lambda pair: abs(pair[1].value - 1))
        covered = sum(ratio.low <= 1 <= ratio.high for _, ratio in selves)
        text = f"the candidate against itself: at worst {bracketed(worst)} ({name})"
        yield Remark(label="A/A", text=f"{text}; the intervals of {covered} of {len(selves)} cases contain 1")
    elif right:
        yield Remark(label="A/A", text="the candidate was not measured against itself")
    unverified = (
        (case.case, f"{case.verified} of {case.calls} timed calls were verified")
        for case in right
        if case.verified < case.calls
    )
    yield from _gathered("unverified", unverified, cases=len(right))
    kernel_notes = ((case.case, case.kernel_note) for case in right if case.kernel_note)
    yield from _gathered("kernels", kernel_notes, cases=len(right))
    if any(case.floor is None for case in right):
        yield Remark(label="roofline", text="unknown: it needs the measured peaks of this device")


def _method_text(timing: Timing | None) -> str:
    if timing is None or timing.method is None:
        return "device times could not be taken by any method"
    return f"device times by {_METHODS[timing.method]}"


def _remarks_on_device(cases: Sequence[CaseBenchmark]) -> Iterator[Remark]:
    states = [state for case in cases for state in (case.before, case.after) if state is not None]
    ranges = (
        _range(states, "SM clock {} MHz", lambda state: state.sm_clock_mhz),
        _range(states, "memory clock {} MHz", lambda state: state.memory_clock_mhz),
        _range(states, "{} C", lambda state: state.temperature_c),
        _range(states, "{} W", lambda state: state.power_w),
    )
    known = [text for text in ranges if text]
    if known:
        yield Remark(label="device", text=", ".join(known))
    held = (
        (case.case, f"clocks were limited by {', '.join(state.throttled_by)} {when}")
        for case in cases
        for when, state in (("before", case.before), ("after", case.after))
        if state is not None and state.throttled_by
    )
    yield from _gathered("throttled", held, cases=len(cases))
    shared = (
        (case.case, f"other processes used the device {when}: {', '.join(map(str, state.other_processes))}")
        for case in cases
        for when, state in (("before", case.before), ("after", case.after))
        if state is not None and state.other_processes
    )
    yield from _gathered("shared", shared, cases=len(cases))
    unchecked = (
        (case.case, f"contention was not checked: {state.why_unknown(OTHER_PROCESSES)}")
        for case in cases
        for state in (case.before, case.after)
        if state is not None and state.other_processes is None
    )
    yield from _gathered("shared", unchecked, cases=len(cases))


def _range(states: Iterable[DeviceState], words: str, of: Callable[[DeviceState], float | None]) -> str:
    values = [value for state in states if (value := of(state)) is not None]
    if not values:
        return ""
    least, most = f"{min(values):.0f}", f"{max(values):.0f}"
    return words.format(least if least == most else f"{least} .. {most}")


def _gathered(label: str, pairs: Iterable[tuple[str, str]], *, cases: int) -> Iterator[Remark]:
    """Each text once, with its cases unless it is about all."""
    names_by_text: dict[str, dict[str, None]] = {}
    for case, text in pairs:
        names_by_text.setdefault(text, {})[case] = None
    for text, names in names_by_text.items():
        where = "" if len(names) == cases else f" ({', '.join(names)})"
        yield Remark(label=label, text=f"{text}{where}")
