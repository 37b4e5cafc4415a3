"""Rates over operators: how many attempts compile, are correct and fast.  Pure functions of stored verdicts.

A flagged kernel counts as a failure, and so does an attempt without code.  An error of kgtui (the engine failed, a run
was cancelled) is not an attempt; `is_counted` is False for those.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from engine.model import Outcome
from engine.model.benchmark import Interval
from kgtui.generation.comparing.statistics import Average, bootstrap, pass_at_k
from sessions.candidates.generation_rows import RunResult

THRESHOLDS = (0.0, 0.5, 0.8, 1.0, 1.5, 2.0)
_KS = (1, 5, 10)
_OURS = (Outcome.CANCELLED, Outcome.PROBLEM_ERROR, Outcome.ENGINE_ERROR, Outcome.UNSUPPORTED)


class TriedCandidate(Protocol):
    """A candidate and its run; `digest` is None without code, `run` is None if it was not run."""

    @property
    def digest(self) -> str | None:
        """Hash of its source."""

    @property
    def run(self) -> RunResult | None:
        """The run with its verdict."""


@dataclass(frozen=True, kw_only=True)
class Rates:
    """Attempts at some operators; a number is None if it was not measured.

    `pass_at` has pass@k by k, `fast` fast_p by p; `speedup_correct` is over the operators that were solved,
    `speedup_all` over all of them, a failure as the baseline; `unsolved` counts those without a correct attempt.
    """

    operators: int
    unsolved: int
    attempts: int
    with_code: float | None
    compiled: float | None
    correct: Interval | None
    pass_at: Mapping[int, Interval]
    fast: Mapping[float, Interval]
    speedup_correct: Interval | None
    speedup_all: Interval | None


def rates_of(problems: Sequence[Sequence[TriedCandidate]]) -> Rates:
    """The rates over these operators, each with its attempts; those without an attempt are left out."""
    tried = [attempts for attempts in problems if attempts]
    attempts = [one for some in tried for one in some]
    with_code = [one for one in attempts if one.digest is not None]
    best = [best_speedup(some) for some in tried]
    is_timed = any(speedup is not None for speedup in best)
    return Rates(
        operators=len(tried),
        unsolved=sum(not any(map(is_correct, some)) for some in tried),
        attempts=len(attempts),
        with_code=share(len(with_code), len(attempts)),
        compiled=share(sum(map(_compiled, with_code)), len(attempts)),
        correct=_over(tried, correct_share),
        pass_at={k: value for k in _KS if (value := _pass_at(tried, k)) is not None},
        fast={p: value for p in THRESHOLDS if (value := _fast(tried, p, is_timed=is_timed)) is not None},
        speedup_correct=bootstrap(best, Average.GEOMETRIC) if is_timed else None,
        speedup_all=bootstrap(best, Average.WITH_FAILURES) if is_timed else None,
    )


def is_counted(one: TriedCandidate) -> bool:
    """Whether it has a verdict: False if it was not run, was cancelled, or kgtui failed."""
    if one.digest is None:
        return True
    return one.run is not None and one.run.outcome is not None and one.run.outcome not in _OURS


def is_correct(one: TriedCandidate) -> bool:
    """Whether it passed without a flag."""
    return one.run is not None and one.run.outcome is Outcome.PASS and not one.run.flagged


def speedup_of(one: TriedCandidate) -> float:
    """The speed-up; 0, which exceeds no threshold, if it was not timed."""
    return (one.run.speedup if one.run is not None else None) or 0.0


def best_speedup(attempts: Sequence[TriedCandidate]) -> float | None:
    """The highest speed-up of the correct attempts; None if none is correct, or none was timed."""
    return max((speedup_of(one) for one in attempts if is_correct(one) and speedup_of(one)), default=None)


def correct_share(attempts: Sequence[TriedCandidate]) -> float:
    """The share of correct attempts; there must be at least one attempt."""
    return sum(map(is_correct, attempts)) / len(attempts)


def share(part: int, whole: int) -> float | None:
    """The share `part` of `whole`; None if `whole` is 0."""
    return part / whole if whole else None


def _compiled(one: TriedCandidate) -> bool:
    return one.run is not None and one.run.outcome is not Outcome.COMPILE_ERROR


def _pass_at(problems: Sequence[Sequence[TriedCandidate]], k: int) -> Interval | None:
    return _over(
        [attempts for attempts in problems if len(attempts) >= k],
        lambda attempts: pass_at_k(samples=len(attempts), correct=sum(map(is_correct, attempts)), k=k),
    )


def _fast(problems: Sequence[Sequence[TriedCandidate]], p: float, *, is_timed: bool) -> Interval | None:
    """The share of attempts that are correct and more than `p` times as fast; None if nothing was timed."""
    if p == 0:
        return _over(problems, correct_share)
    if not is_timed:
        return None
    return _over(
        problems,
        lambda attempts: sum(is_correct(one) and speedup_of(one) > p for one in attempts) / len(attempts),
    )


def _over(
    problems: Sequence[Sequence[TriedCandidate]], value: Callable[[Sequence[TriedCandidate]], float]
) -> Interval | None:
    return bootstrap([value(attempts) for attempts in problems], Average.ARITHMETIC)
