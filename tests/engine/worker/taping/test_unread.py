"""Writes that the next one makes superfluous are found; those that a step may have read are not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine.protocol.proof.tape import Addressed, Filled, Given, LookedUp, Moved, Step
from engine.worker.taping.unread import UnreadWrites
from tests.engine.replay.tapes import launched, vector

ZEROED, FILLED = Filled(target=vector(1), element=bytes(4)), Filled(target=vector(1), element=b"\1\1\1\1")
COPIED = Moved(target=vector(1), source=vector(0))
READ = Moved(target=vector(2), source=vector(1))
PART = Filled(target=vector(1, elements=2), element=bytes(4))


@pytest.mark.parametrize(
    ("steps", "covered"),
    [
        ((ZEROED, FILLED), ZEROED),
        ((COPIED, ZEROED), COPIED),
        ((ZEROED, Filled(target=vector(2), element=bytes(4)), COPIED), ZEROED),
        ((ZEROED, READ, FILLED), None),
        ((ZEROED, LookedUp(target=vector(3), source=vector(0), positions=vector(1), dimension=0), FILLED), None),
        ((ZEROED, launched(vector(1), vector(2)), FILLED), None),
        ((ZEROED, Given(storage=2, reads=(1,)), FILLED), None),
        ((ZEROED, Given(storage=1), FILLED), None),
        ((ZEROED, Addressed(storage=2, words=(0,)), FILLED), None),
        ((PART, ZEROED), None),
        ((ZEROED, PART, FILLED), None),
        ((ZEROED, Moved(target=vector(1), source=vector(1, dtype="int32"))), None),
    ],
    ids=[
        "fills", "move and fill", "others between", "moved", "looked up", "launch", "operator", "replaced", "addresses",
        "part", "part between", "onto itself",
    ],
)  # fmt: skip
def test_covered_write_that_nothing_read_is_found(steps: Sequence[Step], covered: Step | None) -> None:
    unread = UnreadWrites()
    assert [unread.covered_by(step) for step in steps] == [*[None] * (len(steps) - 1), covered]
