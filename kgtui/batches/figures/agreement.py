"""Verdicts of a batch compared with those of the suites' own rules, over the same calls."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from engine.model import Outcome
from kgtui.batches.results import CandidateResult

# Outcomes decided by the output. A suite's rule sees no output of a candidate that crashed or was stopped.
_WITH_OUTPUTS = frozenset(
    (
        Outcome.PASS, Outcome.WRONG_VALUE, Outcome.WRONG_SHAPE, Outcome.WRONG_DTYPE, Outcome.NONFINITE,
        Outcome.MUTATED_INPUT,
    )
)  # fmt: skip


class Agreement(enum.StrEnum):
    """Both verdicts on one candidate; a flagged candidate counts as rejected by kgtui."""

    BOTH_PASS = "both pass"
    SUITE_ONLY = "only the suite passes"
    OURS_ONLY = "only kgtui passes"
    NEITHER = "both reject"

    @property
    def is_disagreement(self) -> bool:
        """Whether one accepts the candidate and the other rejects it."""
        return self in (Agreement.SUITE_ONLY, Agreement.OURS_ONLY)


@dataclass(frozen=True, kw_only=True)
class Agreements:
    """Counts of candidates with both verdicts, by both verdicts."""

    both_pass: int
    suite_only: int
    ours_only: int
    neither: int

    @property
    def compared(self) -> int:
        """Number of candidates with both verdicts."""
        return self.both_pass + self.suite_only + self.ours_only + self.neither

    @property
    def disagreements(self) -> int:
        """Number of candidates that one of the two accepts and the other rejects."""
        return self.suite_only + self.ours_only


def agreement_of(result: CandidateResult) -> Agreement | None:
    """Both verdicts on a candidate; None where one of them is missing."""
    run = result.run
    if run is None or run.outcome not in _WITH_OUTPUTS or not run.rule_calls:
        return None
    ours, theirs = result.word == "passed", run.rule_passed == run.rule_calls
    if ours:
        return Agreement.BOTH_PASS if theirs else Agreement.OURS_ONLY
    return Agreement.SUITE_ONLY if theirs else Agreement.NEITHER


def agreements_of(results: Sequence[CandidateResult]) -> Agreements:
    """Counts of candidates by both verdicts."""
    found = [agreement_of(result) for result in results]
    return Agreements(
        both_pass=found.count(Agreement.BOTH_PASS),
        suite_only=found.count(Agreement.SUITE_ONLY),
        ours_only=found.count(Agreement.OURS_ONLY),
        neither=found.count(Agreement.NEITHER),
    )


def rule_text(result: CandidateResult) -> str:
    """How many of the compared calls pass the suite's rule, marked if kgtui's verdict differs; empty without a rule."""
    run, agreement = result.run, agreement_of(result)
    if run is None or not run.rule_calls:
        return ""
    mark = " !" if agreement is not None and agreement.is_disagreement else ""
    return f"{run.rule_passed}/{run.rule_calls}{mark}"
