"""The headline metric of each public suite by its published formula, over our verdicts.

The suite is identified by the library of its operators.  The formulas are those of the suites' own evaluation:
KernelBench and MultiKernelBench publish fast_1 over all problems with one sample each; TritonBench its execution
accuracy and the arithmetic mean of the speed-ups of correct kernels; flashinfer-trace win@1; GPU MODE ranks by the
geometric mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kgtui.batches.results import CandidateResult
from kgtui.generation.comparing.rates import best_speedup, is_correct, is_counted, share, speedup_of
from kgtui.generation.comparing.statistics import Average, average, mean


@dataclass(frozen=True, kw_only=True)
class Headline:
    """A suite's own number: `value` is None where it needs times that were not measured."""

    suite: str
    metric: str
    formula: str
    value: float | None
    is_share: bool


@dataclass(frozen=True, kw_only=True)
class _Formula:
    """A metric over the operators of a suite, each with its counted attempts."""

    metric: str
    formula: str
    value: Callable[[Sequence[Sequence[CandidateResult]]], float | None]
    is_share: bool = True


def headlines(results: Sequence[CandidateResult]) -> tuple[Headline, ...]:
    """The headline metrics of the suites in these results."""
    found = []
    for suite, formulas in FORMULAS.items():
        problems: dict[str, list[CandidateResult]] = {}
        for result in results:
            if result.problem.partition("::")[0] == suite and is_counted(result):
                problems.setdefault(result.problem, []).append(result)
        if problems:
            attempts = list(problems.values())
            found += [
                Headline(
                    suite=suite,
                    metric=one.metric,
                    formula=one.formula,
                    value=one.value(attempts),
                    is_share=one.is_share,
                )
                for one in formulas
            ]
    return tuple(found)


def _fast_1(problems: Sequence[Sequence[CandidateResult]]) -> float | None:
    """Share of all problems whose first sample is correct and faster than the reference."""
    if not _is_timed(problems):
        return None
    return share(sum(is_correct(some[0]) and speedup_of(some[0]) > 1 for some in problems), len(problems))


def _first_correct(problems: Sequence[Sequence[CandidateResult]]) -> float | None:
    return share(sum(is_correct(some[0]) for some in problems), len(problems))


def _mean_of_correct(problems: Sequence[Sequence[CandidateResult]]) -> float | None:
    return mean([speedup for some in problems if (speedup := best_speedup(some[:1])) is not None])


def _geometric_of_correct(problems: Sequence[Sequence[CandidateResult]]) -> float | None:
    return average(list(map(best_speedup, problems)), Average.GEOMETRIC)


def _win_1(problems: Sequence[Sequence[CandidateResult]]) -> float | None:
    """Share of all problems whose best attempt is faster than the reference."""
    if not _is_timed(problems):
        return None
    return share(sum((best_speedup(some) or 0.0) > 1 for some in problems), len(problems))


def _is_timed(problems: Sequence[Sequence[CandidateResult]]) -> bool:
    return any(best_speedup(some) is not None for some in problems)


_FAST_1 = _Formula(metric="fast_1", formula="correct and faster than the reference, of all problems", value=_fast_1)
_CORRECT = _Formula(metric="execution accuracy", formula="first samples that are correct", value=_first_correct)
_MEAN = _Formula(
    metric="mean speed-up", formula="arithmetic mean over correct first samples", value=_mean_of_correct,
    is_share=False,
)  # fmt: skip
FORMULAS: Mapping[str, tuple[_Formula, ...]] = {
    "kernelbench": (_FAST_1,),
    "multikernelbench": (_FAST_1,),
    "kernelbenchx": (_CORRECT, _MEAN),
    "tritonbench": (_CORRECT, _MEAN),
    "gpumode": (
        _Formula(
            metric="geometric mean", formula="geometric mean of the best correct speed-ups",
            value=_geometric_of_correct, is_share=False,
        ),
    ),
    "flashinfer": (_Formula(metric="win@1", formula="best sample faster than the reference", value=_win_1),),
}  # fmt: skip
