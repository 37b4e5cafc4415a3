"""One candidate's own worker: there once the candidate is loaded in it, and not before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine import wire
from engine.desk import Desk, LoadError
from engine.model import Candidate, Limits

if TYPE_CHECKING:
    from tests.engine.conftest import Employ


async def test_a_worker_that_did_not_load_is_not_called(employ: Employ) -> None:
    _, staff = employ(lambda kind, command: wire.Failed(id=command.id, kind=wire.FailureKind.RAISED, message="no"))
    candidate = Candidate(source=b"", problem="toy::twice")
    desk = Desk(candidate=candidate, entry="f", spare=staff.worker, limits=Limits(), on_log=lambda *_: None)
    with pytest.raises(LoadError):
        await desk.load()
    assert not desk.occupied
    await desk.clear()
