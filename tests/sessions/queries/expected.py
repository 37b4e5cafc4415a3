"""Values that the tests of several queries compare with."""

from __future__ import annotations

from engine.model import Outcome

TWO_PASSED = {"a": Outcome.PASS, "b": Outcome.PASS}


def ids(runs) -> list[int]:
    """The ids of these runs, in their order."""
    return [run.id for run in runs]
