"""Models by operators: what each cell holds, and each model's metrics.  Pure functions of stored generations.

A flagged kernel counts as a failure, an answer without code too.  A verdict that is ours (the engine failed, a run was
cancelled) counts as no attempt.  Nothing that was not measured is counted as if it were.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from engine.model import Outcome
from engine.model.benchmark import Interval
from kgtui.generation.comparing.statistics import (
    bootstrap,
    geometric_mean,
    holm,
    mean,
    mean_with_failures,
    paired_p_value,
    pass_at_k,
)
from sessions.generation_rows import GenerationRow, GenerationState

THRESHOLDS = (0.0, 0.5, 0.8, 1.0, 1.5, 2.0)
_KS = (1, 5, 10)
_OURS = (Outcome.CANCELLED, Outcome.ENGINE_ERROR, Outcome.UNSUPPORTED)


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Known costs summed, and how many answers have none that is known."""

    microusd: int = 0
    unpriced: int = 0
    answers: int = 0

    @property
    def known_microusd(self) -> int | None:
        """The sum; None where every answer is of unknown cost."""
        return None if self.unpriced and self.unpriced == self.answers else self.microusd


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One model on one operator: its attempts in their order, and the best of them, None where none passed."""

    model: str
    problem: str
    attempts: tuple[GenerationRow, ...]
    best: GenerationRow | None
    cost: Cost

    @property
    def correct(self) -> int:
        """How many attempts passed without a flag."""
        return sum(map(is_correct, self.attempts))

    @property
    def speedup(self) -> float | None:
        """The best one over eager; None where none passed or none was timed."""
        return self.best.run.speedup if self.best is not None and self.best.run is not None else None

    @property
    def word(self) -> str:
        """What came of it: passed, flagged, the outcome of the last attempt, no code, not run."""
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
    """A model over some operators; a number is None where it was not measured.

    `pass_at` has pass@k by k, `fast` fast_p by p; `speedup_correct` is over the operators that it solved,
    `speedup_all` over all of them, a failure as the baseline.  The costs for one kernel are in microusd.
    """

    model: str
    group: str
    operators: int
    attempts: int
    with_code: float | None
    compiled: float | None
    correct: Interval | None
    pass_at: Mapping[int, Interval]
    fast: Mapping[float, Interval]
    speedup_correct: Interval | None
    speedup_all: Interval | None
    cost: Cost
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
class Comparison:
    """Everything that a report shows."""

    models: tuple[str, ...]
    problems: tuple[str, ...]
    cells: tuple[Cell, ...]
    metrics: tuple[Metrics, ...]
    by_group: tuple[Metrics, ...]
    tests: tuple[PairedTest, ...]

    def cell(self, model: str, problem: str) -> Cell | None:
        """The cell of a model and an operator."""
        return next((cell for cell in self.cells if (cell.model, cell.problem) == (model, problem)), None)


def comparison_of(
    rows: Sequence[GenerationRow], *, group_of: Callable[[str], str] = lambda problem: problem.partition("::")[0]
) -> Comparison:
    """The comparison of these generations; `group_of` names the source or category of an operator."""
    counted = [row for row in rows if row.state in (GenerationState.SETTLED, GenerationState.LOST)]
    models = tuple(dict.fromkeys(row.model_name for row in counted))
    problems = tuple(sorted({row.problem for row in counted}))
    cells = tuple(
        cell_of([row for row in counted if (row.model_name, row.problem) == (model, problem)], model, problem)
        for problem in problems
        for model in models
    )
    groups = tuple(sorted({group_of(problem) for problem in problems}))
    return Comparison(
        models=models,
        problems=problems,
        cells=cells,
        metrics=tuple(metrics_of(model, "all", _of(cells, model)) for model in models),
        by_group=tuple(
            metrics_of(model, group, [cell for cell in _of(cells, model) if group_of(cell.problem) == group])
            for group in groups
            for model in models
        ),
        tests=paired_tests(models, cells),
    )


def cell_of(rows: Sequence[GenerationRow], model: str, problem: str) -> Cell:
    """What the answers of one model for one operator come to."""
    attempts = tuple(row for row in rows if row.state is GenerationState.SETTLED and not _is_ours(row))
    correct = [row for row in attempts if is_correct(row)]
    best = max(correct, key=lambda row: (row.run.speedup if row.run else None) or 0.0, default=None)
    cost = Cost(
        microusd=sum(row.cost_microusd or 0 for row in rows),
        unpriced=sum(row.cost_microusd is None for row in rows),
        answers=len(rows),
    )
    return Cell(model=model, problem=problem, attempts=attempts, best=best, cost=cost)


def is_correct(row: GenerationRow) -> bool:
    """Whether an answer passed without a flag."""
    return row.run is not None and row.run.outcome is Outcome.PASS and not row.run.flagged


def metrics_of(model: str, group: str, cells: Sequence[Cell]) -> Metrics:
    """The metrics of one model over these cells; those without an attempt are left out."""
    tried = [cell for cell in cells if cell.attempts]
    attempts = [row for cell in tried for row in cell.attempts]
    with_code = [row for row in attempts if row.digest is not None]
    cost = Cost(
        microusd=sum(cell.cost.microusd for cell in cells),
        unpriced=sum(cell.cost.unpriced for cell in cells),
        answers=sum(cell.cost.answers for cell in cells),
    )
    correct = sum(cell.correct for cell in tried)
    faster = sum(is_correct(row) and _speedup(row) > 1 for row in attempts)
    is_timed = any(cell.speedup is not None for cell in tried)
    best = [cell.speedup for cell in tried]
    return Metrics(
        model=model,
        group=group,
        operators=len(tried),
        attempts=len(attempts),
        with_code=_share(len(with_code), len(attempts)),
        compiled=_share(sum(map(_compiled, with_code)), len(attempts)),
        correct=_over(tried, lambda cell: cell.correct / len(cell.attempts)),
        pass_at={k: value for k in _KS if (value := _pass_at(tried, k)) is not None},
        fast={p: value for p in THRESHOLDS if (value := _fast(tried, p, is_timed=is_timed)) is not None},
        speedup_correct=bootstrap(best, _mean_of_known) if is_timed else None,
        speedup_all=bootstrap(best, mean_with_failures) if is_timed else None,
        cost=cost,
        microusd_for_correct=_each(cost, correct),
        microusd_for_faster=_each(cost, faster) if is_timed else None,
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
        tests.append(_test(first, second, "correct", [_correct_share(a) - _correct_share(b) for a, b in both]))
        if any(cell.speedup is not None for pair in both for cell in pair):
            tests.append(_test(first, second, "log speed-up", [_log(a) - _log(b) for a, b in both]))
    corrected = holm([test.p for test in tests])
    return tuple(
        PairedTest(
            first=test.first,
            second=test.second,
            quantity=test.quantity,
            operators=test.operators,
            difference=test.difference,
            p=p,
        )
        for test, p in zip(tests, corrected, strict=True)
    )


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


def _is_ours(row: GenerationRow) -> bool:
    """Whether the engine gave no verdict on it: not run, cancelled, or a fault of ours."""
    if row.digest is None:
        return False
    return row.run is None or row.run.outcome is None or row.run.outcome in _OURS


def _compiled(row: GenerationRow) -> bool:
    return row.run is not None and row.run.outcome is not Outcome.COMPILE_ERROR


def _speedup(row: GenerationRow) -> float:
    """0 where it was not timed, which is above no threshold."""
    return (row.run.speedup if row.run is not None else None) or 0.0


def _correct_share(cell: Cell) -> float:
    return cell.correct / len(cell.attempts)


def _log(cell: Cell) -> float:
    """The logarithm of the best speed-up; a failure counts as the baseline."""
    return math.log(cell.speedup) if cell.speedup is not None else 0.0


def _pass_at(cells: Sequence[Cell], k: int) -> Interval | None:
    return _over(
        [cell for cell in cells if len(cell.attempts) >= k],
        lambda cell: pass_at_k(samples=len(cell.attempts), correct=cell.correct, k=k),
    )


def _fast(cells: Sequence[Cell], p: float, *, is_timed: bool) -> Interval | None:
    """The share of answers that are correct and more than `p` times as fast; None where nothing was timed."""
    if p == 0:
        return _over(cells, _correct_share)
    if not is_timed:
        return None
    return _over(
        cells,
        lambda cell: sum(is_correct(row) and _speedup(row) > p for row in cell.attempts) / len(cell.attempts),
    )


def _over(cells: Sequence[Cell], value: Callable[[Cell], float]) -> Interval | None:
    return bootstrap([value(cell) for cell in cells], _mean_of_all) if cells else None


def _mean_of_all(values: Sequence[float | None]) -> float | None:
    return mean([value for value in values if value is not None])


def _mean_of_known(values: Sequence[float | None]) -> float | None:
    return geometric_mean([value for value in values if value is not None])


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _each(cost: Cost, kernels: int) -> float | None:
    """The cost of one kernel; None where there is none, or some of the cost is unknown."""
    return cost.microusd / kernels if kernels and not cost.unpriced else None
