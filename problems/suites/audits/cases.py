"""The cases of a task that an audit uses."""

from __future__ import annotations

from itertools import islice

from engine.model import Case, ProblemDefinition
from engine.protocol.tensors import lay_out
from problems.rules.trial import QUICK_TIERS

_MOST_CASES, _MOST_DRAWN = 3, 24


def audited_cases(problem: ProblemDefinition) -> tuple[Case, ...]:
    """The first three cases whose inputs depend on the seed; the first three of all where there is none.

    Inputs that a suite's test writes out show nothing: the answer to other inputs is the same answer.
    """
    quick = [case for case in problem.cases if case.tier in QUICK_TIERS]
    drawn = islice((case for case in quick[:_MOST_DRAWN] if _is_drawn(problem, case)), _MOST_CASES)
    return tuple(drawn) or tuple(quick[:_MOST_CASES])


def _is_drawn(problem: ProblemDefinition, case: Case) -> bool:
    """Whether two seeds make different inputs."""
    import torch

    (specs, storages), (other_specs, others) = (
        lay_out(problem.make_inputs(case, torch.Generator().manual_seed(seed))) for seed in (1, 2)
    )
    return specs != other_specs or not all(map(torch.equal, storages, others))
