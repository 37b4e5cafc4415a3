"""The groups of an operator for metrics: its source, and its category."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from engine.problem_source import ProblemDescription

GroupsOf: TypeAlias = "Callable[[str], tuple[str, ...]]"


def source_of(problem: str) -> tuple[str, ...]:
    """The source of an operator, such as "aten", from its name; for a suite's task also its level or category.

    "kernelbench::level1/23_Softmax" is of "kernelbench" and of "kernelbench::level1".
    """
    level, is_task, _ = problem.rpartition("/")
    source = problem.partition("::")[0]
    return (source, level) if is_task else (source,)


def groups_from(descriptions: Iterable[ProblemDescription]) -> GroupsOf:
    """Function from the name of an operator to its source and, if it is described, its category.

    A suite's category is named with its source, and left out if it equals the level.
    """
    category_by_name = {
        one.name: f"{one.library}::{one.category}" if one.reference else str(one.category) for one in descriptions
    }

    def groups_of(problem: str) -> tuple[str, ...]:
        named = source_of(problem)
        category = category_by_name.get(problem)
        return named if category is None or category in named else (*named, category)

    return groups_of
