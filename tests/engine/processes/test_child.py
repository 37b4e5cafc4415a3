"""The parent's end of one child: its pipes, its late words, its last ones."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import pytest

from engine import protocol
from engine.errors import ChildDiedError, WireError
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


async def test_reply_in_two_parts_is_one_reply(employ: Employ) -> None:
    fake, process_pool = employ()
    judge = await process_pool.judge()

    def in_parts(kind: str, command: protocol.AnyCommand) -> None:
        line = protocol.encode(protocol.Done(id=command.id))
        fake.say(judge.pid, line[:10])
        asyncio.get_running_loop().call_later(0, fake.say, judge.pid, line[10:])

    fake.answer = in_parts
    assert await judge.ask(RELEASE, deadline_s=5.0) == protocol.Done(id="a")


async def test_second_reply_to_one_command_is_tampering(employ: Employ) -> None:
    fake, process_pool = employ()
    judge = await process_pool.judge()
    fake.answer = lambda kind, command: protocol.encode(protocol.Done(id=command.id)) * 2
    assert await judge.ask(RELEASE, deadline_s=5.0) == protocol.Done(id="a")
    assert str(judge.fault) == "the judge replied twice to one command"
    with pytest.raises(WireError, match="replied twice"):
        await judge.ask(RELEASE, deadline_s=5.0)


@pytest.mark.parametrize("ended", [b"", b"\n"], ids=["without an end", "with an end"])
async def test_line_beyond_the_limit_is_tampering(
    employ: Employ, monkeypatch: pytest.MonkeyPatch, ended: bytes
) -> None:
    fake, process_pool = employ()
    judge = await process_pool.judge()
    monkeypatch.setattr(protocol, "MAX_LINE_BYTES", 100)
    fake.answer = lambda kind, command: b"x" * 101 + ended
    with pytest.raises(WireError, match=r"^the judge wrote a line of more than 100 bytes$"):
        await judge.ask(RELEASE, deadline_s=5.0)


async def test_reply_still_in_the_pipe_after_the_exit_counts(employ: Employ) -> None:
    fake, process_pool = employ()
    judge = await process_pool.judge()

    def last_reply(kind: str, command: protocol.AnyCommand) -> None:
        judge.exited(0)
        line = protocol.encode(protocol.Done(id=command.id))
        asyncio.get_running_loop().call_later(0, fake.say, judge.pid, line)

    fake.answer = last_reply
    assert await judge.ask(RELEASE, deadline_s=5.0) == protocol.Done(id="a")
    assert not judge.alive
    fake.die(judge.pid)


async def test_exit_without_a_reply_ends_the_wait(employ: Employ) -> None:
    fake, process_pool = employ(lambda kind, command: fake.die(judge.pid))
    judge = await process_pool.judge()
    with pytest.raises(ChildDiedError, match="ended without a reply"):
        await judge.ask(RELEASE, deadline_s=5.0)


async def test_reply_that_comes_with_the_deadline_is_no_forgery(employ: Employ) -> None:
    fake, process_pool = employ(lambda kind, command: None)
    judge = await process_pool.judge()
    asking = asyncio.create_task(judge.ask(RELEASE, deadline_s=5.0))
    await asyncio.sleep(0)
    asking.cancel()
    judge._take(protocol.encode(protocol.Done(id="a")))  # in the same turn of the event loop
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert judge.fault is None
    fake.answer = lambda kind, command: protocol.Done(id=command.id)
    assert await judge.ask(protocol.Release(id="b"), deadline_s=5.0) == protocol.Done(id="b")


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
