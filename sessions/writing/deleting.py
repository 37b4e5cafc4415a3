"""Deletes runs and sessions from the store, with all rows that only they use.

Statements for one transaction of the caller's; it knows no file.  What several runs share stays as
long as one of them does: a source, a measured baseline, compiled code.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from sessions.database import Value
from sessions.writing.recording_benchmarks import KEEP_BASELINES

_GOING = "(select id from runs where id = :run or session = :session)"
_SELECT_CANDIDATES = f"""
select distinct candidate from runs where id in {_GOING}
union select candidate from generations where session = :session and candidate is not null"""
_SELECT_ARTEFACTS = f"""
select digest from artefacts where run in {_GOING} union select digest from proofs where run in {_GOING}"""
_SELECT_BASELINES = f"select * from baselines where run in {_GOING}"
_COUNT_RUNS = f"select count(*) from runs where id in {_GOING}"
# Children before their parents.
_CHILDREN = (
    "comparisons", "benchmarks", "artefacts", "kernels", "findings", "cases", "timings", "summaries", "baselines",
    "events", "answers", "proofs",
)  # fmt: skip
_DELETE_RUNS = (
    f"update generations set run = null where run in {_GOING}",
    f"update check_results set run = null where run in {_GOING}",
    f"delete from agent_saves where run in {_GOING}",
    *(f"delete from {table} where run in {_GOING}" for table in _CHILDREN),
    f"delete from runs where id in {_GOING}",
)
_DELETE_SESSION = (
    "delete from agent_saves where generation in (select id from generations where session = :session)",
    "delete from attempts where generation in (select id from generations where session = :session)",
    "delete from generations where session = :session",
    # An answer of another session, which resumed a batch of this one, stays.
    "update generations set batch = null where batch in (select id from batches where session = :session)",
    "delete from batches where session = :session",
    "delete from check_results where batch in (select id from check_batches where session = :session)",
    "delete from check_batches where session = :session",
    "delete from environment where session = :session",
    "delete from sessions where id = :session",
)
_DELETE_CANDIDATE = """
delete from candidates where digest = :digest
    and not exists (select 1 from runs where candidate = :digest)
    and not exists (select 1 from generations where candidate = :digest)"""
_SELECT_USED = """
select 1 from artefacts where digest = :digest union all select 1 from proofs where digest = :digest limit 1"""
_SELECT_NEXT_BASELINE = """
select max(runs.id) from runs
join benchmarks on benchmarks.run = runs.id
join comparisons on comparisons.run = runs.id and comparisons.seq = benchmarks.seq
where runs.problem = :problem and runs.device_name = :device_name and benchmarks.case_name = :case_name
    and benchmarks.cache = :cache and comparisons.baseline = :baseline
    and runs.outcome = 'pass' and runs.flagged = 0 and runs.policy != 'facts-only'
    and (comparisons.device_us is not null or comparisons.call_us is not null)
    and :versions = (select coalesce(group_concat(name || ' ' || value, ', '), '') from (
        select name, value from environment where session = runs.session and name != 'device' order by name))"""
# An older measurement fills the gap and never replaces an existing one.
_FILL_BASELINES = KEEP_BASELINES.replace("insert or replace", "insert or ignore")


@dataclass(frozen=True, kw_only=True)
class Deleted:
    """Deleted entries: the number of runs, and the compiled code that no other run uses, by its hash."""

    runs: int
    artefacts: tuple[str, ...]


def delete(connection: sqlite3.Connection, *, run: int | None = None, session: int | None = None) -> Deleted:
    """Take out one run, or a session with its runs, its answers of providers and what they cost."""
    values: dict[str, Value] = {"run": run, "session": session}
    (runs,) = connection.execute(_COUNT_RUNS, values).fetchone()
    candidates = _first_column(connection, _SELECT_CANDIDATES, values)
    artefacts = _first_column(connection, _SELECT_ARTEFACTS, values)
    baselines = [dict(row) for row in connection.execute(_SELECT_BASELINES, values)]
    for statement in _DELETE_RUNS if session is None else (*_DELETE_RUNS, *_DELETE_SESSION):
        connection.execute(statement, values)
    connection.executemany(_DELETE_CANDIDATE, [{"digest": digest} for digest in candidates])
    _measure_from_others(connection, baselines)
    unused = [digest for digest in artefacts if not connection.execute(_SELECT_USED, {"digest": digest}).fetchone()]
    return Deleted(runs=runs, artefacts=tuple(unused))


def _measure_from_others(connection: sqlite3.Connection, baselines: list[dict[str, Value]]) -> None:
    """Take the times of baselines from the newest remaining runs."""
    found = {connection.execute(_SELECT_NEXT_BASELINE, baseline).fetchone()[0] for baseline in baselines}
    for run in sorted((run for run in found if run is not None), reverse=True):
        connection.execute(_FILL_BASELINES, {"run": run})


def _first_column(connection: sqlite3.Connection, statement: str, values: dict[str, Value]) -> list[str]:
    return [row[0] for row in connection.execute(statement, values)]
