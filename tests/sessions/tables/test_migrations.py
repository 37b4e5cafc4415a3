"""Migrations: recorded, applied once, all or nothing."""

from __future__ import annotations

import sqlite3

import pytest

from engine.model import Policy
from sessions import StoreVersionError, open_store
from sessions.tables.migrations import APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION, Migration, migrate

NEXT = Migration(name="008_mood", statements=("alter table runs add column mood text",))
BROKEN = Migration(name="008_broken", statements=("create table half (x)", "create table half (x)"))


@pytest.fixture
def connection(path):
    opened = sqlite3.connect(path, isolation_level=None)
    yield opened
    opened.close()


def applied(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    return connection.execute("select migration_set, name from _sqlite_migrations order by id").fetchall()


def version(connection: sqlite3.Connection) -> int:
    return connection.execute("pragma user_version").fetchone()[0]


def columns(connection: sqlite3.Connection) -> set[str]:
    return {row[1] for row in connection.execute("pragma table_info(runs)")}


def test_migrations_are_recorded_by_name_and_version(connection):
    migrate(connection)
    assert applied(connection) == [("kgtui.sessions", migration.name) for migration in MIGRATIONS]
    assert version(connection) == SCHEMA_VERSION
    assert connection.execute("pragma application_id").fetchone() == (APPLICATION_ID,)


def test_applying_twice_changes_nothing(connection):
    migrate(connection)
    before = "\n".join(connection.iterdump())
    migrate(connection)
    assert "\n".join(connection.iterdump()) == before


def test_answers_of_an_earlier_version_get_path_of_their_run(connection):
    migrate(connection, migrations=MIGRATIONS[:15])
    for statement in (
        "insert into sessions (id, label, started_at, pid) values (1, 's', '2026-01-02', 1)",
        "insert into candidates values ('d', '', '2026-01-02')",
        "insert into runs (id, session, candidate, problem, path, device, tiers, started_at)"
        " values (7, 1, 'd', 'aten::softmax', '/k/a.py', 'cpu', 'smoke', '2026-01-02')",
        "insert into answers values (7, 7, '2026-01-03')",
    ):
        connection.execute(statement)
    connection.commit()
    migrate(connection)
    assert connection.execute("select * from answers").fetchall() == [(7, "/k/a.py", 7, "2026-01-03")]


def test_names_are_numbered_in_order():
    assert [migration.name[:3] for migration in MIGRATIONS] == [f"{n:03}" for n in range(1, SCHEMA_VERSION + 1)]


def test_later_migration_finds_rows_of_earlier_version(path, begin_in, connection):
    with open_store(path) as store:
        run_id = begin_in(store)
    migrate(connection, migrations=(*MIGRATIONS, NEXT))
    assert connection.execute("select id, mood from runs").fetchall() == [(run_id, None)]
    assert applied(connection)[-1] == ("kgtui.sessions", "008_mood")
    assert version(connection) == SCHEMA_VERSION + 1


def test_store_without_benchmarks_is_migrated_keeping_runs(path, connection, judge_in):
    migrate(connection, migrations=MIGRATIONS[:1])
    connection.executescript("""
        insert into sessions (label, started_at, pid) values ('old', '2026-01-01T00:00:00.000Z', 1);
        insert into candidates (digest, source, first_seen_at) values ('d', x'', '2026-01-01T00:00:00.000Z');
        insert into runs (session, candidate, problem, device, tiers, started_at, outcome)
            values (1, 'd', 'aten::softmax', 'cpu', 'smoke', '2026-01-01T00:00:00.000Z', 'pass');
    """)
    with open_store(path) as store:
        assert [run.outcome for run in store.runs()] == ["pass"]
        assert store.baselines("aten::softmax", device_name="A GPU") == ()
        judge_in(store)
        assert [row.baseline for row in store.baselines("aten::softmax", device_name="A GPU")] == ["eager"]
    assert version(connection) == SCHEMA_VERSION


def test_runs_before_policies_have_default_policy(path, connection, begin_in):
    migrate(connection, migrations=MIGRATIONS[:2])
    connection.executescript("""
        insert into sessions (label, started_at, pid) values ('old', '2026-01-01T00:00:00.000Z', 1);
        insert into candidates (digest, source, first_seen_at) values ('d', x'', '2026-01-01T00:00:00.000Z');
        insert into runs (session, candidate, problem, device, tiers, started_at, outcome)
            values (1, 'd', 'aten::softmax', 'cpu', 'smoke', '2026-01-01T00:00:00.000Z', 'pass');
    """)
    with open_store(path) as store:
        assert [run.policy for run in store.runs()] == [Policy.DEFAULT]
        assert store.best("aten::softmax") is not None
        begin_in(store)
        assert [run.policy for run in store.runs()] == [Policy.DEFAULT] * 2
    assert version(connection) == SCHEMA_VERSION


def test_reading_leaves_old_store_unchanged(path, connection):
    migrate(connection, migrations=MIGRATIONS[:1])
    with pytest.raises(StoreVersionError, match="start the workbench once, which brings it up to date"):
        open_store(path, read_only=True)
    assert version(connection) == 1


def test_a_migration_that_fails_leaves_the_version_before(connection):
    migrate(connection)
    with pytest.raises(sqlite3.OperationalError, match="half already exists"):
        migrate(connection, migrations=(*MIGRATIONS, NEXT, BROKEN))
    assert not connection.in_transaction
    assert version(connection) == SCHEMA_VERSION
    assert "mood" not in columns(connection)
    assert applied(connection) == [("kgtui.sessions", migration.name) for migration in MIGRATIONS]


def test_empty_file_becomes_store(path):
    path.write_bytes(b"")
    with open_store(path) as store:
        assert store.sessions() == ()
