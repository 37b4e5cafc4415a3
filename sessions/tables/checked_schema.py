"""The tables of batches of candidates: which there are, and the run of each.  One migration of the store.

Released with it, so it must never be edited; see sessions/tables/migrations.py.
"""

from __future__ import annotations

_CHECK_BATCHES = """\
create table check_batches (
    id integer primary key autoincrement,
    session integer not null references sessions (id),  -- that works on it, or did so last
    request text not null,      -- JSON: candidates, device, target, cases and policy
    started_at text not null,   -- ISO 8601, UTC
    ended_at text               -- null while it is running, and after a crash
)"""

_CHECK_RESULTS = """\
create table check_results (
    batch integer not null references check_batches (id),
    place integer not null,     -- in the order of the candidates, from 1
    name text not null,         -- of the file, or of the row in its file
    problem text not null,      -- empty where the candidate names none that is known
    sample integer not null,    -- of the problem, from 1
    digest text not null,       -- SHA-256 of the source; empty where there is none
    refusal text not null,      -- why it was not run; empty where it is
    run integer references runs (id),  -- null until it begins
    primary key (batch, place)
) without rowid"""

CHECKED = (
    _CHECK_BATCHES,
    _CHECK_RESULTS,
    "create index check_batches_by_session on check_batches (session)",
    "create index check_results_by_run on check_results (run) where run is not null",
)
