"""The children of an engine by their jobs: one judge, and spares that are made again when they are lost."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from engine import outcomes
from engine.errors import EngineError
from engine.lodging import Lodging
from engine.model import Outcome

if TYPE_CHECKING:
    from tests.engine.conftest import Employ


async def test_two_that_want_the_judge_at_once_share_one(employ: Employ) -> None:
    fake, staff = employ()
    first, second = await asyncio.gather(staff.judge(), staff.judge())
    assert first is second
    assert fake.forked == ["judge"]


async def test_a_spare_that_died_while_it_waited_is_replaced(employ: Employ) -> None:
    fake, staff = employ()
    spare = await staff.worker.wait()
    fake.die(spare.child.pid)
    hand = await staff.worker.take()
    assert hand.child.alive
    await hand.dismiss()


async def test_a_worker_that_never_got_warm_is_our_fault(employ: Employ) -> None:
    fake, staff = employ()
    fake.ready = False
    with pytest.raises(EngineError) as refused:
        await staff.worker.take()
    assert outcomes.of_worker_error(refused.value, "while loading").outcome is Outcome.ENGINE_ERROR


async def test_a_spare_that_could_not_be_made_for_want_of_disk_is_tried_again(
    employ: Employ, lodging: Lodging, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full() -> None:
        raise OSError(28, "No space left on device")

    _, staff = employ()
    with monkeypatch.context() as disk:
        disk.setattr(lodging, "open_room", full)
        with pytest.raises(OSError, match="No space"):
            await staff.worker.take()
    hand = await staff.worker.take()
    assert hand.child.alive
    await hand.dismiss()
