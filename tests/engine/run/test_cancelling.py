"""What must be done to its end is waited for, whatever is cancelled."""

from __future__ import annotations

import asyncio

import pytest

from engine.run.cancelling import to_its_end


async def test_a_cancelled_run_waits_until_its_clean_up_ended() -> None:
    ending, ended = asyncio.Event(), asyncio.Event()

    async def clean_up() -> None:
        await ending.wait()
        ended.set()

    waiting = asyncio.create_task(to_its_end(asyncio.create_task(clean_up())))
    for _ in range(2):  # cancelled twice
        await asyncio.sleep(0)
        waiting.cancel()
    await asyncio.sleep(0)
    assert not waiting.done()
    ending.set()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert ended.is_set()
