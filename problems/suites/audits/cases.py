"""Selection of the cases of a task for an audit."""

from __future__ import annotations

from itertools import islice

from engine.model import Case, ProblemDefinition
from engine.protocol.tensors import lay_out
from problems.rules.trial import QUICK_TIERS

_MOST_CASES, _MOST_DRAWN = 3, 24


def audited_cases(problem: ProblemDefinition) -> tuple[Case, ...]:
    """The first three cases whose inputs depend on the seed, or the first three of all if there is none.

    Literal inputs in a suite's test are not informative: the inputs of another seed have the same answer.
    """
    quick = [case for case in problem.cases if case.tier in QUICK_TIERS]
    drawn = islice((case for case in quick[:_MOST_DRAWN] if _is_drawn(problem, case)), _MOST_CASES)
    return tuple(drawn) or tuple(quick[:_MOST_CASES])


def _is_drawn(problem: ProblemDefinition, case: Case) -> bool:
    """Whether two seeds give different inputs."""
    import torch

    (specs, storages), (other_specs, others) = (
        lay_out(problem.make_inputs(case, torch.Generator().manual_seed(seed))) for seed in (1, 2)
    )
    return specs != other_specs or not all(map(torch.equal, storages, others))
