"""All rules on one problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from engine.model import ProblemDefinition
from engine.problem_source import ProblemDescription
from problems.rules import answers, form, lies
from problems.rules.trial import Trial

Rule: TypeAlias = Callable[[Trial], Iterator[str]]

RULES: tuple[Rule, ...] = (
    form.formula,
    form.description,
    form.signature,
    form.tiers,
    form.arguments,
    form.card_memory,
    form.seeds,
    form.memory,
    form.layouts,
    form.strides,
    form.ranks,
    form.determinism,
    answers.repeatable_reference,
    answers.honest_eager,
    answers.margin,
    answers.least_scale,
    answers.written_only_content,
    answers.truncation,
    answers.cost,
    lies.rejected_lies,
    lies.rejected_mistakes,
    lies.private_copies_rejected,
    lies.reasons,
)


@dataclass(frozen=True, kw_only=True)
class Complaint:
    """A violation of a rule, as a sentence."""

    rule: str
    text: str


def complaints(problem: ProblemDefinition, described: ProblemDescription) -> tuple[Complaint, ...]:
    """Every violation of every rule; an exception raised within a rule, as by the problem's code, counts as one."""
    trial = Trial(problem, described)
    return tuple(found for rule in RULES for found in _of_rule(rule, trial))


def _of_rule(rule: Rule, trial: Trial) -> list[Complaint]:
    name = rule.__name__
    try:
        return [Complaint(rule=name, text=text) for text in rule(trial)]
    except Exception as error:  # boundary to a problem's own code, which may raise any exception
        return [Complaint(rule=name, text=f"raised {type(error).__name__}: {error}")]
