"""A store of runs in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path

from engine.errors import StoreError
from engine.model import Outcome
from engine.model.events import Event, RunFinished
from engine.reports.reducer import record_of
from engine.reports.run_record import RunRecord
from kgtui.history.store_admin import StoreAdmin
from kgtui.ports.protocols import BestRun, LastRun, PastRun, RecentFile, StoreNotice
from kgtui.ports.requests import RunRequest
from sessions import Store, open_memory_store
from sessions.candidates.checked import CheckedStore
from sessions.candidates.generations import GenerationStore

NOW = datetime(2026, 3, 14, 15, 9, tzinfo=UTC)


@dataclass
class MemoryRecording:
    """Keeps runs in a list; fails on demand.  Runs `without_file` are of a source that no file has."""

    orders: list[RunRequest] = field(default_factory=list)
    events_by_run: dict[int, list[Event]] = field(default_factory=dict)
    recent: tuple[RecentFile, ...] = ()
    fastest: BestRun | None = None
    answers: list[tuple[int, int]] = field(default_factory=list)
    without_file: tuple[int, ...] = ()
    refuses: str = ""
    closed: bool = False

    def open_or_raise(self) -> None:
        """What opening the file of a real store may do."""
        self._check()

    def begin(self, order: RunRequest) -> int:
        self._check()
        self.orders.append(order)
        self.events_by_run[len(self.orders)] = []
        return len(self.orders)

    def record(self, number: int, events: Sequence[Event]) -> None:
        self._check()
        self.events_by_run[number] += events

    def cached(self, order: RunRequest) -> int | None:
        self._check()
        for number in range(len(self.orders), 0, -1):
            known, events = self.orders[number - 1], self.events_by_run[number]
            finished = _finished(events)
            if finished and finished.verdict.outcome is not Outcome.CANCELLED and replace(known, again=False) == order:
                return number
        return None

    def answered(self, number: int, order: RunRequest) -> None:
        self._check()
        self.answers.append((number, len(self.orders)))

    def failed_cases(self, order: RunRequest) -> tuple[str, ...]:
        return ()

    def events(self, number: int) -> tuple[Event, ...]:
        return tuple(self.events_by_run[number])

    def source(self, digest: str) -> bytes:
        return next(order.content for order in self.orders if order.candidate.digest == digest)

    def runs(self, problem: str, *, limit: int) -> tuple[PastRun, ...]:
        numbers = [n for n in range(len(self.orders), 0, -1) if self.orders[n - 1].problem.name == problem]
        return tuple(self._past(number) for number in numbers[:limit])

    def best(self, order: RunRequest) -> BestRun | None:
        return self.fastest if order.benchmark else None

    def last_runs(self) -> dict[str, LastRun]:
        names = {order.problem.name for order in self.orders}
        found = {}
        for name in names:
            runs = self.runs(name, limit=999)
            finished = [run for run in runs if not run.picked and run.outcome not in (None, Outcome.CANCELLED)]
            again = [number for number, newest in self.answers if not finished or newest >= finished[0].number]
            last = next((run for run in runs if run.number in again[-1:]), (finished or list(runs))[0])
            found[name] = LastRun(run=last, runs=len(runs), touched_at=runs[0].started_at)
        return found

    def recent_files(self, *, limit: int) -> tuple[RecentFile, ...]:
        return self.recent[:limit]

    @cached_property
    def _store(self) -> Store:
        """A store of its own for everything but runs, in memory and empty."""
        return open_memory_store()

    @cached_property
    def admin(self) -> StoreAdmin:
        return StoreAdmin(self._store, remove_artefact=lambda digest: None)

    @property
    def generations(self) -> GenerationStore:
        return self._store.generations

    @property
    def checked(self) -> CheckedStore:
        return self._store.checked

    @cached_property
    def _session(self) -> int:
        return self._store.begin_session("fake", environment={})

    def session(self) -> int:
        return self._session

    def run_record(self, number: int) -> RunRecord:
        return record_of(self.events(number), number=number)

    def listen(self, notice: StoreNotice) -> None:
        """Its memory is never replaced."""

    def close(self) -> None:
        self.closed = True

    def _check(self) -> None:
        if self.refuses:
            raise StoreError(self.refuses)

    def _past(self, number: int) -> PastRun:
        order, events = self.orders[number - 1], self.events_by_run[number]
        finished = _finished(events)
        verdict = finished.verdict if finished else None
        return PastRun(
            number=number,
            problem=order.problem.name,
            digest=order.candidate.digest,
            path=None if number in self.without_file else order.path,
            device=order.device,
            target=order.target,
            started_at=NOW - timedelta(minutes=7 * (len(self.orders) - number)),
            outcome=verdict.outcome if verdict else None,
            flagged=verdict.flagged if verdict else False,
            passed=verdict.passed if verdict else None,
            total=verdict.total if verdict else None,
            elapsed_s=finished.at_s if finished else None,
            picked=bool(order.cases),
        )


def recent_file(
    path: Path, *, problem: str = "aten::softmax", outcome: Outcome = Outcome.PASS, started_at: datetime = NOW
) -> RecentFile:
    """A file that has run, and its verdict."""
    run = PastRun(
        number=3,
        problem=problem,
        digest="d",
        path=path,
        device="cpu",
        target=None,
        started_at=started_at,
        outcome=outcome,
    )
    return RecentFile(path=path, run=run)


def _finished(events: Sequence[Event]) -> RunFinished | None:
    return next((event for event in events if isinstance(event, RunFinished)), None)
