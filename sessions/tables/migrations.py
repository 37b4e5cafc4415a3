"""The schema of the store, as numbered migrations that are only ever appended to.

sqlite-utils applies them and keeps the record of which were applied; its import is paid only
when there is something to apply.  A migration that was released must never be edited: stores
that already applied it would differ from new ones.  The comments inside the statements are kept by
SQLite, so that `.schema` in the sqlite3 shell and SCHEMA.md explain themselves.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

from sessions.tables.benchmark_schema import BENCHMARKS
from sessions.tables.checked_schema import CHECKED
from sessions.tables.generation_schema import AGENT_SAVES, GENERATION, ORDER

APPLICATION_ID = 0x6B677475  # "kgtu": tells our files from those of other programs
MIGRATION_SET = "kgtui.sessions"


@dataclass(frozen=True, kw_only=True)
class Migration:
    """One step of the schema: its name in the record and its statements, each run once."""

    name: str
    statements: tuple[str, ...]


_SESSIONS = """\
create table sessions (
    id integer primary key autoincrement,
    label text not null,
    started_at text not null,   -- ISO 8601, UTC
    ended_at text,              -- null while it is open, and after a crash
    pid integer not null,
    process_stamp text          -- boot id and start tick of that process
)"""

_ENVIRONMENT = """\
create table environment (
    session integer not null references sessions (id),
    name text not null,         -- a version, a driver, a device
    value text not null,
    primary key (session, name)
) without rowid"""

_CANDIDATES = """\
create table candidates (
    digest text primary key,    -- SHA-256 of the source
    source blob not null,       -- the file's bytes as they were
    first_seen_at text not null
)"""

_RUNS = """\
create table runs (
    id integer primary key autoincrement,
    session integer not null references sessions (id),
    candidate text not null references candidates (digest),
    problem text not null,
    path text,                  -- of the candidate's file; a blob where the name is not UTF-8
    device text not null,
    device_name text,           -- null until the run has started
    target text,                -- what its kernels were compiled for
    tiers text not null,        -- smoke+full; empty when cases were picked by hand
    started_at text not null,   -- ISO 8601, UTC
    elapsed_s real not null default 0,
    outcome text,               -- null until the run has finished
    sentence text,
    passed integer not null default 0,
    total integer not null default 0,
    flagged integer not null default 0,
    note text,
    tag text
)"""

_EVENTS = """\
create table events (
    run integer not null references runs (id),
    seq integer not null,
    at_s real not null,         -- since the start of the run
    kind text not null,
    body text not null,         -- the whole event as JSON; every other table but notes can be made from it
    primary key (run, seq)
) without rowid"""

_CASES = """\
create table cases (
    run integer not null references runs (id),
    name text not null,
    seq integer not null,
    tier text not null,
    outcome text not null,
    elapsed_s real not null,
    calls integer not null,
    seed text,                  -- decimal; may need 64 bits without a sign; null when no inputs were made
    message text not null,
    line integer,
    output text,                -- the first output that is wrong, or the first of all; what follows is about it
    mismatched integer,
    elements integer,
    nonfinite integer,
    max_absolute_error real,
    max_relative_error real,
    max_ulp_error real,
    worst_index text,           -- 0,131071
    worst_expected text,
    worst_got text,
    primary key (run, name)
) without rowid"""

_FINDINGS = """\
create table findings (
    run integer not null references runs (id),
    seq integer not null,
    check_name text not null,
    severity text not null,     -- note, hint, suspect, proof
    message text not null,
    line integer,
    case_name text,
    primary key (run, seq)
) without rowid"""

_TIMINGS = """\
create table timings (
    id integer primary key,
    run integer not null references runs (id),
    seq integer not null,
    name text not null,         -- with its unit: verify_s
    case_name text,             -- null for a whole stage
    value real not null         -- one sample; more samples are more rows
)"""

_KERNELS = """\
create table kernels (
    run integer not null references runs (id),
    seq integer not null,
    name text not null,
    target text not null,
    outcome text not null,
    message text not null,
    line integer,
    elapsed_s real not null,
    num_warps integer not null,
    num_stages integer not null,
    registers integer,          -- null where the target's tools do not tell
    spill_bytes integer,
    shared_bytes integer,
    primary key (run, seq)
) without rowid"""

_ARTEFACTS = """\
create table artefacts (
    run integer not null,
    seq integer not null,       -- of its kernel
    kind text not null,         -- ttir, ttgir, llir, ptx, amdgcn, cubin, hsaco, sass
    digest text not null,       -- SHA-256 of the content, its name in the artefact folder
    bytes integer not null,
    primary key (run, seq, kind),
    foreign key (run, seq) references kernels (run, seq)
) without rowid"""

_GENERATIONS = """\
create table generations (
    id integer primary key autoincrement,
    session integer not null references sessions (id),
    problem text not null,
    provider text not null,
    model text not null,
    prompt_tokens integer not null,
    completion_tokens integer not null,
    cost_microusd integer,      -- millionths of a US dollar; null where no price is known
    candidate text references candidates (digest),  -- null when no source came back
    ended_at text not null,     -- ISO 8601, UTC
    elapsed_s real not null
)"""

# A comment is kept only inside of the column's definition.
_POLICY = """\
alter table runs add column policy text not null    -- default, strict, facts-only: what decided over its findings
    default 'default'"""

_ANSWERS = """\
create table answers (
    run integer primary key references runs (id),
    newest integer not null,    -- the number of the newest run when a save of the same text was answered by this one
    answered_at text not null   -- ISO 8601, UTC
)"""

_ANSWERS_BY_PATH = """\
create table answers (
    run integer not null references runs (id),
    path text,                  -- of the saved file, which may be another one than that of the run; as in runs
    newest integer not null,    -- the number of the newest run when a save of the same text was answered by this one
    answered_at text not null   -- ISO 8601, UTC
)"""

_PROOFS = """\
create table proofs (
    run integer not null references runs (id),
    seq integer not null,
    digest text not null,       -- SHA-256 of the packed proof file, its name in the artefact folder
    bytes integer not null,     -- as packed
    cases integer not null,     -- that the file proves
    primary key (run)
) without rowid"""

MIGRATIONS = (
    Migration(
        name="001_initial",
        statements=(
            f"pragma application_id = {APPLICATION_ID}",
            _SESSIONS,
            _ENVIRONMENT,
            _CANDIDATES,
            _RUNS,
            _EVENTS,
            _CASES,
            _FINDINGS,
            _TIMINGS,
            _KERNELS,
            _ARTEFACTS,
            _GENERATIONS,
            # An index ends in the row's id by itself, so each of these serves a list from the newest run down.
            "create index runs_by_session on runs (session)",
            "create index runs_by_problem on runs (problem)",
            "create index runs_by_path on runs (path)",
            "create index runs_by_candidate on runs (candidate)",
            "create index runs_by_started on runs (started_at)",
            "create index runs_by_tag on runs (tag) where tag is not null",
            "create index runs_best on runs (problem, passed) where outcome = 'pass' and flagged = 0",
            "create index timings_by_run on timings (run)",
            "create index generations_by_session on generations (session)",
        ),
    ),
    Migration(name="002_benchmarks", statements=BENCHMARKS),
    Migration(name="003_policy", statements=(_POLICY,)),
    Migration(
        name="004_deleting",
        statements=(
            # Used when a run is deleted, to find other users of each of these.
            "create index artefacts_by_digest on artefacts (digest)",
            "create index generations_by_candidate on generations (candidate) where candidate is not null",
            "create index baselines_by_run on baselines (run)",
        ),
    ),
    Migration(
        name="005_answers",
        statements=(
            _ANSWERS,
            # The last verdict on an operator or a file: of runs of whole tiers that have one.
            "create index runs_judged on runs (problem) where outcome is not null and outcome != 'cancelled'"
            " and tiers != ''",
            "create index runs_judged_by_path on runs (path) where outcome is not null and outcome != 'cancelled'"
            " and tiers != ''",
        ),
    ),
    Migration(
        name="006_totals",
        statements=(
            # Holds everything counted of a session, so that the rows of its runs are not read.
            "create index runs_totals on runs (session, problem, outcome, flagged, elapsed_s)",
        ),
    ),
    Migration(name="007_generation", statements=GENERATION),
    Migration(
        name="008_proof",
        statements=(
            # Of the cases that passed; null where no proof was tried.
            "alter table runs add column proven integer",
        ),
    ),
    Migration(name="009_checked", statements=CHECKED),
    Migration(
        name="010_proof_files",
        statements=(_PROOFS, "create index proofs_by_digest on proofs (digest)"),
    ),
    Migration(
        name="011_reviews",
        statements=(
            # Set by the user: pinned or vetoed. No verdict depends on it.
            "alter table runs add column review text",
        ),
    ),
    Migration(
        name="012_suite_rule",
        statements=(
            # Calls of a foreign problem that were compared, and those that pass its suite's own rule.
            "alter table runs add column rule_calls integer",
            "alter table runs add column rule_passed integer",
        ),
    ),
    Migration(
        name="013_kernel_time",  # replay of the launches, in a process without the candidate's Python code
        statements=tuple(f"alter table benchmarks add column kernel_us{end} real" for end in ("", "_low", "_high")),
    ),
    Migration(name="014_agent_saves", statements=(AGENT_SAVES, "create index agent_saves_by_run on agent_saves (run)")),
    Migration(name="015_generation_order", statements=ORDER),
    Migration(
        name="016_answers_by_path",
        statements=(
            "alter table answers rename to answers_by_run",
            _ANSWERS_BY_PATH,
            "insert into answers select run, runs.path, newest, answered_at from answers_by_run"
            " join runs on runs.id = answers_by_run.run",
            "drop table answers_by_run",
            # A null path is a value here: a run answers a text without a file once.
            "create unique index answers_by_run_and_path on answers (run, ifnull(path, ''))",
        ),
    ),
)
SCHEMA_VERSION = len(MIGRATIONS)


def migrate(connection: sqlite3.Connection, *, migrations: tuple[Migration, ...] = MIGRATIONS) -> None:
    """Apply missing migrations, all or none; the number of applied migrations becomes `user_version`.

    The write lock is taken before anything is looked at, so that two processes that open a new
    file at once do not both try to make its tables.
    """
    from sqlite_utils import Database
    from sqlite_utils.migrations import Migrations

    known = Migrations(MIGRATION_SET)
    for migration in migrations:
        known(name=migration.name)(_applier(migration))
    connection.execute("begin immediate")
    try:
        known.apply(Database(connection, recursive_triggers=False, execute_plugins=False))
        connection.execute(f"pragma user_version = {len(migrations)}")
        connection.execute("commit")
    except BaseException:
        if connection.in_transaction:
            connection.execute("rollback")
        raise


def _applier(migration: Migration) -> Callable[[object], None]:
    """The function that sqlite-utils calls, with its Database, inside a transaction."""

    def apply(database: object) -> None:
        # Not executescript: that would commit the transaction which the record of the migration belongs to.
        connection: sqlite3.Connection = database.conn  # type: ignore[attr-defined]  # sqlite-utils is not typed for us
        for statement in migration.statements:
            connection.execute(statement)

    return apply
