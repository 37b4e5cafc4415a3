"""The results of a batch: each candidate with its verdict, and how far the batch is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.model import Outcome
from engine.problem_source import ProblemDescription
from sessions.candidates.checked import CheckedRow
from sessions.candidates.generation_rows import RunResult


@dataclass(frozen=True, kw_only=True)
class Result:
    """A candidate of a batch; `category` is None where its operator is not known (any more).

    `weakness` is what an audit found first of the operator; empty where that is nothing.
    """

    row: CheckedRow
    category: str | None
    weakness: str = ""

    @property
    def run(self) -> RunResult | None:
        """Its run; None before it begins, and where it is not run."""
        return self.row.run

    @property
    def digest(self) -> str | None:
        """The hash of its source; None without code."""
        return self.row.candidate.digest or None

    @property
    def problem(self) -> str:
        """The operator; empty where none is known."""
        return self.row.candidate.problem

    @property
    def library(self) -> str:
        """The group of the operator: its library, and its level in a suite ("kernelbench level1")."""
        library, _, rest = self.problem.partition("::")
        level, slash, _ = rest.partition("/")
        return f"{library} {level}" if slash else library

    @property
    def word(self) -> str:
        """Result in a word or two."""
        if self.row.candidate.refusal:
            return "no code" if self.problem else "not run"
        run = self.run
        if run is None or run.outcome is None:
            return "waiting"
        if run.flagged:
            return "flagged"
        return "passed" if run.outcome is Outcome.PASS else run.outcome.value.replace("_", " ")

    @property
    def sentence(self) -> str:
        """The verdict, or why there is none."""
        if self.row.candidate.refusal:
            return self.row.candidate.refusal
        return self.run.sentence if self.run is not None else ""


@dataclass(frozen=True, kw_only=True)
class ListedOperator:
    """An operator of a batch: its category, and what an audit found first; empty where that is nothing."""

    category: str
    weakness: str = ""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a batch is; `fresh` of the `done` were run since it was begun or resumed at `began_s`."""

    batch: int
    total: int
    done: int
    fresh: int
    began_s: float
    running: tuple[str, ...] = ()
    has_ended: bool = False

    def left_s(self, *, now_s: float) -> float | None:
        """The time that is left at the rate so far; None before anything new is done."""
        if not self.fresh or self.has_ended:
            return None
        return max(0.0, (now_s - self.began_s) / self.fresh * (self.total - self.done))


@dataclass(frozen=True, kw_only=True)
class Counts:
    """How many candidates ended how."""

    passed: int
    proven: int
    flagged: int
    failed: int
    not_run: int
    waiting: int


def listed_operator(described: ProblemDescription) -> ListedOperator:
    """The part of a description that a batch stores."""
    return ListedOperator(category=described.category, weakness=described.weakness)


def results_of(rows: Sequence[CheckedRow], operators: Mapping[str, ListedOperator]) -> tuple[Result, ...]:
    """The rows joined with the description of each operator."""
    return tuple(_result(row, operators.get(row.candidate.problem)) for row in rows)


def _result(row: CheckedRow, operator: ListedOperator | None) -> Result:
    if operator is None:
        return Result(row=row, category=None)
    return Result(row=row, category=operator.category, weakness=operator.weakness)


def counts_of(results: Sequence[Result]) -> Counts:
    """How many candidates ended how; a passed one is proven where each of its cases is."""
    words = [result.word for result in results]
    passed = [result.run for result in results if result.word == "passed" and result.run is not None]
    ours = sum(words.count(word) for word in _OURS)
    others = sum(words.count(word) for word in ("passed", "flagged", "waiting"))
    return Counts(
        passed=len(passed),
        proven=sum(run.proven == run.passed for run in passed),
        flagged=words.count("flagged"),
        failed=len(words) - others - ours,
        not_run=ours,
        waiting=words.count("waiting"),
    )


_OURS = ("not run", "cancelled", "engine error", "unsupported")
"""Words of candidates without a verdict of their own."""
