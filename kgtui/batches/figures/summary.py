"""The summary of a batch: rates of all candidates, by library or level, and by category.  Pure functions of results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kgtui.batches.figures.agreement import Agreements, agreements_of
from kgtui.batches.figures.headline import Headline, headlines
from kgtui.batches.figures.weak_operators import WeakOperator, operators_in, weak_operators
from kgtui.batches.results import CandidateResult, Counts, counts_of
from kgtui.generation.comparing.rates import Rates, is_counted, rates_of

ALL = "all"


@dataclass(frozen=True, kw_only=True)
class Group:
    """The candidates of one library, level or category; `not_counted` of them have no verdict."""

    kind: str
    name: str
    candidates: int
    not_counted: int
    counts: Counts
    rates: Rates
    agreements: Agreements


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Everything that a report shows; the first of the groups has all candidates.

    `operators` have a candidate; those in `weak` accept some wrong candidates.
    """

    groups: tuple[Group, ...]
    headlines: tuple[Headline, ...]
    operators: int
    weak: tuple[WeakOperator, ...]

    @property
    def all(self) -> Group:
        """The group of all candidates."""
        return self.groups[0]


def summary_of(results: Sequence[CandidateResult]) -> Summary:
    """The summary of these results; a kind of grouping with only one group is left out.

    So is a category with the same candidates and name as a level of a suite.
    """
    groups = [group_of(ALL, ALL, results)]
    for kind, name_of in _KINDS:
        names = sorted({name_of(result) for result in results if result.problem})
        if len(names) > 1:
            made = [group_of(kind, name, [one for one in results if name_of(one) == name]) for name in names]
            groups += [group for group in made if not any(_is_same(group, other) for other in groups)]
    return Summary(
        groups=tuple(groups),
        headlines=headlines(results),
        operators=operators_in(results),
        weak=weak_operators(results),
    )


def _is_same(category: Group, level: Group) -> bool:
    """Whether a category equals a level whose name ends with its name: "Loss", "kernelbenchx Loss"."""
    return level.name.endswith(f" {category.name}") and level.candidates == category.candidates


def group_of(kind: str, name: str, results: Sequence[CandidateResult]) -> Group:
    """The rates of these results, operator by operator."""
    counted = [result for result in results if result.problem and is_counted(result)]
    by_problem: dict[str, list[CandidateResult]] = {}
    for result in counted:
        by_problem.setdefault(result.problem, []).append(result)
    return Group(
        kind=kind,
        name=name,
        candidates=len(results),
        not_counted=len(results) - len(counted),
        counts=counts_of(results),
        rates=rates_of(list(by_problem.values())),
        agreements=agreements_of(results),
    )


_KINDS: tuple[tuple[str, Callable[[CandidateResult], str]], ...] = (
    ("library", lambda result: result.library),
    ("category", lambda result: str(result.category or "unknown")),
)
