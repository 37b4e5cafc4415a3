"""Rows of the store: frozen records, without SQL or connection."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from engine.model import BenchmarkPlan, CacheState, Outcome, Policy, Tier
from engine.model.benchmark import Interval, Method, Summary

VARIANT_TAG = "tune"
"""The tag of a run of a tuned variant, which is not a run of the file: the file has other values."""


class RunState(enum.StrEnum):
    """Whether a run has its verdict, may still get it, or never will."""

    RUNNING = "running"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"


class Review(enum.StrEnum):
    """The user's review of a run; it does not change the verdict."""

    PINNED = "pinned"
    VETOED = "vetoed"
    """Never the best of its operator or its file."""


class Result(enum.StrEnum):
    """Kind of a run's result, coarser than its outcome: right and credible, wrong, suspicious, no verdict."""

    PASSED = "passed"
    FAILED = "failed"
    FLAGGED = "flagged"
    UNFINISHED = "unfinished"


@dataclass(frozen=True, kw_only=True)
class SessionRow:
    """A stretch of work with its totals; `cost_microusd` and `unpriced` are as those of Totals."""

    id: int
    label: str
    started_at: datetime
    ended_at: datetime | None
    runs: int
    problems: int
    passed: int
    flagged: int
    elapsed_s: float
    prompt_tokens: int
    completion_tokens: int
    cost_microusd: int | None
    unpriced: int = 0


@dataclass(frozen=True, kw_only=True)
class RunRow:
    """One run of one candidate.  `tiers` is empty when single cases were selected.

    `passed` and `total` count cases and are up to date while the run is in progress; `outcome` and
    `sentence` are None until it has finished.
    """

    id: int
    session: int
    digest: str
    problem: str
    path: Path | None
    device: str
    device_name: str | None
    target: str | None
    tiers: tuple[Tier, ...]
    policy: Policy
    started_at: datetime
    elapsed_s: float
    state: RunState
    outcome: Outcome | None
    sentence: str | None
    passed: int
    total: int
    flagged: bool
    proven: int | None
    note: str | None
    tag: str | None
    review: Review | None = None


@dataclass(frozen=True, kw_only=True)
class RunKey:
    """What a stored run must have in common with a request to answer it.

    `digest` is that of the source, `session` the one that asks, whose environment must be the same.  `tiers` are empty
    for selected cases, which no stored run answers; `benchmark` is None where nothing is timed.
    """

    digest: str
    problem: str
    device: str
    target: str | None
    tiers: tuple[Tier, ...]
    session: int
    benchmark: BenchmarkPlan | None = None
    policy: Policy = Policy.DEFAULT


@dataclass(frozen=True, kw_only=True)
class RunFilter:
    """Filter of listed runs; a field of None does not filter.

    `operator`, `file` and `device` are some letters of the problem, of the path, of the device or its name.  Each word
    of `text` is looked for in problem, path, sentence, note and tag.  None regards the case of ASCII letters.
    """

    session: int | None = None
    problem: str | None = None
    operator: str | None = None
    path: Path | None = None
    file: str | None = None
    device: str | None = None
    outcome: Outcome | None = None
    result: Result | None = None
    tag: str | None = None
    since: datetime | None = None
    text: str | None = None


@dataclass(frozen=True, kw_only=True)
class ListedRun:
    """A run as a list shows it; `speedup` is over PyTorch eager, None unless it is right, credible and was timed."""

    run: RunRow
    speedup: Interval | None


@dataclass(frozen=True, kw_only=True)
class Totals:
    """Totals of some runs; `cost_microusd` is None when no answer of a provider had a known price, and leaves out those
    of the `unpriced` answers.
    """

    runs: int
    sessions: int
    passed: int
    flagged: int
    elapsed_s: float
    prompt_tokens: int
    completion_tokens: int
    cost_microusd: int | None
    unpriced: int = 0


@dataclass(frozen=True, kw_only=True)
class Milestone:
    """A run in the history of one file; `speedup` is over its `timed` cases, None unless all passed and were timed."""

    run_id: int
    right: bool
    passed: int
    total: int
    speedup: float | None
    timed: int | None


@dataclass(frozen=True, kw_only=True)
class BestBenchmark:
    """A right and unflagged run, and how it compares with one baseline."""

    run: RunRow
    summary: Summary


@dataclass(frozen=True, kw_only=True)
class BaselineRow:
    """The newest measurement of a baseline on one kind of device under the same versions; None was not measured."""

    device_name: str
    versions: str
    problem: str
    case: str
    cache: CacheState
    baseline: str
    method: Method | None
    device_us: float | None
    call_us: float | None
    measured_at: datetime
    run_id: int


@dataclass(frozen=True, kw_only=True)
class ProblemSummary:
    """Row of a problem in the list of operators; `best_speedup` is the highest mean over PyTorch eager."""

    problem: str
    runs: int
    last: RunRow
    best_id: int | None
    best_speedup: float | None
    touched_at: datetime


@dataclass(frozen=True, kw_only=True)
class RecentFile:
    """A file with runs, and its newest run."""

    path: Path
    run: RunRow


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer of a model that a candidate came from; tokens and cost are None where they are unknown."""

    provider: str
    model: str
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_microusd: int | None
    elapsed_s: float
