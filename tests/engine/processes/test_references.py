"""The reference process of the problem in hand: kept for the same problem, replaced for another and after a fault."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine import protocol
from engine.model import ProblemId
from tests.engine.conftest import FakeForkServer

if TYPE_CHECKING:
    from tests.engine.conftest import Employ

ONE, OTHER = (ProblemId(source="s", name=name) for name in ("one", "other"))
ATTACHED = "attached"


def attaching(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply:
    if isinstance(command, protocol.AttachReference) and command.problem == ONE:
        return protocol.ReferenceAttached(id=command.id, notes=(ATTACHED,))
    return protocol.Failed(id=command.id, kind=protocol.FailureKind.PROBLEM, message="broken")


async def test_same_problem_keeps_its_process(employ: Employ) -> None:
    fake, pool = employ(attaching)
    for _ in range(2):
        reply = await pool.references.attach(ONE)
        assert isinstance(reply, protocol.ReferenceAttached) and reply.notes == (ATTACHED,)
    assert fake.forked == ["judge", "reference"]


async def test_another_problem_gets_another_process(employ: Employ) -> None:
    fake, pool = employ(attaching)
    await pool.references.attach(ONE)
    assert isinstance(await pool.references.attach(OTHER), protocol.Failed)
    await pool.references.attach(ONE)
    assert fake.forked == ["judge", "reference", "reference", "reference"]


@pytest.mark.parametrize("dies", [True, False], ids=["died", "faulty"])
async def test_process_replaced_after_a_fault(employ: Employ, dies: bool) -> None:
    fake, pool = employ(attaching)
    await pool.references.attach(ONE)
    if dies:
        fake.die(fake.youngest)
    else:
        await pool.ask_judge(protocol.Release(id=protocol.new_id()))
    await pool.references.attach(ONE)
    assert fake.forked == ["judge", "reference", "reference"]


async def test_reply_of_dead_process_names_signal(employ: Employ) -> None:
    fake, pool = employ(attaching)
    await pool.references.attach(ONE)
    fake.die(fake.youngest)
    reply = await pool.ask_judge(protocol.Release(id=protocol.new_id()))
    assert isinstance(reply, protocol.Failed) and reply.message == "broken (signal 9)"


async def test_reference_is_forked_by_own_server(employ: Employ) -> None:
    own = FakeForkServer(attaching)
    fake, pool = employ(attaching, references=own)
    await pool.references.attach(ONE)
    assert (fake.forked, own.forked) == (["judge"], ["reference"])


async def test_libraries_not_imported_ahead_are_noted(employ: Employ) -> None:
    fake, pool = employ(attaching)
    fake.not_preloaded = "it has 2 threads"
    reply = await pool.references.attach(ONE)
    assert isinstance(reply, protocol.ReferenceAttached)
    assert reply.notes[1:] == (
        "opening a reference takes longer: its libraries could not be imported ahead (it has 2 threads)",
    )
