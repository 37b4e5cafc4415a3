"""Public class of the store: begin a session, begin runs in it, record their events, query them.

Every change is one transaction that is committed before the method returns, so killing the process
loses nothing that was recorded.  A method may wait for another process's turn to write, up to the
busy time-out.  Only `delete_run` and `delete_session` delete anything.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from engine.errors import UsageError
from engine.model import Candidate, Tier
from engine.model.events import Event
from engine.processes.liveness import is_alive, process_stamp
from sessions.candidates.checked import CheckedStore
from sessions.candidates.generations import GenerationStore, followed
from sessions.database import Database, Value, open_file, open_memory
from sessions.queries.browsing import Browser
from sessions.rows import Review, RunKey, RunRow, RunState
from sessions.values import new_id, path_value, tiers_value, timestamp
from sessions.writing.carrying import Carried, Renumbered, put, take
from sessions.writing.deleting import Deleted, delete
from sessions.writing.recording import statements, tally

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
insert or replace into answers (run, path, newest, answered_at)
values (:run, :path, (select max(id) from runs), :answered_at)"""
_SELECT_OWNER = "select pid, process_stamp, ended_at from sessions where id = :session"
_NEXT_SEQ = "select coalesce(max(seq), 0) + 1 from events where run = :run"
_SET_NOTE = "update runs set note = :value where id = :run"
_SET_REVIEW = "update runs set review = :value where id = :run"
_SET_TAG = "update runs set tag = :value where id = :run"

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The current time in UTC."""
    return datetime.now(UTC)


Notice = Callable[[str, Mapping[int, int]], None]
"""Takes a sentence for the user, and the new numbers of runs by their former ones, from any thread."""


def _ignore(sentence: str, numbers: Mapping[int, int]) -> None:
    """Ignore the report."""


def open_store(
    path: Path, *, read_only: bool = False, busy_timeout_s: float = BUSY_TIMEOUT_S, clock: Clock = utc_now
) -> Store:
    """The store at `path`: made with its folders when it is not there, migrated when it is older.

    With `read_only` nothing is made or changed.  When its file is deleted or replaced while it is open, the next
    call continues with the file at the path, which gets the runs of the open sessions, and calls `on_moved`.

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
        self.on_moved: Notice = _ignore
        self._now = partial(_stamp, clock)
        self._open_sessions: list[int] = []
        self._answered: list[int] = []  # runs of other sessions that answered saves of this one
        self._carried = Carried()
        self._renumbered = Renumbered()
        self._session_by_former: dict[int, int] = {}
        self._run_by_former: dict[int, int] = {}  # by the run that was active at that time
        self.generations = GenerationStore(
            database, session_of=self._present_session, keep_source=self._keep_now, now=self._now
        )
        self.checked = CheckedStore(
            database,
            session_of=self._present_session,
            run_of=lambda run: self._run_by_former.get(run, run),
            now=self._now,
        )
        database.moving = self

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the sessions that were begun here and close the file.  Safe to call twice.

        One that was deleted meanwhile is not made again for that.
        """
        try:
            while self._open_sessions and not self._database.is_displaced:
                self.end_session(self._open_sessions[-1])
        finally:
            self._open_sessions.clear()
            self._database.close()

    def begin_session(self, label: str, *, environment: Mapping[str, str] | None = None) -> int:
        """Begin a session of this process; `environment` has its versions and devices."""
        pid = os.getpid()
        with self._database.transaction() as connection:
            values = {"label": label, "started_at": self._now(), "pid": pid, "process_stamp": process_stamp(pid)}
            session_id = new_id(connection.execute(_INSERT_SESSION, values))
            rows = ({"session": session_id, "name": name, "value": v} for name, v in (environment or {}).items())
            connection.executemany(_INSERT_ENVIRONMENT, rows)
        self._open_sessions.append(session_id)
        return session_id

    def end_session(self, session_id: int) -> None:
        """End the session; those of its runs that have no verdict are interrupted."""
        session_id = self._present_session(session_id)
        # Forgotten first: when the disk is full, closing must not retry without end.
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
        """Number of a new run, whose source is stored; without `tiers`, its cases were selected."""
        started_at = self._now()
        with self._database.transaction() as connection:
            self._run_by_former.clear()
            values: dict[str, Value] = {
                "session": self._present_session(session_id),
                "candidate": _keep_source(connection, candidate.source, seen_at=started_at),
                "problem": candidate.problem,
                "path": path_value(path),
                "device": device,
                "target": target,
                "tiers": tiers_value(tiers),
                "started_at": started_at,
            }
            return new_id(connection.execute(_INSERT_RUN, values))

    def record(self, run_id: int, event: Event) -> int:
        """Keep the next event of a run and what follows from it; returns its place in the run, from 1."""
        return self.record_all(run_id, (event,))

    def record_all(self, run_id: int, events: Sequence[Event]) -> int:
        """Keep the next events of a run in one transaction; returns the place of the first in the run, from 1."""
        with self._database.transaction() as connection:
            run_id = self._run_by_former.get(run_id, run_id)
            first = int(connection.execute(_NEXT_SEQ, {"run": run_id}).fetchone()[0])
            for seq, event in enumerate(events, start=first):
                for statement, values in statements(event, run_id=run_id, seq=seq):
                    connection.execute(statement, values)
            for statement, values in tally(events, run_id=run_id):
                connection.execute(statement, values)
        return first

    def note_answer(self, run_id: int, *, path: Path | None) -> None:
        """Note that this run answered a save of its text at `path`, so that its verdict is the last one of that file.

        Raises:
            UsageError: there is no such run.
        """
        with self._database.transaction() as connection:
            self.run(run_id)
            values = {"run": run_id, "path": path_value(path), "answered_at": self._now()}
            connection.execute(_INSERT_ANSWER, values)
        if run_id not in self._answered:
            self._answered.append(run_id)

    def set_note(self, run_id: int, note: str | None) -> None:
        """Set or remove the note of a run.

        Raises:
            UsageError: there is no such run.
        """
        self._annotate(_SET_NOTE, run_id=run_id, value=note)

    def set_tag(self, run_id: int, tag: str | None) -> None:
        """Set or remove the tag of a run.

        Raises:
            UsageError: there is no such run.
        """
        self._annotate(_SET_TAG, run_id=run_id, value=tag)

    def set_review(self, run_id: int, review: Review | None) -> None:
        """Pin or veto a run, or undo that; its verdict stays.

        Raises:
            UsageError: there is no such run.
        """
        self._annotate(_SET_REVIEW, run_id=run_id, value=review)

    def delete_run(self, run_id: int) -> Deleted:
        """Delete a run permanently, with all data that no other one needs; the caller deletes compiled code.

        Raises:
            UsageError: there is no such run, or it is still running.
        """
        with self._database.transaction() as connection:
            if self.run(run_id).state is RunState.RUNNING:
                raise UsageError(f"run #{run_id} is still running; wait for its verdict or stop it, then delete it")
            return delete(connection, run=run_id)

    def delete_session(self, session_id: int) -> Deleted:
        """Delete a session permanently: its runs, its answers of providers and their costs.

        Raises:
            UsageError: there is no such session, or the program that began it still runs.
        """
        with self._database.transaction() as connection:
            self.session(session_id)
            (row,) = connection.execute(_SELECT_OWNER, {"session": session_id}).fetchall()
            if row["ended_at"] is None and is_alive(row["pid"], row["process_stamp"]):
                raise UsageError(f"session {session_id} is still open in process {row['pid']}; end that process first")
            return delete(connection, session=session_id)

    def compact(self) -> bool:
        """Return the space of deleted runs to the disk; False where another process has the file open."""
        return self._database.compact()

    def find_cached(self, key: RunKey) -> RunRow | None:
        """As a reader finds it; `key.session` is the number that `begin_session` gave."""
        self._database.follow()  # before the number is looked up
        return super().find_cached(replace(key, session=self._present_session(key.session)))

    # When the file at the path is another one

    def leave(self, connection: sqlite3.Connection) -> None:
        """Read the rows of the open sessions from the former file."""
        self._carried = take(connection, sessions=self._open_sessions, runs=self._answered)

    def arrive(self, connection: sqlite3.Connection) -> None:
        """Write the rows to the new file."""
        self._renumbered = put(connection, self._carried)

    def arrived(self, *, was_deleted: bool) -> None:
        """Use the new numbers, and report the move."""
        carried, self._carried = self._carried, Carried()
        runs, sessions = self._renumbered.runs, self._renumbered.sessions
        self._open_sessions = [sessions.get(number, number) for number in self._open_sessions]
        self._answered = [runs.get(number, number) for number in self._answered]
        self._session_by_former = followed(self._session_by_former, sessions)
        self._run_by_former = followed(self._run_by_former, runs)
        self.generations.renumbered(batches=self._renumbered.batches, generations=self._renumbered.generations)
        self.checked.renumbered(self._renumbered.check_batches)
        self.on_moved(_moved_sentence(self.path, runs=len(carried.runs), was_deleted=was_deleted), runs)

    def _annotate(self, statement: str, *, run_id: int, value: str | None) -> None:
        with self._database.transaction() as connection:
            self.run(run_id)
            connection.execute(statement, {"run": run_id, "value": value})

    def _present_session(self, session_id: int) -> int:
        return self._session_by_former.get(session_id, session_id)

    def _keep_now(self, connection: sqlite3.Connection, source: bytes) -> str:
        return _keep_source(connection, source, seen_at=self._now())


def _stamp(clock: Clock) -> str:
    return timestamp(clock())


def _moved_sentence(path: Path | None, *, runs: int, was_deleted: bool) -> str:
    of_session = (
        f"the {runs} run{'s' if runs != 1 else ''} of this session {'were' if runs != 1 else 'was'} copied to it"
    )
    done = (
        "was deleted while in use: a new one was created"
        if was_deleted
        else ("was replaced while in use: the new file is used from now on")
    )
    return f"session store {path} {done}{f', {of_session}' if runs else ''}"


def _keep_source(connection: sqlite3.Connection, source: bytes, *, seen_at: str) -> str:
    """The digest of the source, which is stored once."""
    digest = hashlib.sha256(source).hexdigest()
    connection.execute(_INSERT_CANDIDATE, {"digest": digest, "source": source, "first_seen_at": seen_at})
    return digest
