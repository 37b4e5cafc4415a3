"""Models by operators: the contents of each cell, and each model's metrics.  Pure functions of stored generations.

A flagged kernel counts as a failure, and so does an answer without code.  An error of kgtui (the engine failed, a run
was cancelled) is not counted as an attempt.  Unmeasured values are never counted as measured.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from kgtui.generation.comparing.groups import GroupsOf, source_of
from kgtui.generation.comparing.rates import Rates, correct_share, is_correct, is_counted, rates_of, speedup_of
from kgtui.generation.comparing.statistics import holm, mean, paired_p_value
from sessions.candidates.generation_rows import GenerationRow, GenerationState


@dataclass(frozen=True, kw_only=True)
class AnswerCost:
    """Sum of known costs, and number of answers of unknown cost."""

    microusd: int = 0
    unpriced: int = 0
    answers: int = 0

    @classmethod
    def of_all(cls, costs: Iterable[AnswerCost]) -> AnswerCost:
        """The cost of all these answers together."""
        known = list(costs)
        return cls(
            microusd=sum(cost.microusd for cost in known),
            unpriced=sum(cost.unpriced for cost in known),
            answers=sum(cost.answers for cost in known),
        )

    @property
    def known_microusd(self) -> int | None:
        """The sum; None if the cost of every answer is unknown."""
        return None if self.unpriced and self.unpriced == self.answers else self.microusd


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One model on one operator: its attempts in order, and the best of them, None if none passed.

    `requests` are all that may have been charged: the attempts, and those that were lost or have no verdict.
    """

    model: str
    problem: str
    requests: tuple[GenerationRow, ...]
    attempts: tuple[GenerationRow, ...]
    best: GenerationRow | None
    cost: AnswerCost

    @property
    def correct(self) -> int:
        """Number of attempts that passed without a flag."""
        return sum(map(is_correct, self.attempts))

    @property
    def speedup(self) -> float | None:
        """The best speed-up over eager; None if none passed or none was timed."""
        return self.best.run.speedup if self.best is not None and self.best.run is not None else None

    @property
    def word(self) -> str:
        """Result as a word: passed, flagged, the outcome of the last attempt, no code, not run."""
        if self.best is not None:
            return "passed"
        runs = [row.run for row in self.attempts if row.run is not None and row.run.outcome is not None]
        if any(run.flagged for run in runs):
            return "flagged"
        if runs:
            return str(runs[-1].outcome).replace("_", " ")
        return "no code" if self.attempts else "not run"


@dataclass(frozen=True, kw_only=True)
class Metrics:
    """A model over some operators; the costs per kernel are in microusd, None if unknown."""

    model: str
    group: str
    rates: Rates
    cost: AnswerCost
    microusd_for_correct: float | None
    microusd_for_faster: float | None


@dataclass(frozen=True, kw_only=True)
class PairedTest:
    """Whether two models differ over the operators that both tried; `p` is corrected for the number of tests."""

    first: str
    second: str
    quantity: str
    operators: int
    difference: float
    p: float | None


@dataclass(frozen=True, kw_only=True)
class ModelComparison:
    """The content of a report on models."""

    models: tuple[str, ...]
    problems: tuple[str, ...]
    cells: tuple[Cell, ...]
    metrics: tuple[Metrics, ...]
    by_group: tuple[Metrics, ...]
    tests: tuple[PairedTest, ...]

    @property
    def partial_groups(self) -> tuple[Metrics, ...]:
        """The metrics of groups that do not contain all operators of their model."""
        operators = {metrics.model: metrics.rates.operators for metrics in self.metrics}
        return tuple(one for one in self.by_group if 0 < one.rates.operators < operators[one.model])

    def cell(self, model: str, problem: str) -> Cell | None:
        """The cell of a model and an operator."""
        return next((cell for cell in self.cells if (cell.model, cell.problem) == (model, problem)), None)


def comparison_of(rows: Sequence[GenerationRow], *, groups_of: GroupsOf = source_of) -> ModelComparison:
    """The comparison of these generations; `groups_of` names the groups of an operator, such as source and category."""
    counted = [row for row in rows if row.state in (GenerationState.SETTLED, GenerationState.LOST)]
    models = tuple(sorted({row.model_name for row in counted}))
    problems = tuple(sorted({row.problem for row in counted}))
    by_place: dict[tuple[str, str], list[GenerationRow]] = {}
    for row in counted:
        by_place.setdefault((row.model_name, row.problem), []).append(row)
    cells = tuple(
        cell_of(by_place.get((model, problem), []), model, problem) for problem in problems for model in models
    )
    groups = tuple(sorted({group for problem in problems for group in groups_of(problem)}))
    return ModelComparison(
        models=models,
        problems=problems,
        cells=cells,
        metrics=tuple(metrics_of(model, "all", _of(cells, model)) for model in models),
        by_group=tuple(
            metrics_of(model, group, [cell for cell in _of(cells, model) if group in groups_of(cell.problem)])
            for group in groups
            for model in models
        ),
        tests=paired_tests(models, cells),
    )


def cell_of(rows: Sequence[GenerationRow], model: str, problem: str) -> Cell:
    """Summary of the answers of one model for one operator."""
    attempts = tuple(filter(is_attempt, rows))
    correct = [row for row in attempts if is_correct(row)]
    best = max(correct, key=speedup_of, default=None)
    cost = AnswerCost(
        microusd=sum(row.cost_microusd or 0 for row in rows),
        unpriced=sum(row.cost_microusd is None for row in rows),
        answers=len(rows),
    )
    return Cell(model=model, problem=problem, requests=tuple(rows), attempts=attempts, best=best, cost=cost)


def is_attempt(row: GenerationRow) -> bool:
    """Whether it has an answer with a verdict."""
    return row.state is GenerationState.SETTLED and is_counted(row)


def metrics_of(model: str, group: str, cells: Sequence[Cell]) -> Metrics:
    """The metrics of one model over these cells; cells without an attempt are left out."""
    rates = rates_of([cell.attempts for cell in cells])
    cost = AnswerCost.of_all(cell.cost for cell in cells)
    faster = sum(is_correct(row) and speedup_of(row) > 1 for cell in cells for row in cell.attempts)
    return Metrics(
        model=model,
        group=group,
        rates=rates,
        cost=cost,
        microusd_for_correct=_each(cost, sum(cell.correct for cell in cells)),
        microusd_for_faster=_each(cost, faster) if rates.speedup_all is not None else None,
    )


def paired_tests(models: Sequence[str], cells: Sequence[Cell]) -> tuple[PairedTest, ...]:
    """Correctness and speed-up of every two models over common operators, corrected by Holm for all of them."""
    by_place = {(cell.model, cell.problem): cell for cell in cells if cell.attempts}
    tests: list[PairedTest] = []
    for first, second in itertools.combinations(models, 2):
        both = [
            (cell, by_place[second, problem])
            for (model, problem), cell in by_place.items()
            if model == first and (second, problem) in by_place
        ]
        tests.append(
            _test(first, second, "correct", [correct_share(a.attempts) - correct_share(b.attempts) for a, b in both])
        )
        if any(cell.speedup is not None for pair in both for cell in pair):
            tests.append(_test(first, second, "log speed-up", [_log(a) - _log(b) for a, b in both]))
    corrected = holm([test.p for test in tests])
    return tuple(replace(test, p=p) for test, p in zip(tests, corrected, strict=True))


def _test(first: str, second: str, quantity: str, differences: Sequence[float]) -> PairedTest:
    return PairedTest(
        first=first,
        second=second,
        quantity=quantity,
        operators=len(differences),
        difference=mean(differences) or 0.0,
        p=paired_p_value(differences),
    )


def _of(cells: Sequence[Cell], model: str) -> list[Cell]:
    return [cell for cell in cells if cell.model == model]


def _log(cell: Cell) -> float:
    """The logarithm of the best speed-up; 0 for a failure, which counts as the baseline."""
    return math.log(cell.speedup) if cell.speedup is not None else 0.0


def _each(cost: AnswerCost, kernels: int) -> float | None:
    """The cost per kernel; None if there is no kernel, or some of the cost is unknown."""
    return cost.microusd / kernels if kernels and not cost.unpriced else None
