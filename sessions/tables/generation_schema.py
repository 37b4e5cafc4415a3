"""The tables of generated candidates: batches, requests to providers, their attempts, saves of agents.

Parts of migrations that were released must never be edited; see sessions/tables/migrations.py.
"""

from __future__ import annotations

_BATCHES = """\
create table batches (
    id integer primary key autoincrement,
    session integer not null references sessions (id),
    request text not null,      -- JSON: operators, models, strategy and its options; never a key
    budget_microusd integer,    -- null for no limit, as the next two
    budget_tokens integer,
    budget_s real,
    started_at text not null,   -- ISO 8601, UTC
    ended_at text,              -- null while it is running, and after a crash
    ending text                 -- finished, budget, cancelled, failed
)"""

# Tokens and end become optional: a request is stored before it is sent, and its usage may never be reported.
_GENERATIONS_7 = """\
create table generations_7 (
    id integer primary key autoincrement,
    session integer not null references sessions (id),
    batch integer references batches (id),
    problem text not null,
    provider text not null,
    model text not null,
    place text not null default '',      -- of the answer in its strategy: sample-3, round-2
    state text not null default 'settled',  -- reserved, settled, failed, lost
    sent text not null default '[]',     -- the messages as JSON
    received text not null default '',   -- the answer as it came
    stop text,                           -- complete, length, refused, cut, cancelled
    extraction text not null default '', -- why no source was taken from the answer
    prompt_tokens integer,               -- null where the usage is unknown, as the next five
    cached_tokens integer,               -- of the prompt, read from the provider's cache
    cache_write_tokens integer,          -- of the prompt, written to that cache
    completion_tokens integer,
    reasoning_tokens integer,            -- of the completion
    cost_microusd integer,               -- millionths of a US dollar; null where it is unknown
    reserved_microusd integer,           -- the most that it could cost; null where no price is known
    reserved_tokens integer not null default 0,
    candidate text references candidates (digest),  -- null when no source came back
    run integer references runs (id),    -- that verified the candidate
    began_at text,                       -- ISO 8601, UTC
    ended_at text,
    elapsed_s real not null default 0
)"""

_ATTEMPTS = """\
create table attempts (
    generation integer not null references generations (id),
    number integer not null,    -- from 1
    status integer,             -- of HTTP; null without an answer
    message text not null,      -- empty for the one that succeeded
    waited_s real not null,     -- before the next attempt
    primary key (generation, number)
) without rowid"""

AGENT_SAVES = """\
create table agent_saves (
    generation integer not null references generations (id),
    run integer not null references runs (id),  -- of a file that the agent saved before its answer
    primary key (generation, run)
) without rowid"""

# Independent of the system clock, which may be set back or forward at any time.
ORDER = (
    """\
alter table generations add column runs_before integer  -- the newest run when it was stored; null in older rows
    default null""",
    """\
alter table batches add column worked_s real not null   -- time of all processes that worked on it
    default 0""",
)

GENERATION = (
    _BATCHES,
    _GENERATIONS_7,
    "insert into generations_7 (id, session, problem, provider, model, prompt_tokens, completion_tokens,"
    " cost_microusd, candidate, ended_at, elapsed_s)"
    " select id, session, problem, provider, model, prompt_tokens, completion_tokens, cost_microusd,"
    " candidate, ended_at, elapsed_s from generations",
    "drop table generations",
    "alter table generations_7 rename to generations",
    _ATTEMPTS,
    "create index batches_by_session on batches (session)",
    "create index generations_by_session on generations (session)",
    "create index generations_by_candidate on generations (candidate) where candidate is not null",
    "create index generations_by_run on generations (run) where run is not null",
    # A strategy that is resumed finds the answer at a place, so it is never paid for twice.
    "create unique index generations_by_place on generations (batch, problem, provider, model, place)"
    " where batch is not null and state in ('reserved', 'settled')",
)
