"""Fixtures that the tests of this folder share."""

from __future__ import annotations

import pytest

from engine.model import (
    Candidate,
    Plan,
    Tier,
)
from tests.kgtui import fakes


@pytest.fixture
def candidate() -> Candidate:
    return Candidate(source=fakes.SOURCE, problem="aten::softmax", filename="softmax.py")


@pytest.fixture
def plan() -> Plan:
    problem = fakes.softmax_problem()
    return Plan.for_tiers(problem, tiers=(Tier.SMOKE, Tier.FULL), device="cpu", target="sm_90")
