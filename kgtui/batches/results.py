"""The results of a batch: each candidate with its verdict, and the progress of the batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.model import Outcome
from engine.problem_source import ProblemDescription
from engine.reports.output import diagnosis_lines
from engine.reports.text import located
from sessions.candidates.checked import CheckedRow
from sessions.candidates.generation_rows import RunResult


@dataclass(frozen=True, kw_only=True)
class CandidateResult:
    """A candidate of a batch; `category` is None where its operator is not known (any more).

    `weakness` is the first weakness of the operator that an audit found; empty if none.
    """

    row: CheckedRow
    category: str | None
    weakness: str = ""

    @property
    def run(self) -> RunResult | None:
        """Number of its run; None before it begins, and if it is not run."""
        return self.row.run

    @property
    def digest(self) -> str | None:
        """The hash of its source; None without code."""
        return self.row.candidate.digest or None

    @property
    def problem(self) -> str:
        """The operator; empty if unknown."""
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
        """Sentence of the verdict, or the reason why there is none."""
        if self.row.candidate.refusal:
            return self.row.candidate.refusal
        return self.run.sentence if self.run is not None else ""

    @property
    def diagnosis(self) -> str:
        """Diagnosis of a wrong output, after its case if the sentence does not name it; empty if there is none."""
        case = self.row.diagnosed
        if case is None:
            return ""
        lines = (line for output in case.outputs for line in diagnosis_lines(output))
        before = "" if case.case in self.sentence else f"{case.case}: "
        return f"{before}{next(lines, '')}"

    @property
    def explanation(self) -> str:
        """The sentence after its location, and the diagnosis."""
        sentence = located(self.sentence, self.row.location, file=self.row.candidate.name)
        return "; ".join(filter(None, (sentence, self.diagnosis)))


@dataclass(frozen=True, kw_only=True)
class ListedOperator:
    """An operator of a batch: its category, and the first weakness found by an audit; empty if none."""

    category: str
    weakness: str = ""


@dataclass(frozen=True, kw_only=True)
class BatchProgress:
    """Progress of a batch; `fresh` of the `done` candidates were run since its start or resumption at `began_s`."""

    batch: int
    total: int
    done: int
    fresh: int
    began_s: float
    running: tuple[str, ...] = ()
    has_ended: bool = False

    def left_s(self, *, now_s: float) -> float | None:
        """Remaining time at the rate so far; None before the first new result."""
        if not self.fresh or self.has_ended:
            return None
        return max(0.0, (now_s - self.began_s) / self.fresh * (self.total - self.done))


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Counts of candidates by outcome."""

    passed: int
    proven: int
    flagged: int
    failed: int
    not_run: int
    waiting: int


def listed_operator(described: ProblemDescription) -> ListedOperator:
    """The fields of a description that a batch stores."""
    return ListedOperator(category=described.category, weakness=described.weakness)


def results_of(rows: Sequence[CheckedRow], operators: Mapping[str, ListedOperator]) -> tuple[CandidateResult, ...]:
    """The rows joined with the description of each operator."""
    return tuple(_result(row, operators.get(row.candidate.problem)) for row in rows)


def _result(row: CheckedRow, operator: ListedOperator | None) -> CandidateResult:
    if operator is None:
        return CandidateResult(row=row, category=None)
    return CandidateResult(row=row, category=operator.category, weakness=operator.weakness)


def counts_of(results: Sequence[CandidateResult]) -> Counts:
    """Counts of candidates by outcome; a passed one is proven if each of its cases is."""
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
"""Labels of candidates without a verdict."""
