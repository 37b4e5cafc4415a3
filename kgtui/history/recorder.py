"""The store for the screen: one session, which begins with the first run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import StoreError, UsageError
from engine.reports.reducer import record_of
from kgtui.history.store_admin import StoreAdmin
from kgtui.ports.protocols import BestRun, LastRun, PastRun, RecentFile, StoreNotice
from sessions.rows import RunFilter, RunKey, RunRow, RunState

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engine.model.events import Event
    from engine.reports.run_record import RunRecord
    from kgtui.ports.requests import RunRequest
    from sessions.candidates.checked import CheckedStore
    from sessions.candidates.generations import GenerationStore
    from sessions.store import Store


class StoreRecording:
    """Stores runs; nothing is written before the first run, so browsing leaves no session."""

    def __init__(
        self,
        store: Store,
        *,
        label: str,
        environment: Mapping[str, str],
        remove_artefact: Callable[[str], None] = lambda digest: None,
    ) -> None:
        self._store = store
        self.admin = StoreAdmin(store, remove_artefact=remove_artefact)
        self._label = label
        self._environment = environment
        self._session: int | None = None

    def begin(self, request: RunRequest) -> int:
        """Note that a run begins."""
        number = self._store.begin_run(
            self._open_session(),
            request.candidate,
            device=request.device,
            target=request.target,
            tiers=() if request.cases else request.tiers,
            path=None if request.is_generated else request.path,
        )
        if request.tag is not None:
            self._store.set_tag(number, request.tag)
        if request.note is not None:
            self._store.set_note(number, request.note)
        return number

    def record(self, number: int, events: Sequence[Event]) -> None:
        """Store the next events of a run."""
        self._store.record_all(number, events)

    def cached(self, request: RunRequest) -> int | None:
        """The newest finished run that already answers this request."""
        key = RunKey(
            digest=request.candidate.digest,
            problem=request.problem.name,
            device=request.device,
            target=request.target,
            tiers=() if request.cases else request.tiers,
            session=self._open_session(),
            benchmark=request.benchmark,
        )
        found = self._store.find_cached(key)
        return found.id if found else None

    def answered(self, number: int, request: RunRequest) -> None:
        """Note that this run answered a request."""
        try:
            self._store.note_answer(number, path=request.path)
        except UsageError as error:
            raise StoreError(str(error)) from error

    def failed_cases(self, request: RunRequest) -> tuple[str, ...]:
        """The cases that failed in the last run of this file."""
        return self._store.failed_cases(request.problem.name, path=request.path)

    def events(self, number: int) -> tuple[Event, ...]:
        """The events of a run."""
        try:
            return tuple(self._store.events(number))
        except UsageError as error:
            raise StoreError(str(error)) from error

    def source(self, digest: str) -> bytes:
        """The source with this hash."""
        try:
            return self._store.source(digest)
        except UsageError as error:
            raise StoreError(str(error)) from error

    def runs(self, problem: str, *, limit: int) -> tuple[PastRun, ...]:
        """The newest runs of this operator."""
        return tuple(map(_past_run, self._store.runs(RunFilter(problem=problem), limit=limit)))

    def best(self, request: RunRequest) -> BestRun | None:
        """The fastest run of this file that is comparable with the request."""
        wanted, device_name = request.benchmark, self._environment.get("device")
        if wanted is None or not wanted.baselines or device_name is None:
            return None
        found = self._store.best_benchmark(
            request.problem.name,
            path=request.path,
            device_name=device_name,
            benchmark=wanted,
            baseline=wanted.baselines[0],
        )
        if found is None:
            return None
        then = self._store.environment(found.run.session)
        changed = {name for name, _ in then.items() ^ self._environment.items()}
        return BestRun(
            number=found.run.id,
            baseline=found.summary.baseline,
            speedup=found.summary.speedup,
            changed=tuple(sorted(changed)),
        )

    def last_runs(self) -> dict[str, LastRun]:
        """The last verdict on every operator with runs."""
        known = self._store.last_by_problem()
        return {
            name: LastRun(
                run=_past_run(summary.last),
                runs=summary.runs,
                touched_at=summary.touched_at,
                best_speedup=summary.best_speedup,
            )
            for name, summary in known.items()
        }

    def recent_files(self, *, limit: int) -> tuple[RecentFile, ...]:
        """The files of the latest runs."""
        found = self._store.recent_files(limit=limit)
        return tuple(RecentFile(path=file.path, run=_past_run(file.run)) for file in found)

    def listen(self, notice: StoreNotice) -> None:
        """Call this when the file was deleted or replaced and another one is used from then on."""
        self._store.on_moved = notice

    def close(self) -> None:
        """End the session and release the database."""
        self._store.close()

    @property
    def generations(self) -> GenerationStore:
        """Batches and generations of the store."""
        return self._store.generations

    @property
    def checked(self) -> CheckedStore:
        """Batches of candidates and their results."""
        return self._store.checked

    def run_record(self, number: int) -> RunRecord:
        """A stored run, reduced from its events."""
        return record_of(self.events(number), number=number)

    def session(self) -> int:
        """The number of this session, which is created on first use."""
        return self._open_session()

    def _open_session(self) -> int:
        if self._session is None:
            self._session = self._store.begin_session(self._label, environment=self._environment)
        return self._session


def _past_run(row: RunRow) -> PastRun:
    finished, is_running = row.outcome is not None, row.state is RunState.RUNNING
    counted = not is_running and row.total > 0
    return PastRun(
        number=row.id, problem=row.problem, digest=row.digest, path=row.path,
        device=row.device, target=row.target, started_at=row.started_at, outcome=row.outcome, flagged=row.flagged,
        passed=row.passed if counted else None, proven=row.proven, total=row.total if counted else None,
        elapsed_s=row.elapsed_s if finished else None, is_running=is_running, picked=not row.tiers,
        review=row.review or "",
    )  # fmt: skip
