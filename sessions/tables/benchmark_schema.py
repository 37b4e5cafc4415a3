"""The tables of benchmarks: cases, comparisons, summaries, baselines.

Parts of migrations that were released must never be edited; see sessions/tables/migrations.py.
"""

from __future__ import annotations

_BENCHMARKS = """\
create table benchmarks (
    run integer not null references runs (id),
    seq integer not null,
    case_name text not null,
    outcome text not null,      -- pass when every timed call was right; otherwise there are no times
    message text not null,
    cache text not null,        -- cold or warm: the second-level cache
    method text,                -- of device_us: cupti, graph, events
    device_us real,             -- of one call; null where it was not measured, as all that follows
    device_us_low real,         -- low and high are the ends of the 95 % interval
    device_us_high real,
    call_us real,
    call_us_low real,
    call_us_high real,
    graph_us real,
    calls integer not null,     -- timed
    verified integer not null,  -- of them
    slots integer not null,     -- input sets in rotation
    floor_us real,
    bound text,                 -- what the floor is made of: memory or compute
    percent_of_floor real,      -- the floor in percent of device_us
    elapsed_s real not null,
    primary key (run, seq)
) without rowid"""

_COMPARISONS = """\
create table comparisons (
    run integer not null,
    seq integer not null,       -- of its benchmark
    case_name text not null,
    baseline text not null,     -- eager, compile, cublas, ...
    method text,                -- of the baseline's device_us
    device_us real,             -- of the baseline, in this run
    call_us real,
    speedup real,               -- time of the baseline over time of the candidate; null where one was not measured
    speedup_low real,
    speedup_high real,
    resolution real,            -- smallest relative difference that counts
    standing text,              -- faster, slower, no difference
    notes text not null,        -- what of the baseline could not be measured, and why
    primary key (run, seq, baseline),
    foreign key (run, seq) references benchmarks (run, seq)
) without rowid"""

_SUMMARIES = """\
create table summaries (
    run integer not null references runs (id),
    baseline text not null,
    speedup real not null,      -- geometric mean of the cases
    speedup_low real not null,
    speedup_high real not null,
    cases integer not null,     -- right and timed
    planned integer not null,
    fast text not null,         -- JSON: how many cases are right and at least so many times as fast
    primary key (run, baseline)
) without rowid"""

_BASELINES = """\
create table baselines (
    device_name text not null,
    problem text not null,
    case_name text not null,
    cache text not null,
    baseline text not null,
    versions text not null,     -- what the session noted of its environment, but for the device
    method text,
    device_us real,
    call_us real,
    measured_at text not null,  -- ISO 8601, UTC
    run integer not null references runs (id),  -- the newest that was right and not flagged
    primary key (device_name, problem, case_name, cache, baseline, versions)
) without rowid"""

BENCHMARKS = (_BENCHMARKS, _COMPARISONS, _SUMMARIES, _BASELINES)
