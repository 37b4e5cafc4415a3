"""How values are stored so that a person can read and sort them, and rows read back as records.

The only place that knows both sides: a format that is changed here changes what old stores mean.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from engine.model import CacheState, Outcome, Policy, Tier
from engine.model.benchmark import Interval, Method, Summary
from engine.processes.liveness import is_alive
from sessions.rows import BaselineRow, Review, RunRow, RunState, SessionRow

_TIER_SEPARATOR = "+"


def new_id(inserted: sqlite3.Cursor) -> int:
    """The id of the row that a statement has inserted."""
    row_id = inserted.lastrowid
    assert row_id is not None, "SQLite gives a row id to every row of a table that has one"
    return row_id


def timestamp(moment: datetime) -> str:
    """ISO 8601 in UTC to the millisecond: texts that sort as the moments do."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def tiers_value(tiers: tuple[Tier, ...]) -> str:
    """Stored form of a choice of tiers; their order does not matter."""
    return _TIER_SEPARATOR.join(tier for tier in Tier if tier in tiers)


def path_value(path: Path | None) -> str | bytes | None:
    """A path as text, which a person can read, or as bytes where it is no text."""
    if path is None:
        return None
    raw = os.fsencode(path)
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def path_of(value: str | bytes) -> Path:
    """The path that `path_value` stored."""
    return Path(os.fsdecode(value))


def run_row(row: sqlite3.Row) -> RunRow:
    """A run, from its columns and pid, process_stamp and ended_at of its session."""
    return RunRow(
        id=row["id"],
        session=row["session"],
        digest=row["candidate"],
        problem=row["problem"],
        path=None if row["path"] is None else path_of(row["path"]),
        device=row["device"],
        device_name=row["device_name"],
        target=row["target"],
        tiers=tuple(Tier(tier) for tier in row["tiers"].split(_TIER_SEPARATOR) if tier),
        policy=Policy(row["policy"]),
        started_at=datetime.fromisoformat(row["started_at"]),
        elapsed_s=row["elapsed_s"],
        state=_state(row),
        outcome=None if row["outcome"] is None else Outcome(row["outcome"]),
        sentence=row["sentence"],
        passed=row["passed"],
        total=row["total"],
        flagged=bool(row["flagged"]),
        proven=row["proven"],
        note=row["note"],
        tag=row["tag"],
        review=None if row["review"] is None else Review(row["review"]),
    )


def _state(row: sqlite3.Row) -> RunState:
    """State of a run; one without a verdict is running while its session is open and the session's process lives."""
    if row["outcome"] is not None:
        return RunState.FINISHED
    if row["ended_at"] is None and is_alive(row["pid"], row["process_stamp"]):
        return RunState.RUNNING
    return RunState.INTERRUPTED


def summary_of(row: sqlite3.Row) -> Summary:
    """A summary, from the columns of its table."""
    return Summary(
        baseline=row["baseline"],
        speedup=Interval(value=row["speedup"], low=row["speedup_low"], high=row["speedup_high"]),
        cases=row["cases"],
        planned=row["planned"],
        fast=msgspec.json.decode(row["fast"], type=dict[str, int]),
    )


def baseline_row(row: sqlite3.Row) -> BaselineRow:
    """A stored baseline, from the columns of its table."""
    return BaselineRow(
        device_name=row["device_name"],
        versions=row["versions"],
        problem=row["problem"],
        case=row["case_name"],
        cache=CacheState(row["cache"]),
        baseline=row["baseline"],
        method=None if row["method"] is None else Method(row["method"]),
        device_us=row["device_us"],
        call_us=row["call_us"],
        measured_at=datetime.fromisoformat(row["measured_at"]),
        run_id=row["run"],
    )


def session_row(row: sqlite3.Row) -> SessionRow:
    """A session, from its columns and its totals."""
    return SessionRow(
        id=row["id"],
        label=row["label"],
        started_at=datetime.fromisoformat(row["started_at"]),
        ended_at=None if row["ended_at"] is None else datetime.fromisoformat(row["ended_at"]),
        runs=row["runs"],
        problems=row["problems"],
        passed=row["passed"],
        flagged=row["flagged"],
        elapsed_s=row["elapsed_s"],
        prompt_tokens=row["prompt_tokens"],
        completion_tokens=row["completion_tokens"],
        cost_microusd=row["cost_microusd"],
        unpriced=row["unpriced"],
    )


def json_list(values: Sequence[str] | Sequence[int]) -> str:
    """The values as a JSON array, which `json_each` takes apart."""
    return msgspec.json.encode(list(values)).decode()
