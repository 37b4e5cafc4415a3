"""The parent's end of one child: its pipes, its late words, its last ones."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import pytest

from engine import protocol
from engine.errors import ChildDiedError
from engine.model import ProblemId
from tests.descriptors import open_files

if TYPE_CHECKING:
    from tests.engine.conftest import Employ

RELEASE = protocol.Release(id="a")


async def test_late_reply_to_cancelled_command_is_ignored(employ: Employ) -> None:
    asked: list[protocol.AnyCommand] = []
    fake, process_pool = employ(lambda kind, command: asked.append(command))
    await process_pool.judge()
    abandoned = asyncio.create_task(process_pool.ask_judge(RELEASE))
    while not asked:
        await asyncio.sleep(0)
    abandoned.cancel()
    await asyncio.gather(abandoned, return_exceptions=True)
    fake.answer = lambda kind, command: b"".join(
        protocol.encode(protocol.Done(id=identifier)) for identifier in ("a", command.id)
    )
    assert await process_pool.ask_judge(protocol.Release(id="b")) == protocol.Done(id="b")


async def test_a_command_may_be_longer_than_a_pipe(employ: Employ) -> None:
    _, process_pool = employ()
    command = protocol.Describe(
        id="i", problem=ProblemId(source="m", name="P"), cases=tuple(f"a case of some length {n}" for n in range(5000))
    )
    assert await process_pool.ask_judge(command) == protocol.Done(id="i")


async def test_line_truncated_by_crash_is_not_tampering(employ: Employ) -> None:
    fake, process_pool = employ()
    judge = await process_pool.judge()

    def half_a_reply(kind: str, command: protocol.AnyCommand) -> None:
        fake.say(judge.pid, protocol.encode(protocol.Done(id=command.id))[:10])
        fake.die(judge.pid)

    fake.answer = half_a_reply
    with pytest.raises(ChildDiedError):
        await judge.ask(RELEASE, deadline_s=5.0)


async def test_child_flooding_its_pipe_leaks_no_descriptor(employ: Employ) -> None:
    fake, process_pool = employ()
    before = open_files()
    judge = await process_pool.judge()
    fake.say(judge.pid, b"noise\n")
    while judge.fault is None:
        await asyncio.sleep(0)
    for _ in range(400):  # 26 MB, more than a reader buffers before it pauses
        with contextlib.suppress(BlockingIOError):
            fake.say(judge.pid, bytes(1 << 16))
        await asyncio.sleep(0)
    await judge.kill()
    for _ in range(100):
        await asyncio.sleep(0)
    assert not open_files() - before
