"""Generated candidates in the store: requests are stored before they are sent, and settled exactly once.

A part of the open store, `store.generations`.  A request that was reserved by a program that ended before the answer
is `lost`: what it may have cost counts against the budget of its batch, and the strategy sends it again.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Mapping
from datetime import datetime

from engine.errors import StoreError, UsageError
from engine.processes.liveness import is_alive
from sessions.candidates.generation_costs import cost_row, select_costs
from sessions.candidates.generation_rows import (
    Attempt,
    BatchRow,
    CostBy,
    CostRow,
    Ending,
    GenerationRow,
    GenerationState,
    Limits,
    NewGeneration,
    Settlement,
    Stop,
    TokenUsage,
)
from sessions.candidates.held_space import hold_space
from sessions.candidates.run_results import RUN_COLUMNS, RUN_SUMMARY, run_result
from sessions.database import Database, Value
from sessions.errors import StoreFullError
from sessions.values import new_id

_INSERT_BATCH = """
insert into batches (session, request, budget_microusd, budget_tokens, budget_s, started_at)
values (:session, :request, :microusd, :tokens, :seconds, :now)"""
_END_BATCH = """
update batches set ended_at = :now, ending = :ending, worked_s = max(worked_s, :worked_s) where id = :batch"""
_REOPEN_BATCH = "update batches set ended_at = null, ending = null where id = :batch"
_SELECT_BATCH = "select * from batches where id = :batch"
_WORK = "update batches set worked_s = max(worked_s, :worked_s) where id = :batch"
_SELECT_UNFINISHED = """
select id from batches where request = :request and coalesce(ending, '') != 'finished' order by id desc limit 1"""
_SELECT_NEWEST = """
select batches.id, ending, pid, process_stamp, sessions.ended_at as session_ended_at
from batches join sessions on sessions.id = batches.session order by batches.id desc limit 1"""
_SELECT_RESERVED = """
select generations.id, pid, process_stamp, sessions.ended_at from generations
join sessions on sessions.id = generations.session where batch = :batch and state = 'reserved'"""
_LOSE = "update generations set state = 'lost', ended_at = :now where id = :generation and state = 'reserved'"
_RESERVE = """
insert into generations (
    session, batch, problem, provider, model, place, state, sent, reserved_microusd, reserved_tokens, began_at,
    runs_before
) values (
    :session, :batch, :problem, :provider, :model, :place, 'reserved', :sent, :reserved_microusd, :reserved_tokens,
    :now, (select coalesce(max(id), 0) from runs)
)"""
_SETTLE = """
update generations set state = case :stop when 'cancelled' then 'lost' else 'settled' end,
    received = :received, stop = :stop, extraction = :extraction,
    prompt_tokens = :prompt_tokens, cached_tokens = :cached_tokens, cache_write_tokens = :cache_write_tokens,
    completion_tokens = :completion_tokens, reasoning_tokens = :reasoning_tokens, cost_microusd = :cost_microusd,
    candidate = :candidate, ended_at = :now, elapsed_s = :elapsed_s
where id = :generation and state = 'reserved'"""
_FAIL = """
update generations set state = 'failed', extraction = :message, cost_microusd = 0, ended_at = :now
where id = :generation and state = 'reserved'"""
_INSERT_ATTEMPT = """
insert into attempts (generation, number, status, message, waited_s)
values (:generation, :number, :status, :message, :waited_s)"""
_SELECT_ATTEMPTS = "select * from attempts where generation = :generation order by number"
_ATTACH_RUN = "update generations set run = :run where id = :generation"
_ADD_SAVE = "insert or ignore into agent_saves (generation, run) values (:generation, :run)"
_SELECT_GENERATIONS = f"""
select generations.*, {RUN_COLUMNS}
from generations left join runs on runs.id = generations.run {RUN_SUMMARY}"""
_AT_PLACE = f"""{_SELECT_GENERATIONS}
where batch = :batch and generations.problem = :problem and provider = :provider and model = :model
    and place = :place and state = 'settled'"""


class GenerationStore:
    """Batches and generations of one open store.  Each method may raise StoreError.

    `session_of` gives the present number of a session that the caller knows by a former one, `keep_source` stores a
    candidate and returns its digest, `now` is the time as the store writes it.
    """

    def __init__(
        self,
        database: Database,
        *,
        session_of: Callable[[int], int],
        keep_source: Callable[[sqlite3.Connection, bytes], str],
        now: Callable[[], str],
    ) -> None:
        self._database = database
        self._session_of = session_of
        self._keep_source = keep_source
        self._now = now
        self._space_by_generation: dict[int, contextlib.ExitStack] = {}
        self._batch_by_former: dict[int, int] = {}
        self._generation_by_former: dict[int, int] = {}

    def renumbered(self, *, batches: Mapping[int, int], generations: Mapping[int, int]) -> None:
        """Record new numbers of batches and generations after the store has moved to another file."""
        self._batch_by_former = followed(self._batch_by_former, batches)
        self._generation_by_former = followed(self._generation_by_former, generations)

    def begin_batch(self, session_id: int, request: str, limits: Limits) -> int:
        """The number of a new batch of this session."""
        values: dict[str, Value] = {
            "request": request,
            "microusd": limits.microusd,
            "tokens": limits.tokens,
            "seconds": limits.seconds,
            "now": self._now(),
        }
        with self._database.transaction() as connection:
            row = connection.execute(_INSERT_BATCH, {**values, "session": self._session_of(session_id)})
            return new_id(row)

    def end_batch(self, batch: int, ending: Ending, *, worked_s: float = 0.0) -> None:
        """Note why a batch ended, and the time of all processes that worked on it."""
        values = {"batch": self._batch(batch), "ending": ending, "worked_s": worked_s, "now": self._now()}
        with self._database.transaction() as connection:
            connection.execute(_END_BATCH, values)

    def note_worked(self, batch: int, worked_s: float) -> None:
        """Note the time of all processes that worked on the batch; a shorter time changes nothing."""
        with self._database.transaction() as connection:
            connection.execute(_WORK, {"batch": self._batch(batch), "worked_s": worked_s})

    def resume_batch(self, batch: int) -> BatchRow:
        """Reopen the batch; reservations of ended processes become lost.

        Raises:
            UsageError: there is no such batch, or another program works on it.
        """
        with self._database.transaction() as connection:
            row = self.batch(batch)
            for reserved in connection.execute(_SELECT_RESERVED, {"batch": self._batch(batch)}).fetchall():
                if reserved["ended_at"] is None and is_alive(reserved["pid"], reserved["process_stamp"]):
                    raise UsageError(f"batch {batch} is running in process {reserved['pid']}; wait until it has ended")
                connection.execute(_LOSE, {"generation": reserved["id"], "now": self._now()})
            connection.execute(_REOPEN_BATCH, {"batch": self._batch(batch)})
        return row

    def unfinished_batch(self, request: str) -> int | None:
        """The newest unfinished batch with the same request; None when there is none."""
        rows = self._database.rows(_SELECT_UNFINISHED, {"request": request})
        return rows[0]["id"] if rows else None

    def newest_unfinished(self) -> BatchRow | None:
        """The newest batch, if it is unfinished and no process works on it."""
        for row in self._database.rows(_SELECT_NEWEST, {}):
            is_open = row["ending"] is None and row["session_ended_at"] is None
            if row["ending"] != Ending.FINISHED and not (is_open and is_alive(row["pid"], row["process_stamp"])):
                return self.batch(row["id"])
        return None

    def batch(self, batch: int) -> BatchRow:
        """Batch number `batch`.

        Raises:
            UsageError: there is none.
        """
        rows = self._database.rows(_SELECT_BATCH, {"batch": self._batch(batch)})
        if not rows:
            raise UsageError(f"there is no batch {batch}; `kgtui cost --by session` lists what was generated")
        row = rows[0]
        limits = Limits(microusd=row["budget_microusd"], tokens=row["budget_tokens"], seconds=row["budget_s"])
        return BatchRow(
            id=row["id"],
            session=row["session"],
            request=row["request"],
            limits=limits,
            started_at=datetime.fromisoformat(row["started_at"]),
            ending=Ending(row["ending"]) if row["ending"] else None,
            worked_s=row["worked_s"],
        )

    def reserve(self, session_id: int, batch: int, new: NewGeneration) -> int:
        """Store a request before it is sent, and hold disk space until its answer is stored; returns its number.

        Raises:
            StoreError: its place already has an answer, or one is in flight; or the disk has no space for an answer.
        """
        values: dict[str, Value] = {
            "batch": self._batch(batch),
            "problem": new.problem,
            "provider": new.provider,
            "model": new.model,
            "place": new.place,
            "sent": new.sent,
            "reserved_microusd": new.reserved_microusd,
            "reserved_tokens": new.reserved_tokens,
            "now": self._now(),
        }
        with hold_space(self._database.path) as space:
            with self._database.transaction() as connection:
                row = connection.execute(_RESERVE, {**values, "session": self._session_of(session_id)})
            number = new_id(row)
            self._space_by_generation[number] = space.pop_all()
            return number

    def settle(self, generation: int, settlement: Settlement) -> str | None:
        """Store the answer and its cost, once; returns the digest of its source.

        Raises:
            StoreError: the request is not reserved: it was settled before.
        """
        usage = settlement.usage
        values: dict[str, Value] = {
            "generation": self._generation(generation),
            "received": settlement.received,
            "stop": settlement.stop,
            "extraction": settlement.extraction,
            "prompt_tokens": usage.input_tokens if usage else None,
            "cached_tokens": usage.cached_tokens if usage else None,
            "cache_write_tokens": usage.cache_write_tokens if usage else None,
            "completion_tokens": usage.output_tokens if usage else None,
            "reasoning_tokens": usage.reasoning_tokens if usage else None,
            "cost_microusd": settlement.cost_microusd,
            "elapsed_s": settlement.elapsed_s,
            "now": self._now(),
        }

        def store() -> str | None:
            with self._database.transaction() as connection:
                digest = None if settlement.source is None else self._keep_source(connection, settlement.source)
                _change_once(connection, _SETTLE, {**values, "candidate": digest})
            return digest

        with self._space_by_generation.pop(generation, contextlib.ExitStack()) as space:
            try:
                return store()
            except StoreFullError:
                space.close()
                return store()

    def fail(self, generation: int, message: str) -> None:
        """Note that the provider refused the request, which costs nothing."""
        self._space_by_generation.pop(generation, contextlib.ExitStack()).close()
        with self._database.transaction() as connection:
            _change_once(
                connection, _FAIL, {"generation": self._generation(generation), "message": message, "now": self._now()}
            )

    def add_attempt(self, generation: int, attempt: Attempt) -> None:
        """Note one try to send a request."""
        values: dict[str, Value] = {
            "generation": self._generation(generation),
            "number": attempt.number,
            "status": attempt.status,
            "message": attempt.message,
            "waited_s": attempt.waited_s,
        }
        with self._database.transaction() as connection:
            connection.execute(_INSERT_ATTEMPT, values)

    def attempts(self, generation: int) -> tuple[Attempt, ...]:
        """The tries to send a request, in their order."""
        rows = self._database.rows(_SELECT_ATTEMPTS, {"generation": self._generation(generation)})
        return tuple(
            Attempt(number=row["number"], status=row["status"], message=row["message"], waited_s=row["waited_s"])
            for row in rows
        )

    def attach_run(self, generation: int, run: int) -> None:
        """Note which run verified the candidate."""
        with self._database.transaction() as connection:
            connection.execute(_ATTACH_RUN, {"generation": self._generation(generation), "run": run})

    def add_save(self, generation: int, run: int) -> None:
        """Note a run of a file that an agent saved before its answer."""
        with self._database.transaction() as connection:
            connection.execute(_ADD_SAVE, {"generation": self._generation(generation), "run": run})

    def at_place(self, batch: int, new: NewGeneration) -> GenerationRow | None:
        """The stored answer at this place of the batch; None if it has to be requested."""
        values: dict[str, Value] = {
            "batch": self._batch(batch),
            "problem": new.problem,
            "provider": new.provider,
            "model": new.model,
            "place": new.place,
        }
        rows = self._database.rows(_AT_PLACE, values)
        return _generation_row(rows[0]) if rows else None

    def of_batch(self, batch: int) -> tuple[GenerationRow, ...]:
        """Every request of a batch, in the order in which they were stored."""
        return self._rows("where generations.batch = :batch", {"batch": self._batch(batch)})

    def of_session(self, session: int) -> tuple[GenerationRow, ...]:
        """Every request of a session, in the order in which they were stored."""
        return self._rows("where generations.session = :session", {"session": session})

    def of_every_session(self) -> tuple[GenerationRow, ...]:
        """Every request, in the order in which they were stored."""
        return self._rows("", {})

    def of_problem(self, problem: str) -> tuple[GenerationRow, ...]:
        """Every request for an operator, in the order in which they were stored."""
        return self._rows("where generations.problem = :problem", {"problem": problem})

    def costs(self, by: CostBy, *, session: int | None = None) -> tuple[CostRow, ...]:
        """Costs of the answers, summed by group; of one session, or of all."""
        statement = select_costs(by, is_narrowed=session is not None)
        return tuple(cost_row(row) for row in self._database.rows(statement, {"session": session}))

    def _batch(self, batch: int) -> int:
        self._database.follow()  # before the number is looked up
        return self._batch_by_former.get(batch, batch)

    def _generation(self, generation: int) -> int:
        self._database.follow()
        return self._generation_by_former.get(generation, generation)

    def _rows(self, condition: str, values: Mapping[str, Value]) -> tuple[GenerationRow, ...]:
        statement = f"{_SELECT_GENERATIONS} {condition} order by generations.id"
        return tuple(map(_generation_row, self._database.rows(statement, values)))


def followed(by_former: Mapping[int, int], renumbered: Mapping[int, int]) -> dict[int, int]:
    """The newest number by each earlier one, after numbers changed once more."""
    return {**renumbered, **{former: renumbered.get(number, number) for former, number in by_former.items()}}


def _change_once(connection: sqlite3.Connection, statement: str, values: Mapping[str, Value]) -> None:
    if connection.execute(statement, values).rowcount != 1:
        raise StoreError(f"generation {values['generation']!r} is settled already; it was not changed")


def _generation_row(row: sqlite3.Row) -> GenerationRow:
    return GenerationRow(
        id=row["id"],
        session=row["session"],
        batch=row["batch"],
        problem=row["problem"],
        provider=row["provider"],
        model=row["model"],
        place=row["place"],
        state=GenerationState(row["state"]),
        sent=row["sent"],
        received=row["received"],
        stop=Stop(row["stop"]) if row["stop"] else None,
        extraction=row["extraction"],
        usage=_usage(row),
        cost_microusd=row["cost_microusd"],
        reserved_microusd=row["reserved_microusd"],
        reserved_tokens=row["reserved_tokens"],
        digest=row["candidate"],
        elapsed_s=row["elapsed_s"],
        run=run_result(row),
    )


def _usage(row: sqlite3.Row) -> TokenUsage | None:
    if row["prompt_tokens"] is None or row["completion_tokens"] is None:
        return None
    return TokenUsage(
        input_tokens=row["prompt_tokens"],
        output_tokens=row["completion_tokens"],
        cached_tokens=row["cached_tokens"] or 0,
        cache_write_tokens=row["cache_write_tokens"] or 0,
        reasoning_tokens=row["reasoning_tokens"] or 0,
    )
