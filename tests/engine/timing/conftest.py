"""The fixture of a benchmark on a simulated device.

The simulation knows the true times and keeps the commands that it got; it has no part of how the parent orders
measurements.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.timing.lab import Lab
from tests.engine.timing.simulated_device import Clock, Machine, Script
from tests.engine.timing.simulated_judge import Judge
from tests.engine.timing.simulated_worker import Worker

MakeLab = Callable[..., Lab]


@pytest.fixture
def make_lab() -> MakeLab:
    """A lab: how the candidate behaves, and by name how the baselines and the machine do."""

    def make(
        *,
        baselines: dict[str, dict[str, Any]] | None = None,
        machine: dict[str, Any] | None = None,
        seed: int = 7,
        **candidate: Any,
    ) -> Lab:
        known = {"eager": {"device_us": 40.0}} if baselines is None else baselines
        simulated = Machine(clock=Clock(), rng=random.Random(seed), **(machine or {}))
        judge = Judge(simulated, {name: Script(**script) for name, script in known.items()})
        return Lab(device=simulated, judge=judge, worker=Worker(simulated, Script(**candidate)), seed=seed)

    return make
