"""Progress of a model: operators solved, or speed-up, against the spending per operator.  Pure functions.

The point (x, y) means that y was reached with at most x spent per operator.  Answers for an operator count in the order
of their requests, and its cost includes lost requests.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.model.counts import counted
from kgtui.generation.comparing.comparison import Cell, ModelComparison, is_attempt
from kgtui.generation.comparing.rates import best_speedup, is_correct
from kgtui.generation.comparing.statistics import Average, average, mean


class Quantity(enum.StrEnum):
    """Quantity of a curve, over the operators with an answer."""

    SOLVED = "solved operators"
    """Share of them with a correct answer, from 0 to 1."""
    SPEEDUP = "speed-up (all)"
    """Geometric mean of their best speed-ups; a failure counts as the baseline, or as that mean if it is lower."""


class Spent(enum.StrEnum):
    """Quantity that a curve is plotted against, for each operator."""

    ANSWERS = "answers"
    COST = "cost"
    """In microusd."""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """The points of one model in ascending order of x; if there are none, `why` is the reason."""

    model: str
    points: tuple[tuple[float, float], ...]
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class _Step:
    """Result for one operator when `spent` was spent on it."""

    spent: float
    cell: int
    solved: bool
    speedup: float | None


def curves_of(comparison: ModelComparison, quantity: Quantity, spent: Spent) -> tuple[Curve, ...]:
    """A curve for each model."""
    return tuple(
        curve_of(model, [cell for cell in comparison.cells if cell.model == model], quantity, spent)
        for model in comparison.models
    )


def curve_of(model: str, cells: Sequence[Cell], quantity: Quantity, spent: Spent) -> Curve:
    """The curve over the operators of these cells that have an answer; no points if a cost is unknown."""
    tried = [cell for cell in cells if cell.attempts]
    if not tried:
        return Curve(model=model, points=(), why="no verdict")
    unpriced = sum(cell.cost.unpriced for cell in tried)
    if spent is Spent.COST and unpriced:
        return Curve(model=model, points=(), why=f"the cost of {counted(unpriced, 'answer')} is unknown")
    if quantity is Quantity.SPEEDUP and all(cell.speedup is None for cell in tried):
        return Curve(model=model, points=(), why="no speed-up")
    steps = sorted(_steps(tried, spent), key=lambda step: step.spent)
    if spent is Spent.COST and not steps[-1].spent:
        return Curve(model=model, points=(), why="free of charge")
    return Curve(model=model, points=_points(steps, quantity, cells=len(tried)))


def _steps(cells: Sequence[Cell], spent: Spent) -> Iterator[_Step]:
    for place, cell in enumerate(cells):
        paid = 0
        attempts = 0
        for row in cell.requests:
            paid += row.cost_microusd or 0
            attempts += is_attempt(row)
            so_far = cell.attempts[:attempts]
            yield _Step(
                spent=paid if spent is Spent.COST else attempts,
                cell=place,
                solved=any(map(is_correct, so_far)),
                speedup=best_speedup(so_far),
            )


def _points(steps: Sequence[_Step], quantity: Quantity, *, cells: int) -> tuple[tuple[float, float], ...]:
    """The value at 0 and after each step; of steps at one x only the last."""
    solved: list[bool] = [False] * cells
    speedups: list[float | None] = [None] * cells
    points: dict[float, float] = {0.0: 1.0 if quantity is Quantity.SPEEDUP else 0.0}
    for step in steps:
        solved[step.cell] = step.solved
        speedups[step.cell] = step.speedup
        value = average(speedups, Average.WITH_FAILURES) if quantity is Quantity.SPEEDUP else mean(solved)
        points[float(step.spent)] = value or 0.0
    return tuple(points.items())
