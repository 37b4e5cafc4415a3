"""The store's face: begin a session, begin runs in it, record their events, ask.

Every change is one transaction that is committed before the method returns, so killing the process
loses nothing that was recorded.  A method may wait for another process's turn to write, up to the
busy time-out.  Nothing is deleted but what `delete_run` and `delete_session` are asked to.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from engine.errors import UsageError
from engine.model import Candidate, Tier
from engine.model.events import Event
from sessions.browsing import Browser
from sessions.database import Database, Value, open_file, open_memory
from sessions.deleting import Deleted, delete
from sessions.processes import is_alive, process_stamp
from sessions.recording import statements, tally
from sessions.rows import Generation, RunState
from sessions.values import path_value, tiers_value, timestamp

BUSY_TIMEOUT_S = 5.0

_INSERT_SESSION = """
insert into sessions (label, started_at, pid, process_stamp) values (:label, :started_at, :pid, :process_stamp)"""
_END_SESSION = "update sessions set ended_at = :ended_at where id = :session"
_INSERT_ENVIRONMENT = "insert into environment (session, name, value) values (:session, :name, :value)"
_INSERT_CANDIDATE = """
insert into candidates (digest, source, first_seen_at) values (:digest, :source, :first_seen_at)
on conflict (digest) do nothing"""
_INSERT_RUN = """
insert into runs (session, candidate, problem, path, device, target, tiers, started_at)
values (:session, :candidate, :problem, :path, :device, :target, :tiers, :started_at)"""
_INSERT_ANSWER = """
insert or replace into answers (run, newest, answered_at) values (:run, (select max(id) from runs), :answered_at)"""
_SELECT_OWNER = "select pid, process_stamp, ended_at from sessions where id = :session"
_NEXT_SEQ = "select coalesce(max(seq), 0) + 1 from events where run = :run"
_SET_NOTE = "update runs set note = :value where id = :run"
_SET_TAG = "update runs set tag = :value where id = :run"
_INSERT_GENERATION = """
insert into generations (
    session, problem, provider, model, prompt_tokens, completion_tokens, cost_microusd, candidate, ended_at, elapsed_s
) values (
    :session, :problem, :provider, :model, :prompt_tokens, :completion_tokens, :cost_microusd, :candidate, :ended_at,
    :elapsed_s
)"""

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The clock of the machine."""
    return datetime.now(UTC)


def open_store(
    path: Path, *, read_only: bool = False, busy_timeout_s: float = BUSY_TIMEOUT_S, clock: Clock = utc_now
) -> Store:
    """The store at `path`: made with its folders when it is not there, migrated when it is older.

    With `read_only` nothing is made or changed.

    Raises:
        StoreError: one of the kinds of sessions.errors, each with the next step in its text.
    """
    return Store(open_file(path, is_read_only=read_only, busy_timeout_s=busy_timeout_s), clock=clock)


def open_memory_store(*, clock: Clock = utc_now) -> Store:
    """A store that is forgotten at the end, for when no file can be had; its `path` is None."""
    return Store(open_memory(), clock=clock)


class Store(Browser):
    """A store that is open; a context manager that ends its sessions and closes.

    Each method may raise StoreError.  Threads may share it: each call is whole.
    """

    def __init__(self, database: Database, *, clock: Clock) -> None:
        super().__init__(database)
        self._clock = clock
        self._open_sessions: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the sessions that were begun here and close the file.  Safe to call twice."""
        try:
            while self._open_sessions:
                self.end_session(self._open_sessions[-1])
        finally:
            self._database.close()

    def begin_session(self, label: str, *, environment: Mapping[str, str] | None = None) -> int:
        """A new stretch of work of this process; `environment` says under which versions and devices."""
        pid = os.getpid()
        with self._database.transaction() as connection:
            values = {"label": label, "started_at": self._now(), "pid": pid, "process_stamp": process_stamp(pid)}
            session_id = _new_id(connection.execute(_INSERT_SESSION, values).lastrowid)
            rows = ({"session": session_id, "name": name, "value": v} for name, v in (environment or {}).items())
            connection.executemany(_INSERT_ENVIRONMENT, rows)
        self._open_sessions.append(session_id)
        return session_id

    def end_session(self, session_id: int) -> None:
        """Say that no more runs come; those of its runs that have no verdict are interrupted."""
        # Forgotten first: when the disk is full, closing must not try for ever.
        if session_id in self._open_sessions:
            self._open_sessions.remove(session_id)
        with self._database.transaction() as connection:
            connection.execute(_END_SESSION, {"session": session_id, "ended_at": self._now()})

    def begin_run(
        self,
        session_id: int,
        candidate: Candidate,
        *,
        device: str,
        target: str | None,
        tiers: tuple[Tier, ...],
        path: Path | None,
    ) -> int:
        """The number of a new run, with its source kept; no `tiers` says that its cases were picked by hand."""
        started_at = self._now()
        with self._database.transaction() as connection:
            values: dict[str, Value] = {
                "session": session_id,
                "candidate": _keep_source(connection, candidate.source, seen_at=started_at),
                "problem": candidate.problem,
                "path": path_value(path),
                "device": device,
                "target": target,
                "tiers": tiers_value(tiers),
                "started_at": started_at,
            }
            return _new_id(connection.execute(_INSERT_RUN, values).lastrowid)

    def record(self, run_id: int, event: Event) -> int:
        """Keep the next event of a run and what follows from it; returns its place in the run, from 1."""
        return self.record_all(run_id, (event,))

    def record_all(self, run_id: int, events: Sequence[Event]) -> int:
        """Keep the next events of a run in one transaction; returns the place of the first in the run, from 1."""
        with self._database.transaction() as connection:
            first = int(connection.execute(_NEXT_SEQ, {"run": run_id}).fetchone()[0])
            for seq, event in enumerate(events, start=first):
                for statement, values in statements(event, run_id=run_id, seq=seq):
                    connection.execute(statement, values)
            for statement, values in tally(events, run_id=run_id):
                connection.execute(statement, values)
        return first

    def note_answer(self, run_id: int) -> None:
        """Note that this run answered a save of the text that it judged, so that its verdict is the last one again.

        Raises:
            UsageError: there is no such run.
        """
        with self._database.transaction() as connection:
            self.run(run_id)
            connection.execute(_INSERT_ANSWER, {"run": run_id, "answered_at": self._now()})

    def set_note(self, run_id: int, note: str | None) -> None:
        """Write a note to a run, or take it away.

        Raises:
            UsageError: there is no such run.
        """
        self._annotate(_SET_NOTE, run_id=run_id, value=note)

    def set_tag(self, run_id: int, tag: str | None) -> None:
        """Put a run under a tag, or take it away.

        Raises:
            UsageError: there is no such run.
        """
        self._annotate(_SET_TAG, run_id=run_id, value=tag)

    def delete_run(self, run_id: int) -> Deleted:
        """Take a run out for good, with all that no other one needs; compiled code is the caller's to delete.

        Raises:
            UsageError: there is no such run, or it still goes on.
        """
        with self._database.transaction() as connection:
            if self.run(run_id).state is RunState.RUNNING:
                raise UsageError(f"run #{run_id} still goes on; wait for its verdict, or stop it, then delete it")
            return delete(connection, run=run_id)

    def delete_session(self, session_id: int) -> Deleted:
        """Take a session out for good: its runs, its answers of providers and what they cost.

        Raises:
            UsageError: there is no such session, or the program that began it still runs.
        """
        with self._database.transaction() as connection:
            self.session(session_id)
            (row,) = connection.execute(_SELECT_OWNER, {"session": session_id}).fetchall()
            if row["ended_at"] is None and is_alive(row["pid"], row["process_stamp"]):
                raise UsageError(f"session {session_id} still goes on in process {row['pid']}; leave that, then delete")
            return delete(connection, session=session_id)

    def compact(self) -> bool:
        """Give back to the disk what deleted runs took; False where that has to wait for who else has the file open."""
        return self._database.compact()

    def add_generation(self, session_id: int, generation: Generation) -> int:
        """Keep what a provider answered and what it cost, with the source that came back."""
        ended_at = self._now()
        with self._database.transaction() as connection:
            digest = (
                None if generation.source is None else _keep_source(connection, generation.source, seen_at=ended_at)
            )
            values: dict[str, Value] = {
                "session": session_id,
                "problem": generation.problem,
                "provider": generation.provider,
                "model": generation.model,
                "prompt_tokens": generation.prompt_tokens,
                "completion_tokens": generation.completion_tokens,
                "cost_microusd": generation.cost_microusd,
                "candidate": digest,
                "ended_at": ended_at,
                "elapsed_s": generation.elapsed_s,
            }
            return _new_id(connection.execute(_INSERT_GENERATION, values).lastrowid)

    def _annotate(self, statement: str, *, run_id: int, value: str | None) -> None:
        with self._database.transaction() as connection:
            self.run(run_id)
            connection.execute(statement, {"run": run_id, "value": value})

    def _now(self) -> str:
        return timestamp(self._clock())


def _keep_source(connection: sqlite3.Connection, source: bytes, *, seen_at: str) -> str:
    """The digest of the source, which is kept once however often it comes."""
    digest = hashlib.sha256(source).hexdigest()
    connection.execute(_INSERT_CANDIDATE, {"digest": digest, "source": source, "first_seen_at": seen_at})
    return digest


def _new_id(row_id: int | None) -> int:
    assert row_id is not None, "SQLite gives a row id to every row of a table that has one"
    return row_id
