"""Fixtures that the tests of this folder share."""

from __future__ import annotations

from types import ModuleType

import pytest

from engine.model import (
    Candidate,
    Plan,
    Tier,
)


@pytest.fixture
def candidate(fakes: ModuleType) -> Candidate:
    return Candidate(source=fakes.SOURCE, problem="aten::softmax", filename="softmax.py")


@pytest.fixture
def plan(fakes: ModuleType) -> Plan:
    problem = fakes.softmax_problem()
    return Plan.for_tiers(problem, tiers=(Tier.SMOKE, Tier.FULL), device="cpu", target="sm_90")
