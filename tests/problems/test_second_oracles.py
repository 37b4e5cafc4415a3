"""Every reference equals an independent second implementation, which its problem states."""

from __future__ import annotations

import pytest

from problems.catalogue import Catalogue
from problems.rules.trial import Trial
from tests.operators import NAMES, described
from tests.problems.oracles.registry import ORACLES


def test_every_operator_has_a_second_oracle() -> None:
    assert set(ORACLES) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_reference_agrees_with_its_second_oracle(name: str) -> None:
    trial = Trial(Catalogue().load(name), described(name))
    assert ORACLES[name].differences(trial) == []


def test_problems_state_the_second_oracles_that_run() -> None:
    assert {name: described(name).second_oracle for name in NAMES} == {
        name: oracle.source for name, oracle in ORACLES.items()
    }
