"""The cases that an audit looks at: those with drawn inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.suites.audits.cases import audited_cases


def problem(make_inputs: Callable[[Case, torch.Generator], Any], *names: str) -> ProblemDefinition:
    return ProblemDefinition(
        name="toy::twice",
        entry="f",
        signature="f(x: Tensor) -> Tensor",
        summary="",
        category=Category.OTHER,
        cases=tuple(Case(name=name, dtype=DType.FLOAT32, tier=Tier.FULL, params={}) for name in names),
        make_inputs=make_inputs,
        reference=lambda x: x,
        eager=lambda x: x,
        tolerance=lambda _: Tolerance(relative=0.0, absolute=0.0),
        cost=lambda _: Cost(flops=1, bytes_read=1, bytes_written=1),
    )


def drawn_unless_literal(case: Case, rng: torch.Generator) -> tuple[torch.Tensor]:
    return (torch.ones(4) if case.name.startswith("literal") else torch.rand(4, generator=rng),)


def test_cases_with_written_inputs_are_passed_over() -> None:
    found = audited_cases(problem(drawn_unless_literal, "literal 1", "a", "literal 2", "b", "c", "d"))
    assert [case.name for case in found] == ["a", "b", "c"]


def test_first_cases_are_audited_without_draw() -> None:
    found = audited_cases(problem(drawn_unless_literal, "literal 1", "literal 2", "literal 3", "literal 4"))
    assert [case.name for case in found] == ["literal 1", "literal 2", "literal 3"]
