"""Interfaces of the rest of the project for the screen.
The application passes in the engine, the store and the watcher; tests pass in fakes with the same protocols.  Nothing
here imports any of them.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from engine.model import Candidate, Launch, Outcome, Plan, Problem

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from engine.model.benchmark import Interval
    from engine.model.commands import CancelRun
    from engine.model.events import Event
    from engine.problem_source import ProblemDescription
    from kgtui.ports.file_events import Saved, WatchTrouble
    from kgtui.ports.requests import RunRequest

# Kernels are executed on the CPU here, so nothing is ever timed.
CPU_DEVICE = "cpu"


class EngineRuns(Protocol):
    """The engine: runs one candidate at a time and yields its events."""

    async def start(self) -> None:
        """Start the judge and a warm spare.

        Raises:
            KgtuiError: this machine cannot run them; the message says why.
        """

    async def aclose(self) -> None:
        """Stop every child process and wait for its exit."""

    def evaluate(self, candidate: Candidate, plan: Plan, *, run_id: str | None = None) -> AsyncGenerator[Event, None]:
        """Evaluate the candidate; a CancelRun for `run_id` ends the run at once with a cancelled verdict."""

    def compare(
        self, candidate: Candidate, other: Candidate, plan: Plan, *, run_id: str | None = None
    ) -> AsyncGenerator[Event, None]:
        """As `evaluate`, and time the candidate alternately with `other`, a baseline called "other"."""

    def retarget(
        self,
        candidate: Candidate,
        *,
        entry: str,
        launches: Sequence[Launch],
        targets: Sequence[str],
        after_s: float = 0.0,
        run_id: str | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Compile the launches of a run for other targets; a CancelRun for `run_id` ends it at once."""

    def send(self, command: CancelRun) -> None:
        """Carry out a command about a run; no effect when that run is not in progress."""

    @property
    def device_name(self) -> str:
        """The name of the device for people."""


@dataclass(frozen=True, kw_only=True)
class PastRun:
    """A run in the store.  Outcome, counts and time are None while it `is_running`; an interrupted one has only counts.
    `picked` says that only selected cases were run, so that its outcome is not that of the whole file.  `review` is
    "pinned" or "vetoed" by the user; the outcome does not depend on it.  `path` is None if no file was run.
    `proven` of the passed cases are proven, None if no proof was tried.
    """

    number: int
    problem: str
    digest: str
    path: Path | None
    device: str
    target: str | None
    started_at: datetime
    outcome: Outcome | None = None
    flagged: bool = False
    passed: int | None = None
    proven: int | None = None
    total: int | None = None
    elapsed_s: float | None = None
    is_running: bool = False
    picked: bool = False
    review: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether the outcome is of the whole file: no cases were selected, and the run is complete."""
        return not self.picked and self.outcome not in (None, Outcome.CANCELLED)


@dataclass(frozen=True, kw_only=True)
class LastRun:
    """Summary of one operator in the store: the run of its last verdict, and the number of runs.

    `best_speedup` is the highest mean speed-up over PyTorch eager of a passing run without flags.
    """

    run: PastRun
    runs: int
    touched_at: datetime
    best_speedup: float | None = None


@dataclass(frozen=True, kw_only=True)
class BestRun:
    """The fastest run of a file so far, and the mean of its speed-ups over a baseline.
    `changed` names packages with another version since then, such as "torch", with which the baseline may have another
    speed.
    """

    number: int
    baseline: str
    speedup: Interval
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RecentFile:
    """A file with earlier runs, and the run of its last verdict."""

    path: Path
    run: PastRun


class Recording(Protocol):
    """Interface of the store for one session of the screen.  Called from threads, one call at a time.

    Every method raises StoreError when the store is locked, full or damaged.
    """

    def begin(self, request: RunRequest) -> int:
        """Note that a run begins; returns its number, used by the other methods and the screen."""

    def record(self, number: int, events: Sequence[Event]) -> None:
        """Store the next events of a run; they survive a kill of this process when this returns."""

    def cached(self, request: RunRequest) -> int | None:
        """The newest finished run that already answers this request, or None.
        If the request has a benchmark, a passing run answers only if it timed all of its cases.
        """

    def answered(self, number: int, request: RunRequest) -> None:
        """Note that this run answered a request: its verdict becomes the last one of its file."""

    def failed_cases(self, request: RunRequest) -> tuple[str, ...]:
        """The cases that failed in the last run of this file."""

    def events(self, number: int) -> tuple[Event, ...]:
        """The events of a run in order."""

    def source(self, digest: str) -> bytes:
        """The source with this hash."""

    def runs(self, problem: str, *, limit: int) -> tuple[PastRun, ...]:
        """The newest runs of this operator."""

    def best(self, request: RunRequest) -> BestRun | None:
        """The fastest run of this file on this device that passed without a flag and timed the same cases.
        None if there is none, and for a request without a benchmark.
        """

    def last_runs(self) -> dict[str, LastRun]:
        """The last verdict on every operator with runs, by name."""

    def recent_files(self, *, limit: int) -> tuple[RecentFile, ...]:
        """The files of the latest runs."""

    def listen(self, notice: StoreNotice) -> None:
        """Call this, from any thread, when the file was deleted or replaced and another one is used from then on."""

    def close(self) -> None:
        """Release the database."""


class Problems(Protocol):
    """Interface of the operator index; `problems.index.ProblemIndex` is one."""

    def descriptions(self) -> tuple[tuple[ProblemDescription, ...], tuple[str, ...]]:
        """Every operator that can be described, and a sentence on each that cannot; executes none of their files."""

    def find(self, name: str) -> Problem:
        """The operator called `name`.

        Raises:
            KgtuiError: there is none, or its file is invalid.
        """


class Watching(Protocol):
    """Interface of a watcher of one file, which calls back from a separate thread."""

    def start(self) -> None:
        """Start watching."""

    def follow(self, siblings: Iterable[Path]) -> None:
        """Watch these imported files too, instead of the previous ones."""

    def stop(self) -> None:
        """Stop watching and wait until no callback can follow."""


class WatcherFactory(Protocol):
    """Makes a watcher; `known_digest` is that of the content that the screen already has."""

    def __call__(
        self,
        path: Path,
        on_save: Callable[[Saved], None],
        on_trouble: Callable[[WatchTrouble], None],
        *,
        known_digest: str | None,
    ) -> Watching: ...


# Arguments: a sentence for the user, and the new numbers of runs by their former ones.
StoreNotice: TypeAlias = Callable[[str, Mapping[int, int]], None]
EngineFactory: TypeAlias = Callable[[], EngineRuns]
ArtefactReader: TypeAlias = Callable[[str], bytes]
Scaffold: TypeAlias = Callable[[Problem], str]
