"""Which case is prepared in advance: the one that is likely to follow, if it leaves memory for the candidate."""

from __future__ import annotations

from typing import cast

import pytest

from engine.model import Case, DType, Tier
from engine.run.ahead.dry_run import DryRun
from engine.run.ahead.readiness import Readiness

CASES = tuple(Case(name=name, dtype=DType.FLOAT32, tier=Tier.SMOKE, params={}) for name in "abc")
A, B, C = CASES


class _Dry:
    """A dry run in which some cases are ready, each with arguments of this size."""

    def __init__(self, ready: dict[str, int]) -> None:
        self._ready = ready

    def is_ready(self, case: Case) -> bool:
        return case.name in self._ready

    def bytes_of(self, case: Case) -> float:
        return self._ready[case.name]


def readiness(dry_run: _Dry | None, *, one_worker: bool = False) -> Readiness:
    made = Readiness(lambda: None, case_s=1.0, one_worker=one_worker)
    made.dry_run = cast("DryRun | None", dry_run)
    return made


def test_first_case_is_expected_next_without_dry_run() -> None:
    assert readiness(None).expected_next((B, C)) is B
    assert readiness(None).expected_next(()) is None


def test_no_case_is_expected_next_on_a_device_without_dry_run() -> None:
    assert readiness(None, one_worker=True).expected_next((B, C)) is None


@pytest.mark.parametrize(
    ("ready", "expected"),
    [({"b": 16, "c": 16}, B), ({}, None), ({"b": 64 << 20}, B), ({"b": (64 << 20) + 1, "c": 16}, None)],
    ids=["first of two ready", "none ready", "just small enough", "too large"],
)
def test_first_ready_case_is_expected_next_if_it_is_small(ready: dict[str, int], expected: Case | None) -> None:
    assert readiness(_Dry(ready)).expected_next(CASES) is expected
