"""Strategies for requesting kernels from a model: one module each, found by scanning.

A strategy module defines `NAME` (what is typed), `SUMMARY` (one line of help), `READS` (the fields of `StrategyOptions`
with an effect, besides `remark`), `most_answers(options)` and `run(job, options)`, an ordinary function that calls
`job.attempt`.  A resumed batch runs it again from the start, and gets stored answers and verdicts at the same positions
without cost.  So it must not depend on time or randomness.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from engine.errors import EngineError, UsageError
from engine.model import Outcome
from engine.reports.run_record import RunRecord
from kgtui.generation.prompts import Prompts
from kgtui.generation.records import Message
from sessions.candidates.generation_rows import GenerationRow

DEFAULT = "single"
_REQUIRED = ("NAME", "SUMMARY", "READS", "most_answers", "run")


@dataclass(frozen=True, kw_only=True)
class StrategyOptions:
    """Options of the user; a strategy reads those that concern it.
    `samples` is the number of answers (single) or the size of the population (evolve); `rounds` the number of
    improvements; at `target_speedup` over eager a strategy stops; `remark` is sent with the prompt.
    """

    samples: int = 1
    rounds: int = 4
    target_speedup: float | None = None
    remark: str = ""

    def __post_init__(self) -> None:
        if self.samples < 1 or self.rounds < 1:
            raise UsageError(f"-n and --rounds must be at least 1, got {self.samples} and {self.rounds}")


@dataclass(frozen=True, kw_only=True)
class Result:
    """One answer and its run; `run` is None if it has no source."""

    row: GenerationRow
    source: str | None
    run: RunRecord | None

    @property
    def passed(self) -> bool:
        """Whether the candidate is correct and not flagged."""
        verdict = self.run.verdict if self.run is not None else None
        return verdict is not None and verdict.outcome is Outcome.PASS and not verdict.flagged

    @property
    def speedup(self) -> float | None:
        """Over eager; None unless it passed and was timed."""
        return speedup_of(self.run) if self.passed and self.run is not None else None

    @property
    def score(self) -> tuple[bool, float, float]:
        """Sort key, greater for the better result: correct, then fast, then the share of passing cases."""
        verdict = self.run.verdict if self.run is not None else None
        share = verdict.passed / verdict.total if verdict is not None and verdict.total else 0.0
        return (self.passed, self.speedup or 0.0, share)


class Job(Protocol):
    """One operator for one model."""

    prompts: Prompts

    def opening(self) -> tuple[Message, ...]:
        """Messages that request a first kernel."""

    async def attempt(self, place: str, messages: Sequence[Message]) -> Result:
        """Send the prompt, extract the source from the answer and run it; each position gets one answer."""
        ...


class StrategyModule(Protocol):
    """Interface of every strategy module."""

    NAME: str
    SUMMARY: str
    READS: tuple[str, ...]

    def most_answers(self, options: StrategyOptions) -> int:
        """The maximum number of answers for one job."""
        ...

    async def run(self, job: Job, options: StrategyOptions) -> None:
        """Carry out the strategy for one job."""
        ...


def strategy_names() -> tuple[str, ...]:
    """The names of all strategies, in alphabetical order."""
    return tuple(sorted(entry.name for entry in pkgutil.iter_modules(importlib.import_module(__name__).__path__)))


def strategy_module(name: str) -> StrategyModule:
    """The strategy called `name`.

    Raises:
        UsageError: there is none.
        EngineError: its file does not define what a strategy must define.
    """
    if name not in strategy_names():
        raise UsageError(f"unknown strategy {name[:40]!r}; use one of {', '.join(strategy_names())}")
    module = importlib.import_module(f"{__name__}.{name}")
    missing = [required for required in _REQUIRED if not hasattr(module, required)]
    if missing:
        raise EngineError(f"kgtui/generation/strategies/{name}.py does not define {', '.join(missing)}")
    found: StrategyModule = module
    return found


def speedup_of(run: RunRecord) -> float | None:
    """The geometric mean of the speed-ups over eager, None if it was not timed."""
    return next((summary.speedup.value for summary in run.summaries if summary.baseline == "eager"), None)
