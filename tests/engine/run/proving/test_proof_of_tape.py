"""A tape that is wrong on new inputs is tried on its own."""

from __future__ import annotations

from typing import cast

import pytest

from engine.model import Case, DType, Tier
from engine.model.proof import CaseProof, Gap
from engine.run.proving.proof_of_tape import TapedCase, Tried, try_on_other_inputs
from engine.run.proving.replays import Replayed, Replays
from tests.engine.replay.tapes import launched, tape, vector

CASE = Case(name="a", dtype=DType.FLOAT32, tier=Tier.FULL, params={})
TAPED = TapedCase(case=CASE, tape=tape(launched(vector(0), vector(1))), kernels=())
MISMATCH = "return: 3 of 6 wrong"
WRONG = Tried(
    proof=CaseProof(case="a", gap=Gap.NOT_REPRODUCED, reason="no step gives the answer"),
    replayed=Replayed(mismatch=MISMATCH, moved_bytes=0, foreign=(), by_kernels=True),
)
MEMORY = Tried(proof=CaseProof(case="a", gap=Gap.MEMORY, reason="24 bytes"), replayed=WRONG.replayed)
PROVEN = Tried(proof=CaseProof(case="a"))


@pytest.mark.parametrize(
    ("on_others", "on_own", "gap", "seeds"),
    [
        (PROVEN, PROVEN, None, [None]),
        (MEMORY, PROVEN, Gap.MEMORY, [None]),
        (WRONG, WRONG, Gap.NOT_REPRODUCED, [None, 7]),
        (WRONG, PROVEN, Gap.OTHER_INPUTS, [None, 7]),
    ],
    ids=["right", "memory", "wrong on its own too", "right on its own"],
)
async def test_gap_depends_on_the_own_inputs(
    monkeypatch: pytest.MonkeyPatch, on_others: Tried, on_own: Tried, gap: Gap | None, seeds: list[int | None]
) -> None:
    asked: list[int | None] = []

    async def replay(replays: Replays, taped: TapedCase, *, seed: int | None = None) -> Tried:
        asked.append(seed)
        return on_others if seed is None else on_own

    monkeypatch.setattr("engine.run.proving.proof_of_tape.try_to_prove", replay)
    tried = await try_on_other_inputs(cast("Replays", None), TAPED, own_seed=7)
    assert (tried.proof.gap, asked) == (gap, seeds)
    assert (MISMATCH in tried.proof.reason) is (gap is Gap.OTHER_INPUTS)
