"""Takes the runs of open sessions from a store whose file is gone, and puts them into its successor.

Works on two connections of the caller's, one after the other; it opens and closes nothing.  Numbers stay the same
where the successor has none of them; otherwise all of them are raised by the same amount.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sessions.database import Value

Row = Mapping[str, Value]

_SESSIONS_IN = "(select value from json_each(:sessions))"
_CHECK_BATCHES_IN = f"(select id from check_batches where session in {_SESSIONS_IN})"
_RUNS_IN = f"""(select id from runs where session in {_SESSIONS_IN} or id in (select value from json_each(:runs))
    or id in (select run from check_results where batch in {_CHECK_BATCHES_IN}))"""
_GENERATIONS_IN = f"(select id from generations where session in {_SESSIONS_IN})"
_BATCHES_IN = f"""(select id from batches where session in {_SESSIONS_IN}
    union select batch from generations where id in {_GENERATIONS_IN})"""
_ALL_SESSIONS = f"""(select value from json_each(:sessions) union select session from runs where id in {_RUNS_IN}
    union select session from batches where id in {_BATCHES_IN})"""
# Parents before their children.
_SELECTS = {
    "sessions": f"select * from sessions where id in {_ALL_SESSIONS} order by id",
    "environment": f"select * from environment where session in {_ALL_SESSIONS}",
    "candidates": f"""select * from candidates where digest in (
        select candidate from runs where id in {_RUNS_IN}
        union select candidate from generations where session in {_SESSIONS_IN})""",
    "runs": f"select * from runs where id in {_RUNS_IN} order by id",
    **{
        table: f"select * from {table} where run in {_RUNS_IN}"
        for table in (
            "events", "cases", "findings", "timings", "kernels", "artefacts", "benchmarks", "comparisons", "summaries",
            "baselines", "answers", "proofs",
        )
    },
    "batches": f"select * from batches where id in {_BATCHES_IN} order by id",
    "generations": f"select * from generations where id in {_GENERATIONS_IN} order by id",
    "attempts": f"select * from attempts where generation in {_GENERATIONS_IN}",
    "agent_saves": f"select * from agent_saves where generation in {_GENERATIONS_IN} and run in {_RUNS_IN}",
    "check_batches": f"select * from check_batches where id in {_CHECK_BATCHES_IN} order by id",
    "check_results": f"select * from check_results where batch in {_CHECK_BATCHES_IN}",
}  # fmt: skip
_COUNTED_ANEW = ("timings",)
"""Tables whose row ids mean nothing outside of the file."""
_NUMBERED = ("sessions", "runs", "batches", "generations", "check_batches")
"""Tables whose row ids other tables and callers know."""
_REFERENCES = frozenset({"run", "session", "newest", "batch", "generation", "runs_before"})

_TAKEN = """
select exists (select 1 from sessions where id in (select value from json_each(:sessions)))
    or exists (select 1 from runs where id in (select value from json_each(:runs)))
    or exists (select 1 from generations) or exists (select 1 from batches)
    or exists (select 1 from check_batches)"""
_HIGHEST = f"select max({', '.join(f'coalesce((select max(id) from {table}), 0)' for table in _NUMBERED)})"


@dataclass(frozen=True, kw_only=True)
class Carried:
    """Rows on their way from one file to the next, by table."""

    rows: Mapping[str, Sequence[Row]] = field(default_factory=dict)

    @property
    def runs(self) -> list[int]:
        """The numbers of the runs."""
        return self.numbers("runs")

    @property
    def sessions(self) -> list[int]:
        """The numbers of the sessions."""
        return self.numbers("sessions")

    def numbers(self, table: str) -> list[int]:
        """The row ids of a table that has them."""
        return [_number(row["id"]) for row in self.rows.get(table, ())]


@dataclass(frozen=True, kw_only=True)
class Renumbered:
    """The new numbers of rows by their former ones; empty where they kept them."""

    runs: Mapping[int, int] = field(default_factory=dict)
    sessions: Mapping[int, int] = field(default_factory=dict)
    batches: Mapping[int, int] = field(default_factory=dict)
    generations: Mapping[int, int] = field(default_factory=dict)
    check_batches: Mapping[int, int] = field(default_factory=dict)


def take(connection: sqlite3.Connection, *, sessions: Sequence[int], runs: Sequence[int]) -> Carried:
    """All rows of these sessions, and of these runs of other sessions."""
    values = {"sessions": _json(sessions), "runs": _json(runs)}
    return Carried(
        rows={table: [dict(row) for row in connection.execute(select, values)] for table, select in _SELECTS.items()}
    )


def put(connection: sqlite3.Connection, carried: Carried) -> Renumbered:
    """Insert the rows, inside of the caller's transaction."""
    values = {"sessions": _json(carried.sessions), "runs": _json(carried.runs)}
    (is_taken,) = connection.execute(_TAKEN, values).fetchone()
    (highest,) = connection.execute(_HIGHEST).fetchone()
    raised = highest if is_taken else 0
    for table, rows in carried.rows.items():
        for row in rows:
            _insert(connection, table, _raised(table, row, raised))
    if not raised:
        return Renumbered()
    return Renumbered(**{table: {number: number + raised for number in carried.numbers(table)} for table in _NUMBERED})


def _raised(table: str, row: Row, raised: int) -> Row:
    """The row with its numbers of runs and sessions raised."""
    numbered = _REFERENCES | ({"id"} if table in _NUMBERED else set())
    dropped = {"id"} if table in _COUNTED_ANEW else set()
    return {
        name: _number(value) + raised if name in numbered and value is not None else value
        for name, value in row.items()
        if name not in dropped
    }


def _insert(connection: sqlite3.Connection, table: str, row: Row) -> None:
    names, places = ", ".join(row), ", ".join(f":{name}" for name in row)
    # A source, or a baseline, may be in the other store already.
    connection.execute(f"insert or ignore into {table} ({names}) values ({places})", dict(row))


def _number(value: Value) -> int:
    assert isinstance(value, int), f"a number of a run or session is an integer, not {value!r}"
    return value


def _json(numbers: Sequence[int]) -> str:
    return f"[{', '.join(map(str, numbers))}]"
