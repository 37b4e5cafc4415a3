"""Changes of the tables by a benchmark, as statements to run in one transaction.

A case that was not right leaves a row without a single time, whatever is in its event.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import msgspec

from engine.model.benchmark import CaseBenchmark, Comparison, Interval, Summary, Timing
from engine.reports.bench import without_wrong_times
from sessions.database import Values

Statement: TypeAlias = tuple[str, Values]

_NOTE_SEPARATOR = "; "

_INSERT_BENCHMARK = """
insert into benchmarks (
    run, seq, case_name, outcome, message, cache, method, device_us, device_us_low, device_us_high, call_us,
    call_us_low, call_us_high, graph_us, calls, verified, slots, floor_us, bound, percent_of_floor, elapsed_s,
    kernel_us, kernel_us_low, kernel_us_high
) values (
    :run, :seq, :case_name, :outcome, :message, :cache, :method, :device_us, :device_us_low, :device_us_high, :call_us,
    :call_us_low, :call_us_high, :graph_us, :calls, :verified, :slots, :floor_us, :bound, :percent_of_floor, :elapsed_s,
    :kernel_us, :kernel_us_low, :kernel_us_high
)"""
_INSERT_COMPARISON = """
insert into comparisons (
    run, seq, case_name, baseline, method, device_us, call_us, speedup, speedup_low, speedup_high, resolution, standing,
    notes
) values (
    :run, :seq, :case_name, :baseline, :method, :device_us, :call_us, :speedup, :speedup_low, :speedup_high,
    :resolution, :standing, :notes
)"""
_INSERT_SUMMARY = """
insert or replace into summaries (
    run, baseline, speedup, speedup_low, speedup_high, cases, planned, fast
) values (:run, :baseline, :speedup, :speedup_low, :speedup_high, :cases, :planned, :fast)"""
# Recorded with the verdict: a candidate found to cheat later may have slowed its baselines down.
KEEP_BASELINES = """
insert or replace into baselines (
    device_name, problem, case_name, cache, baseline, versions, method, device_us, call_us, measured_at, run
)
select
    runs.device_name, runs.problem, benchmarks.case_name, benchmarks.cache, comparisons.baseline,
    (select coalesce(group_concat(name || ' ' || value, ', '), '') from (
        select name, value from environment where session = runs.session and name != 'device' order by name)),
    comparisons.method, comparisons.device_us, comparisons.call_us,
    strftime('%Y-%m-%dT%H:%M:%fZ', runs.started_at, printf('+%.3f seconds', events.at_s)), runs.id
from runs
join benchmarks on benchmarks.run = runs.id
join comparisons on comparisons.run = runs.id and comparisons.seq = benchmarks.seq
join events on events.run = runs.id and events.seq = benchmarks.seq
where runs.id = :run and runs.outcome = 'pass' and runs.flagged = 0 and runs.policy != 'facts-only'
    and runs.device_name is not null
    and (comparisons.device_us is not null or comparisons.call_us is not null)
order by benchmarks.seq"""


def benchmark_statements(benchmark: CaseBenchmark, *, place: Values) -> Iterator[Statement]:
    """Rows of one case: its own, and one for each baseline of the plan."""
    shown = without_wrong_times(benchmark)
    where = {**place, "case_name": shown.case}
    yield _INSERT_BENCHMARK, {**where, **_case_values(shown)}
    timing_by_baseline = {timing.side: timing for timing in shown.baselines}
    comparison_by_baseline = {comparison.baseline: comparison for comparison in shown.comparisons}
    for baseline in dict.fromkeys((*timing_by_baseline, *comparison_by_baseline)):
        yield (
            _INSERT_COMPARISON,
            {
                **where,
                "baseline": baseline,
                **_side_values(timing_by_baseline.get(baseline)),
                **_comparison_values(comparison_by_baseline.get(baseline)),
            },
        )


def summary_statements(summaries: Sequence[Summary], *, run_id: int) -> Iterator[Statement]:
    """A row for each baseline."""
    for summary in summaries:
        yield (
            _INSERT_SUMMARY,
            {
                "run": run_id,
                "baseline": summary.baseline,
                **_interval_values("speedup", summary.speedup),
                "cases": summary.cases,
                "planned": summary.planned,
                "fast": msgspec.json.encode(dict(summary.fast)).decode(),
            },
        )


def _case_values(benchmark: CaseBenchmark) -> Values:
    timing, floor = benchmark.timing, benchmark.floor
    return {
        "outcome": benchmark.outcome,
        "message": benchmark.message,
        "cache": benchmark.cache,
        "method": timing.method if timing else None,
        **_interval_values("device_us", timing.device_us if timing else None),
        **_interval_values("call_us", timing.call_us if timing else None),
        "graph_us": _value(timing.graph_us if timing else None),
        "calls": benchmark.calls,
        "verified": benchmark.verified,
        "slots": benchmark.slots,
        "floor_us": floor.floor_us if floor else None,
        "bound": floor.bound if floor else None,
        "percent_of_floor": floor.percent if floor else None,
        "elapsed_s": benchmark.elapsed_s,
        **_interval_values("kernel_us", benchmark.kernel_us),
    }


def _side_values(timing: Timing | None) -> Values:
    return {
        "method": timing.method if timing else None,
        "device_us": _value(timing.device_us if timing else None),
        "call_us": _value(timing.call_us if timing else None),
        "notes": _NOTE_SEPARATOR.join(timing.notes) if timing else "",
    }


def _comparison_values(comparison: Comparison | None) -> Values:
    return {
        **_interval_values("speedup", comparison.speedup if comparison else None),
        "resolution": comparison.resolution if comparison else None,
        "standing": comparison.standing if comparison else None,
    }


def _interval_values(name: str, interval: Interval | None) -> Values:
    return {
        name: _value(interval),
        f"{name}_low": interval.low if interval else None,
        f"{name}_high": interval.high if interval else None,
    }


def _value(interval: Interval | None) -> float | None:
    return interval.value if interval else None
