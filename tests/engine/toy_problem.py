"""A problem of which nothing is computed: for tests of what the parent does with any problem."""

from __future__ import annotations

from engine.model import Case, Cost, Problem, ProblemDefinition, Tolerance

_ONE = Cost(flops=1, bytes_read=1, bytes_written=1)


def never(*_: object) -> object:
    """Fail: the parent makes no tensors."""
    raise AssertionError("the parent makes no tensors")


def toy_problem(*cases: Case, cost: Cost = _ONE) -> Problem:
    """toy::twice of the source "toy_problems" with these cases, no tolerance, and the same cost for each case."""
    return ProblemDefinition(
        name="toy::twice",
        entry="f",
        signature="f(x: Tensor) -> Tensor",
        summary="",
        category="toy",
        cases=cases,
        make_inputs=never,
        reference=never,
        eager=never,
        tolerance=lambda _: Tolerance(relative=0.0, absolute=0.0),
        cost=lambda _: cost,
    ).problem("toy_problems")
