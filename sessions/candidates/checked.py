"""Batches of candidates in the store: the journal from which an interrupted batch is resumed.

A part of the open store, `store.checked`.  A result is the verdict of the run that the journal names, so it exists
exactly when the run has one: nothing is written twice, and a process may end at any moment.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec

from engine.errors import UsageError
from engine.model import CaseResult, Location, Outcome
from engine.model.events import CaseFinished, Event, RunFinished, from_json
from engine.processes.liveness import is_alive
from sessions.candidates.generation_rows import RunResult
from sessions.candidates.generations import followed
from sessions.candidates.run_results import RUN_COLUMNS, RUN_SUMMARY, run_result
from sessions.database import Database
from sessions.values import json_list, new_id

_INSERT_BATCH = """
insert into check_batches (session, request, started_at) values (:session, :request, :now)"""
_SELECT_BATCHES = """
select check_batches.*, sessions.pid, sessions.process_stamp, sessions.ended_at as session_ended_at,
    (select count(*) from check_results where batch = check_batches.id) as candidates
from check_batches join sessions on sessions.id = check_batches.session"""
_TAKE_OVER = "update check_batches set session = :session, ended_at = null where id = :batch"
_END_BATCH = "update check_batches set ended_at = :now where id = :batch"
_INSERT_RESULT = """
insert into check_results (batch, place, name, problem, sample, digest, refusal, run)
values (:batch, :place, :name, :problem, :sample, :digest, :refusal, :run)"""
_CLEAR = "delete from check_results where batch = :batch"
_ATTACH = "update check_results set run = :run where batch = :batch and place in (select value from json_each(:places))"
_DIAGNOSED = """
select body from events where run = runs.id and kind = 'CaseFinished' and body like '%"diagnoses":[{%'"""
# Of a failed run, a case with a diagnosis, if possible the one that the sentence names.
_REASON_COLUMNS = f"""
    (select body from events where run = runs.id and kind = 'RunFinished' order by seq desc limit 1) as run_finished,
    case when runs.outcome <> 'pass' then coalesce(
        ({_DIAGNOSED} and instr(runs.sentence, json_extract(body, '$.result.case')) > 0 order by seq limit 1),
        ({_DIAGNOSED} order by seq limit 1)) end as run_diagnosed"""
_SELECT_RESULTS = f"""
select check_results.*, {RUN_COLUMNS}, {_REASON_COLUMNS}
from check_results left join runs on runs.id = check_results.run {RUN_SUMMARY}
where batch = :batch and (:places is null or place in (select value from json_each(:places))) order by place"""
# A run that was cancelled, or failed by an error of kgtui, is repeated when the batch is resumed.
NO_RESULT = (Outcome.CANCELLED, Outcome.ENGINE_ERROR)


@dataclass(frozen=True, kw_only=True)
class ListedCandidate:
    """A candidate of a batch; `digest` is empty where it has no source, `refusal` is the reason why it is not run."""

    name: str
    problem: str
    sample: int
    digest: str
    refusal: str = ""


@dataclass(frozen=True, kw_only=True)
class CheckedRow:
    """A candidate of a batch and the run of it; `run` is None until it begins.

    `location` is that of the verdict, `diagnosed` a failed case with a diagnosis.
    """

    place: int
    candidate: ListedCandidate
    run: RunResult | None
    location: Location | None = None
    diagnosed: CaseResult | None = None

    @property
    def is_done(self) -> bool:
        """Whether it needs no further run."""
        if self.candidate.refusal:
            return True
        return self.run is not None and self.run.outcome is not None and self.run.outcome not in NO_RESULT


@dataclass(frozen=True, kw_only=True)
class CheckBatchRow:
    """A batch; `request` is JSON, `pid` the process that works on it, None if none does."""

    id: int
    session: int
    request: str
    started_at: datetime
    candidates: int
    has_ended: bool
    pid: int | None

    @property
    def candidates_path(self) -> str:
        """Path of its candidates, from its request."""
        return str(msgspec.json.decode(self.request)["candidates"])


class CheckedStore:
    """Batches of candidates of one open store.  Each method may raise StoreError.

    `session_of` and `run_of` return the current number of a session or run for a former one; `now` returns the time in
    the store's format.
    """

    def __init__(
        self,
        database: Database,
        *,
        session_of: Callable[[int], int],
        run_of: Callable[[int], int],
        now: Callable[[], str],
    ) -> None:
        self._database = database
        self._session_of = session_of
        self._run_of = run_of
        self._now = now
        self._batch_by_former: dict[int, int] = {}

    def renumbered(self, batches: Mapping[int, int]) -> None:
        """Record new numbers of batches after the store has moved to another file."""
        self._batch_by_former = followed(self._batch_by_former, batches)

    def begin(self, session_id: int, request: str, candidates: Sequence[ListedCandidate]) -> int:
        """The number of a new batch with these candidates, none of them run."""
        with self._database.transaction() as connection:
            values = {"session": self._session_of(session_id), "request": request, "now": self._now()}
            number = new_id(connection.execute(_INSERT_BATCH, values))
            _insert(connection, number, [(candidate, None) for candidate in candidates])
        return number

    def resume(self, batch: int, session_id: int, candidates: Sequence[ListedCandidate]) -> None:
        """Reopen a batch with the current candidates; results of unchanged sources stay.

        Raises:
            UsageError: another process works on it.
        """
        with self._database.transaction() as connection:
            row = self.batch(batch)
            if row.pid is not None and row.session != self._session_of(session_id):
                raise UsageError(f"batch {batch} is running in process {row.pid}; wait until it has ended")
            runs = {before.candidate: before.run.number for before in self.results(batch) if before.run is not None}
            number = self._batch(batch)
            connection.execute(_TAKE_OVER, {"batch": number, "session": self._session_of(session_id)})
            connection.execute(_CLEAR, {"batch": number})
            _insert(connection, number, [(candidate, runs.get(candidate)) for candidate in candidates])

    def attach(self, batch: int, places: Sequence[int], run: int) -> None:
        """Note which run these candidates, which have one source, get their verdict from."""
        with self._database.transaction() as connection:
            values = {"batch": self._batch(batch), "places": json_list(places)}
            connection.execute(_ATTACH, {**values, "run": self._run_of(run)})

    def end(self, batch: int) -> None:
        """Note that every candidate of the batch has its verdict."""
        with self._database.transaction() as connection:
            connection.execute(_END_BATCH, {"batch": self._batch(batch), "now": self._now()})

    def newest(self, request: str) -> CheckBatchRow | None:
        """The newest batch with exactly this request; None if there is none."""
        return next((row for row in self.batches() if row.request == request), None)

    def batches(self) -> tuple[CheckBatchRow, ...]:
        """Every batch, the newest first."""
        return tuple(map(_batch_row, self._database.rows(f"{_SELECT_BATCHES} order by check_batches.id desc")))

    def batch(self, batch: int) -> CheckBatchRow:
        """Batch number `batch`.

        Raises:
            UsageError: there is no such batch.
        """
        rows = self._database.rows(f"{_SELECT_BATCHES} where check_batches.id = :batch", {"batch": self._batch(batch)})
        if not rows:
            raise UsageError(f"there is no batch {batch}; `kgtui check --candidates DIR` starts one")
        return _batch_row(rows[0])

    def results(self, batch: int, places: Sequence[int] | None = None) -> tuple[CheckedRow, ...]:
        """Every candidate of a batch, or those at these places, in order."""
        values = {"batch": self._batch(batch), "places": None if places is None else json_list(places)}
        return tuple(map(_checked_row, self._database.rows(_SELECT_RESULTS, values)))

    def _batch(self, batch: int) -> int:
        self._database.follow()  # before the number is looked up
        return self._batch_by_former.get(batch, batch)


def _insert(
    connection: sqlite3.Connection, batch: int, candidates: Sequence[tuple[ListedCandidate, int | None]]
) -> None:
    rows = (
        {
            "batch": batch,
            "place": place,
            "name": candidate.name,
            "problem": candidate.problem,
            "sample": candidate.sample,
            "digest": candidate.digest,
            "refusal": candidate.refusal,
            "run": run,
        }
        for place, (candidate, run) in enumerate(candidates, start=1)
    )
    connection.executemany(_INSERT_RESULT, rows)


def _batch_row(row: sqlite3.Row) -> CheckBatchRow:
    works = row["ended_at"] is None and row["session_ended_at"] is None and is_alive(row["pid"], row["process_stamp"])
    return CheckBatchRow(
        id=row["id"],
        session=row["session"],
        request=row["request"],
        started_at=datetime.fromisoformat(row["started_at"]),
        candidates=row["candidates"],
        has_ended=row["ended_at"] is not None,
        pid=row["pid"] if works else None,
    )


def _checked_row(row: sqlite3.Row) -> CheckedRow:
    candidate = ListedCandidate(
        name=row["name"],
        problem=row["problem"],
        sample=row["sample"],
        digest=row["digest"],
        refusal=row["refusal"],
    )
    finished, diagnosed = _event(row["run_finished"]), _event(row["run_diagnosed"])
    return CheckedRow(
        place=row["place"],
        candidate=candidate,
        run=run_result(row),
        location=finished.verdict.location if isinstance(finished, RunFinished) else None,
        diagnosed=diagnosed.result if isinstance(diagnosed, CaseFinished) else None,
    )


def _event(body: str | None) -> Event | None:
    """The event; None if there is none, or another version wrote it."""
    try:
        return None if body is None else from_json(body)
    except ValueError:
        return None
