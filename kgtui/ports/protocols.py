"""Interfaces that the screen needs from the rest of the project, in the screen's own words.

The application hands in the engine, the store and the watcher; the tests hand in doubles that keep
to the same protocols.  Nothing here imports any of them.
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
            KgtuiError: this machine cannot run them; the text says why.
        """

    async def aclose(self) -> None:
        """Stop every child process and wait for it."""

    def evaluate(self, candidate: Candidate, plan: Plan, *, run_id: str | None = None) -> AsyncGenerator[Event, None]:
        """Evaluate the candidate; a CancelRun for `run_id` ends it at once with a cancelled verdict."""

    def compare(
        self, candidate: Candidate, other: Candidate, plan: Plan, *, run_id: str | None = None
    ) -> AsyncGenerator[Event, None]:
        """As `evaluate`, and time the candidate taking turns with `other`, a baseline called "other"."""

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
        """Compile what a run launched for other targets; a CancelRun for `run_id` ends it at once."""

    def send(self, command: CancelRun) -> None:
        """Carry out a command about a run; no effect when that run is not in progress."""

    @property
    def device_name(self) -> str:
        """The device as a person calls it."""


@dataclass(frozen=True, kw_only=True)
class PastRun:
    """A run in the store.  Outcome, counts and time are None while it `is_running`, or if it was cut short.

    `picked` is whether its cases were selected, so that its outcome is not that of the whole file.  `review` is
    "pinned" or "vetoed" where a person said so; the outcome does not depend on it.  `proven` of the passed cases are
    proven, None where no proof was tried.
    """

    number: int
    problem: str
    digest: str
    filename: str
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
        """Whether the outcome is of the whole file: no cases were picked by hand, and the run came to its end."""
        return not self.picked and self.outcome not in (None, Outcome.CANCELLED)


@dataclass(frozen=True, kw_only=True)
class LastRun:
    """Summary of one operator in the store: the run of its last verdict, and the number of runs.

    `best_speedup` is the highest mean speed-up over PyTorch eager of a right, credible run.
    """

    run: PastRun
    runs: int
    touched_at: datetime
    best_speedup: float | None = None


@dataclass(frozen=True, kw_only=True)
class BestRun:
    """The run that made a file fastest so far, and the mean of its speed-ups over a baseline.

    `changed` names what is another version by now, "torch": the baseline may have another speed under it.
    """

    number: int
    baseline: str
    speedup: Interval
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RecentFile:
    """A file that was judged before, and the run of its last verdict."""

    path: Path
    run: PastRun


class Recording(Protocol):
    """The store, as one session of this screen uses it.  Called from threads, one call at a time.

    Every method raises StoreError when the store is locked, full or damaged.
    """

    def begin(self, request: RunRequest) -> int:
        """Note that a run begins; its number is what the other methods and the screen call it."""

    def record(self, number: int, events: Sequence[Event]) -> None:
        """Keep the next events of a run; they are safe from a kill of this process when this returns."""

    def cached(self, request: RunRequest) -> int | None:
        """The newest finished run that answers this request already, or None.

        Where the request has a benchmark, a run that passed answers only when it timed all of those cases.
        """

    def answered(self, number: int) -> None:
        """Note that this run answered a request: its verdict is the last one on its file again."""

    def failed_cases(self, request: RunRequest) -> tuple[str, ...]:
        """The cases that failed when this file was judged last."""

    def events(self, number: int) -> tuple[Event, ...]:
        """The events of a run in their order."""

    def source(self, digest: str) -> bytes:
        """The text that was judged under this hash."""

    def runs(self, problem: str, *, limit: int) -> tuple[PastRun, ...]:
        """The newest runs of this operator."""

    def best(self, request: RunRequest) -> BestRun | None:
        """Of the runs of this file on this device, the fastest that is right, not flagged, and timed the same cases.

        None when there is none, and for a request without a benchmark.
        """

    def last_runs(self) -> dict[str, LastRun]:
        """The last verdict on every operator that has runs, by name."""

    def recent_files(self, *, limit: int) -> tuple[RecentFile, ...]:
        """The files that were judged last."""

    def listen(self, notice: StoreNotice) -> None:
        """Call this, from any thread, when the file was deleted or replaced and another one is used from then on."""

    def close(self) -> None:
        """Release the database."""


class Problems(Protocol):
    """The operators that there are; `problems.index.ProblemIndex` is one."""

    def descriptions(self) -> tuple[tuple[ProblemDescription, ...], tuple[str, ...]]:
        """Every operator that can be described, and a sentence on each that cannot; runs none of their files."""

    def find(self, name: str) -> Problem:
        """The operator called `name`.

        Raises:
            KgtuiError: there is none, or its file is broken.
        """


class Watching(Protocol):
    """A watcher of one file; it calls back from a separate thread."""

    def start(self) -> None:
        """Begin to watch."""

    def follow(self, siblings: Iterable[Path]) -> None:
        """Watch these imported files too, instead of those named before."""

    def stop(self) -> None:
        """Stop and wait until no callback can come any more."""


class WatcherFactory(Protocol):
    """Makes a watcher; `known_digest` is the content that the screen has already."""

    def __call__(
        self,
        path: Path,
        on_save: Callable[[Saved], None],
        on_trouble: Callable[[WatchTrouble], None],
        *,
        known_digest: str | None,
    ) -> Watching: ...


# From a sentence for the user and the new numbers of runs by their former ones.
StoreNotice: TypeAlias = Callable[[str, Mapping[int, int]], None]
EngineFactory: TypeAlias = Callable[[], EngineRuns]
ArtefactReader: TypeAlias = Callable[[str], bytes]
Scaffold: TypeAlias = Callable[[Problem], str]
