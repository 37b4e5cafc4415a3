"""Queries of the screen, the command line and the exports.

Lists go from the newest run down and are paged by run id, never by offset: page one thousand costs
what page one does.  Nothing here writes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

from engine.errors import StoreError, UsageError
from engine.model import BenchmarkPlan, CaseResult
from engine.model.benchmark import CaseBenchmark
from engine.model.events import (
    CaseBenchmarked,
    CaseFinished,
    Event,
    from_json,
)
from engine.reports.reducer import record_of
from engine.reports.run_record import RunRecord
from sessions.database import Database, Value
from sessions.errors import MEMORY_NAME
from sessions.queries.cached_runs import SELECT_CACHED, timed_values
from sessions.queries.conditions import IS_OWN, NO_VERDICT_ON_CANDIDATE, NOT_VETOED, SELECT_RUNS, VARIANTS
from sessions.queries.narrowing import narrowing, where
from sessions.rows import (
    BaselineRow,
    BestBenchmark,
    ProblemSummary,
    RecentFile,
    RunFilter,
    RunKey,
    RunRow,
    SessionRow,
)
from sessions.values import (
    baseline_row,
    json_list,
    path_of,
    path_value,
    run_row,
    session_row,
    summary_of,
    tiers_value,
)

EVERY_RUN = RunFilter()

_SELECT_NEXT_RUNS = f"""{SELECT_RUNS}
where runs.session = :session and runs.id > :after order by runs.id limit :limit"""
_NEWEST_FIRST = " order by runs.id desc limit :limit"
_SELECT_SESSIONS = """
select sessions.id, label, started_at, ended_at,
    (select count(*) from runs where session = sessions.id) as runs,
    (select count(distinct problem) from runs where session = sessions.id) as problems,
    (select count(*) from runs where session = sessions.id and outcome = 'pass' and flagged = 0) as passed,
    (select count(*) from runs where session = sessions.id and flagged = 1) as flagged,
    (select coalesce(sum(elapsed_s), 0) from runs where session = sessions.id) as elapsed_s,
    (select coalesce(sum(prompt_tokens), 0) from generations where session = sessions.id) as prompt_tokens,
    (select coalesce(sum(completion_tokens), 0) from generations where session = sessions.id) as completion_tokens,
    (select sum(cost_microusd) from generations where session = sessions.id) as cost_microusd,
    (select count(*) from generations
     where session = sessions.id and state in ('settled', 'lost') and cost_microusd is null) as unpriced
from sessions"""
_SELECT_BENCHMARKED = "select seq, body from events where run = :run and kind = 'CaseBenchmarked' order by seq"
_SELECT_CASES = "select seq, body from events where run = :run and kind = 'CaseFinished' order by seq"
_SELECT_EVENTS = "select seq, body from events where run = :run order by seq"
_SELECT_PROOF = "select digest from proofs where run = :run"
_SELECT_SOURCE = "select source from candidates where digest = :digest"
_SELECT_ENVIRONMENT = "select name, value from environment where session = :session order by name"
_SELECT_FAILED_CASES = f"""
select name from cases
where outcome != 'pass' and outcome not in {NO_VERDICT_ON_CANDIDATE} and run = (
    select id from runs
    where problem = :problem and path is :path and outcome not in {NO_VERDICT_ON_CANDIDATE} and {IS_OWN}
        and tiers != '' and exists (select 1 from cases where cases.run = runs.id)
    order by id desc limit 1)
order by seq"""
_SELECT_BEST = f"""{SELECT_RUNS}
where runs.problem = :problem and runs.outcome = 'pass' and runs.flagged = 0 and runs.policy != 'facts-only'
    and {IS_OWN} and {NOT_VETOED}
order by runs.passed desc, runs.id desc limit 1"""
_SELECT_BEST_BENCHMARK = f"""
select runs.*, sessions.pid, sessions.process_stamp, sessions.ended_at, summaries.*
from summaries
join runs on runs.id = summaries.run
join sessions on sessions.id = runs.session
where runs.problem = :problem and runs.path is :path and runs.device_name = :device_name
    and runs.outcome = 'pass' and runs.flagged = 0 and runs.policy != 'facts-only' and {IS_OWN}
    and {NOT_VETOED} and summaries.baseline = :baseline and summaries.cases = json_array_length(:cases)
    and not exists (select value from json_each(:cases)
        except select case_name from benchmarks where run = runs.id and cache = :cache and outcome = 'pass')
    and not exists (select case_name from benchmarks where run = runs.id
        except select value from json_each(:cases))
order by summaries.speedup desc, runs.id desc limit 1"""
_SELECT_BASELINES = """
select * from baselines where device_name = :device_name and problem = :problem
order by measured_at desc, run desc, case_name, baseline"""
# Verdicts on a whole text: not on selected cases, nor of a cancelled run.
_IS_VERDICT = "outcome is not null and outcome != 'cancelled' and tiers != ''"
# Runs that answered saves; the last one has place 1. Several have the same `newest` if no run was stored in between.
_ANSWERED_BY = """\
(select {column}, run, newest, answered_at,
        row_number() over (partition by {column} order by newest desc, answered_at desc) as place
    from answers join runs on runs.id = answers.run)"""
# A run that answered a later save of its text is as recent as the newest run was then.
_SELECT_PROBLEMS = f"""
select runs.*, sessions.pid, sessions.process_stamp, sessions.ended_at, seen.runs as run_count,
    max(newest.started_at, coalesce(answered_at, '')) as touched_at,
    (select best.id from runs as best
     where best.problem = seen.problem and best.outcome = 'pass' and best.flagged = 0 and best.policy != 'facts-only'
        and best.id not in {VARIANTS} and best.review is not 'vetoed'
     order by best.passed desc, best.id desc limit 1) as best_id,
    (select max(summaries.speedup) from summaries join runs as timed on timed.id = summaries.run
     where timed.problem = seen.problem and timed.outcome = 'pass' and timed.flagged = 0
        and timed.policy != 'facts-only' and timed.id not in {VARIANTS}
        and timed.review is not 'vetoed' and summaries.baseline = 'eager')
        as best_speedup
from (select problem, max(id) as last_id, count(*) as runs from runs where id not in {VARIANTS} group by problem)
    as seen
join runs as newest on newest.id = seen.last_id
left join (select problem, max(id) as id from runs where {_IS_VERDICT} and id not in {VARIANTS} group by problem)
    as judged on judged.problem = seen.problem
left join {_ANSWERED_BY.format(column="runs.problem")}
    as answered on answered.problem = seen.problem and place = 1 and answered.newest >= coalesce(judged.id, 0)
join runs on runs.id = coalesce(answered.run, judged.id, seen.last_id)
join sessions on sessions.id = runs.session
order by seen.last_id desc"""
# A file is as recent as its newest variant or answered save; its run is its own, or the one that answered it.
_SELECT_RECENT_FILES = f"""
select runs.*, seen.path as seen_path, sessions.pid, sessions.process_stamp, sessions.ended_at
from (select path, max(id) as newest, max(own) as own
    from (select path, id, case when id not in {VARIANTS} then id end as own from runs where path is not null
        union all select path, newest, null from answers where path is not null)
    group by path order by newest desc limit :limit) as seen
left join (select path, max(id) as id from runs where {_IS_VERDICT} and id not in {VARIANTS} group by path)
    as judged on judged.path = seen.path
left join {_ANSWERED_BY.format(column="answers.path")}
    as answered on answered.path = seen.path and place = 1 and answered.newest >= coalesce(judged.id, 0)
join runs on runs.id = coalesce(answered.run, judged.id, own, seen.newest)
join sessions on sessions.id = runs.session
order by seen.newest desc, answered_at desc"""


class Reader:
    """All queries.  Each method may raise StoreError when the file cannot be read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def path(self) -> Path | None:
        """Path of the store; None when it is in memory only."""
        return self._database.path

    def runs(
        self, wanted: RunFilter = EVERY_RUN, *, before_id: int | None = None, limit: int = 100
    ) -> tuple[RunRow, ...]:
        """The newest `limit` runs of those that match; the last id of this page requests the next one."""
        conditions, values = narrowing(wanted)
        values["limit"] = limit
        if before_id is not None:
            conditions.append("runs.id < :before")
            values["before"] = before_id
        return tuple(map(run_row, self._database.rows(SELECT_RUNS + where(conditions) + _NEWEST_FIRST, values)))

    def runs_after(self, after_id: int, *, session_id: int, limit: int = 100) -> tuple[RunRow, ...]:
        """The oldest `limit` runs of a session whose numbers are above `after_id`, oldest first."""
        values = {"session": session_id, "after": after_id, "limit": limit}
        return tuple(map(run_row, self._database.rows(_SELECT_NEXT_RUNS, values)))

    def run(self, run_id: int) -> RunRow:
        """Run number `run_id`.

        Raises:
            UsageError: there is none.
        """
        rows = self._database.rows(f"{SELECT_RUNS} where runs.id = :run", {"run": run_id})
        if not rows:
            newest = self.runs(limit=1)
            known = f"the newest is #{newest[0].id}" if newest else "it has no runs yet"
            raise UsageError(f"there is no run #{run_id} in {self._name}; {known}")
        return run_row(rows[0])

    def events(self, run_id: int) -> Iterator[Event]:
        """The events of a run in the order in which they were recorded.

        Raises:
            UsageError: there is no such run.
            StoreError: an event is of a kind that this version does not know.
        """
        self.run(run_id)
        return self._decoded(run_id, self._database.rows(_SELECT_EVENTS, {"run": run_id}))

    def run_record(self, run_id: int) -> RunRecord:
        """Record of a run, reduced from its events.  Raises as `events` does."""
        return record_of(self.events(run_id), number=run_id)

    def benchmarks(self, run_id: int) -> tuple[CaseBenchmark, ...]:
        """Timed cases of a run.

        Raises:
            StoreError: an event is of a kind that this version does not know.
        """
        events = self._decoded(run_id, self._database.rows(_SELECT_BENCHMARKED, {"run": run_id}))
        return tuple(event.benchmark for event in events if isinstance(event, CaseBenchmarked))

    def cases(self, run_id: int) -> tuple[CaseResult, ...]:
        """Verified cases of a run.

        Raises:
            StoreError: an event is of a kind that this version does not know.
        """
        events = self._decoded(run_id, self._database.rows(_SELECT_CASES, {"run": run_id}))
        return tuple(event.result for event in events if isinstance(event, CaseFinished))

    def source(self, digest: str) -> bytes:
        """The source whose SHA-256 is `digest`.

        Raises:
            UsageError: it was never recorded here.
        """
        rows = self._database.rows(_SELECT_SOURCE, {"digest": digest})
        if not rows:
            raise UsageError(f"there is no source with the digest {digest} in {self._name}; use that of a run")
        return bytes(rows[0]["source"])

    def proof_digest(self, run_id: int) -> str:
        """The hash under which the proof file of a run is stored among the artefacts.

        Raises:
            UsageError: there is no such run, or it has no proof file.
        """
        run = self.run(run_id)
        rows = self._database.rows(_SELECT_PROOF, {"run": run_id})
        if not rows:
            proven = "no case of it was proven" if run.device == "cpu" else f"no proof is tried on {run.device}"
            raise UsageError(f"run #{run_id} has no proof file: {proven}, or an earlier version of kgtui made it")
        return str(rows[0]["digest"])

    def find_cached(self, key: RunKey) -> RunRow | None:
        """The newest run that already answers the request, to be replayed instead of run again.

        `sessions.queries.cached_runs` says which runs count.
        """
        if not key.tiers:
            return None
        values: dict[str, Value] = {
            "digest": key.digest,
            "problem": key.problem,
            "device": key.device,
            "target": key.target,
            "tiers": tiers_value(key.tiers),
            "policy": key.policy,
            "session": key.session,
            **timed_values(key.benchmark),
        }
        rows = self._database.rows(SELECT_CACHED, values)
        return run_row(rows[0]) if rows else None

    def failed_cases(self, problem: str, *, path: Path | None) -> tuple[str, ...]:
        """Names of the cases to try first: those that failed when this file last got as far as a case, as it was."""
        values = {"problem": problem, "path": path_value(path)}
        return tuple(row["name"] for row in self._database.rows(_SELECT_FAILED_CASES, values))

    def best(self, problem: str) -> RunRow | None:
        """The passed and not flagged run that passed most cases, the newest of several.

        Never one under `facts-only`, nor a variant of a file.
        """
        rows = self._database.rows(_SELECT_BEST, {"problem": problem})
        return run_row(rows[0]) if rows else None

    def best_benchmark(
        self, problem: str, *, path: Path | None, device_name: str, benchmark: BenchmarkPlan, baseline: str
    ) -> BestBenchmark | None:
        """The right and unflagged run of this file with the best geometric mean against the baseline.

        Only runs on this kind of device count that timed exactly the cases of `benchmark`, in its state of the
        cache: means over other cases cannot be compared.  One that no policy judged does not count, nor does
        a variant of the file.
        """
        values: dict[str, Value] = {
            "problem": problem,
            "path": path_value(path),
            "device_name": device_name,
            "baseline": baseline,
            "cache": benchmark.cache,
            "cases": json_list([case.name for case in benchmark.cases]),
        }
        rows = self._database.rows(_SELECT_BEST_BENCHMARK, values)
        return BestBenchmark(run=run_row(rows[0]), summary=summary_of(rows[0])) if rows else None

    def baselines(self, problem: str, *, device_name: str) -> tuple[BaselineRow, ...]:
        """Times of a problem's baselines on this kind of device, newest first, under whichever versions."""
        rows = self._database.rows(_SELECT_BASELINES, {"problem": problem, "device_name": device_name})
        return tuple(map(baseline_row, rows))

    def last_by_problem(self) -> dict[str, ProblemSummary]:
        """Summary of every problem that was ever run, the last touched first; variants of files aside.

        `last` has the last verdict on it: of whole tiers, not cancelled, and of the save that was answered last.  Where
        there is none yet, it is the newest run.
        """
        return {
            row["problem"]: ProblemSummary(
                problem=row["problem"],
                runs=row["run_count"],
                last=run_row(row),
                best_id=row["best_id"],
                best_speedup=row["best_speedup"],
                touched_at=datetime.fromisoformat(row["touched_at"]),
            )
            for row in self._database.rows(_SELECT_PROBLEMS)
        }

    def change_number(self) -> int:
        """A number that changes when another connection, of any process, writes to the store."""
        return self._database.change_number()

    def recent_files(self, *, limit: int = 10) -> tuple[RecentFile, ...]:
        """The files of the latest runs, each with the run of its last verdict as in `last_by_problem`."""
        return tuple(
            RecentFile(path=path_of(row["seen_path"]), run=run_row(row))
            for row in self._database.rows(_SELECT_RECENT_FILES, {"limit": limit})
        )

    def sessions(
        self, *, before_id: int | None = None, after_id: int | None = None, limit: int = 100
    ) -> tuple[SessionRow, ...]:
        """Up to `limit` sessions with their totals, newest first: before one, or next after one."""
        values: dict[str, Value] = {"before": before_id, "after": after_id, "limit": limit}
        conditions = [] if before_id is None else ["sessions.id < :before"]
        conditions += [] if after_id is None else ["sessions.id > :after"]
        order = "desc" if after_id is None else "asc"
        statement = f"{_SELECT_SESSIONS}{where(conditions)} order by sessions.id {order} limit :limit"
        return tuple(sorted(map(session_row, self._database.rows(statement, values)), key=lambda row: -row.id))

    def session(self, session_id: int) -> SessionRow:
        """Session number `session_id`.

        Raises:
            UsageError: there is none.
        """
        rows = self._database.rows(f"{_SELECT_SESSIONS} where sessions.id = :session", {"session": session_id})
        if not rows:
            newest = self.sessions(limit=1)
            known = f"the newest is {newest[0].id}" if newest else "it has no sessions yet"
            raise UsageError(f"there is no session {session_id} in {self._name}; {known}")
        return session_row(rows[0])

    def environment(self, session_id: int) -> Mapping[str, str]:
        """The versions and devices under which a session ran."""
        rows = self._database.rows(_SELECT_ENVIRONMENT, {"session": session_id})
        return {row["name"]: row["value"] for row in rows}

    @property
    def _name(self) -> str:
        return MEMORY_NAME if self.path is None else str(self.path)

    def _decoded(self, run_id: int, rows: list[sqlite3.Row]) -> Iterator[Event]:
        for row in rows:
            try:
                yield from_json(row["body"])
            except ValueError as error:
                raise StoreError(f"{self._name}: run #{run_id}, event {row['seq']}: {error}") from error
