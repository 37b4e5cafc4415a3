"""Operators of a batch that accept some wrong candidates, by an audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kgtui.batches.results import CandidateResult


@dataclass(frozen=True, kw_only=True)
class WeakOperator:
    """An operator, the first weakness that the audit found, and how many candidates passed, perhaps wrongly."""

    operator: str
    weakness: str
    candidates: int
    passed: int


def weak_operators(results: Sequence[CandidateResult]) -> tuple[WeakOperator, ...]:
    """The weak operators with a candidate, by name; operators that were not audited are left out."""
    found = {result.problem: result.weakness for result in results if result.problem and result.weakness}
    words = {name: [result.word for result in results if result.problem == name] for name in found}
    return tuple(
        WeakOperator(
            operator=name,
            weakness=found[name],
            candidates=len(words[name]),
            passed=words[name].count("passed"),
        )
        for name in sorted(found)
    )


def operators_in(results: Sequence[CandidateResult]) -> int:
    """Number of operators with a candidate."""
    return len({result.problem for result in results if result.problem})


def weak_text(results: Sequence[CandidateResult]) -> str:
    """Number of weak operators among all; empty if there is none."""
    weak = weak_operators(results)
    if not weak:
        return ""
    return f"{len(weak)} of {operators_in(results)} operators accept some wrong candidates"
