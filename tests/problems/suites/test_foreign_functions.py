"""The functions of a foreign problem, over a reference without a process."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from engine.errors import UnsupportedError
from engine.model import Case, DType, Precision, Tier
from problems.suites.definition import ForeignFunctions

CASE = Case(name="test 1", dtype=DType.FLOAT32, tier=Tier.FULL, params={})


class Doubling:
    """A reference that doubles its input, and records the seeds of its draws."""

    def __init__(self) -> None:
        self.seeds: list[tuple[int, int]] = []

    def draw(self, *, seed: int, weight_seed: int, case: str = "") -> tuple[torch.Tensor]:
        self.seeds.append((seed, weight_seed))
        return (torch.ones(4),)

    def expected(self, arguments: Any, precision: Precision, **options: object) -> tuple[torch.Tensor]:
        return (2 * arguments[0].to(torch.float64 if precision is Precision.DOUBLE else torch.float32),)


def test_every_run_calibrates_on_the_same_draw() -> None:
    one, other = Doubling(), Doubling()
    for reference in (one, other):
        ForeignFunctions(reference).calibrated(CASE)  # type: ignore[arg-type]  # the methods that calibrating uses
    assert one.seeds == other.seeds
    assert len(one.seeds) == 1


class Empty(Doubling):
    """A reference whose one output has no elements."""

    def expected(self, arguments: Any, precision: Precision, **options: object) -> tuple[torch.Tensor]:
        return (super().expected(arguments, precision)[0][:0],)


def test_task_with_empty_outputs_is_refused() -> None:
    functions = ForeignFunctions(Empty())  # type: ignore[arg-type]  # as above

    with pytest.raises(UnsupportedError, match="its outputs have no elements"):
        functions.calibrated(CASE)
    functions.calibrated(replace(CASE, params={"case": "one of several"}))
