"""Warm children ahead of their use: as many as are kept, each given away once, and all gone at the end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.errors import EngineError
from engine.processes.directories import EngineDirectories, Workspace
from engine.processes.warm_pool import PooledProcess, WarmPool

if TYPE_CHECKING:
    from tests.engine.conftest import Employ, FakeForkServer


class Pair:
    """A spare of two workers, and those that were taken from it."""

    def __init__(self, fork_server: FakeForkServer, spare: WarmPool) -> None:
        self.fork_server = fork_server
        self.spare = spare
        self.taken: list[PooledProcess] = []

    async def take(self) -> PooledProcess:
        self.taken.append(await self.spare.take())
        return self.taken[-1]

    async def warm(self) -> None:
        self.spare.prepare()
        await self.spare.settle()


@pytest.fixture
async def pair(employ: Employ) -> AsyncIterator[Pair]:
    fork_server, process_pool = employ(target="sm_90")  # where kernels are really launched, two workers are kept
    process_pool.share_no_more("no judge is to be asked here")
    pair = Pair(fork_server, process_pool.worker)
    yield pair
    for process in pair.taken:
        await process.end()


def workspaces(directories: EngineDirectories) -> list[str]:
    """The folders of children that are there."""
    return sorted(place.name for place in directories.folder.iterdir() if place.name.isdecimal())


async def test_repeated_request_makes_no_more_than_kept(pair: Pair) -> None:
    await pair.warm()
    await pair.warm()
    assert pair.fork_server.forked == ["worker", "worker"]


async def test_two_ready_processes_start_no_third(pair: Pair) -> None:
    await pair.warm()
    first, second = await pair.take(), await pair.take()
    assert (first.child.alive, second.child.alive) == (True, True)
    assert len({first.child.pid, second.child.pid, first.workspace.folder, second.workspace.folder}) == 4
    assert len(pair.fork_server.forked) == 2


async def test_concurrent_takes_return_different_processes(pair: Pair) -> None:
    first, second = await asyncio.gather(pair.take(), pair.take())
    assert first.child is not second.child


async def test_taken_process_is_replaced_on_request(pair: Pair) -> None:
    await pair.warm()
    await pair.take()
    await pair.warm()
    assert len(pair.fork_server.forked) == 3
    await pair.take()
    await pair.take()
    assert len(pair.fork_server.forked) == 3


async def test_awaited_process_is_next_taken(pair: Pair) -> None:
    await pair.warm()
    waited = await pair.spare.wait()
    assert await pair.take() is waited
    assert await pair.take() is not waited


async def test_taken_processes_are_ready_after_warming(pair: Pair) -> None:
    await pair.warm()
    taken = [await pair.take(), await pair.take()]
    assert [process.child.ready is not None for process in taken] == [True, True]


async def test_waiting_without_request_returns_at_once(pair: Pair) -> None:
    await pair.spare.settle()
    assert pair.fork_server.forked == []


async def test_dead_waiting_processes_are_skipped_and_removed(pair: Pair, directories: EngineDirectories) -> None:
    await pair.warm()
    dead = pair.fork_server.youngest, pair.fork_server.youngest - 1
    for pid in dead:
        pair.fork_server.die(pid)
    process = await pair.take()
    assert process.child.alive
    assert process.child.pid not in dead
    assert workspaces(directories) == [process.workspace.folder.name]


async def test_process_with_unrequested_output_is_skipped(pair: Pair) -> None:
    await pair.warm()
    talker = await pair.spare.wait()
    pair.fork_server.say(talker.child.pid, b"I am ready, honestly\n")
    while talker.child.fault is None:
        await asyncio.sleep(0)
    assert (await pair.take()).child is not talker.child
    assert not talker.child.alive


async def test_process_failing_to_warm_raises_on_take(pair: Pair, directories: EngineDirectories) -> None:
    pair.fork_server.ready = False
    await pair.warm()
    with pytest.raises(EngineError, match=r"^no worker got ready: "):
        await pair.take()
    assert workspaces(directories) == []


async def test_process_put_back_is_taken_next_unless_enough_wait(pair: Pair) -> None:
    await pair.warm()
    first = await pair.take()
    assert pair.spare.put_back(first)
    assert not pair.spare.put_back(await pair.spare.wait())
    assert await pair.take() is first
    assert len(pair.fork_server.forked) == 2


async def test_process_put_back_during_a_take_is_left_for_the_next(pair: Pair) -> None:
    await pair.warm()
    lent = [pair.spare.lend_unwarmed(), pair.spare.lend_unwarmed()]
    taking = asyncio.create_task(pair.take())  # makes a third
    await asyncio.sleep(0)
    assert lent[0] is not None
    assert pair.spare.put_back(lent[0])
    first, second = await taking, await pair.take()
    assert first.child not in [one.child for one in lent if one is not None]
    assert second.child is lent[0].child
    assert lent[1] is not None
    pair.taken.append(lent[1])


async def test_process_lent_during_a_take_is_not_taken(pair: Pair) -> None:
    async def lend() -> PooledProcess | None:
        await pair.spare.settle()
        return pair.spare.lend_unwarmed()

    pair.spare.prepare(most=1)
    lending = asyncio.create_task(lend())  # resumed before the take, since it waits first
    await asyncio.sleep(0)
    taken, lent = await asyncio.gather(pair.take(), lending)
    assert lent is not None
    pair.taken.append(lent)
    assert taken.child is not lent.child


async def test_process_put_back_ends_with_the_pool(pair: Pair) -> None:
    process = await pair.take()
    assert pair.spare.put_back(process)
    await pair.spare.close()
    assert (process.child.alive, pair.spare.put_back(process)) == (False, False)


async def test_closing_ends_waiting_and_starting_processes(pair: Pair, directories: EngineDirectories) -> None:
    await pair.warm()
    first = await pair.take()
    waiting = await pair.spare.wait()
    pair.spare.prepare()  # the third has not begun
    await pair.spare.close()
    await pair.spare.close()
    assert (waiting.child.alive, first.child.alive) == (False, True)
    assert workspaces(directories) == [first.workspace.folder.name]


async def test_closed_pool_gives_no_process(pair: Pair) -> None:
    await pair.spare.close()
    await pair.warm()
    with pytest.raises(EngineError, match=r"^the engine has been closed$"):
        await pair.take()
    assert pair.fork_server.forked == []


async def test_dismissed_child_leaves_no_process_or_folder(pair: Pair) -> None:
    process = await pair.take()
    await process.end()
    await process.end()
    assert not process.child.alive
    assert [Path(folder).exists() for folder in (process.workspace.folder, process.workspace.shared)] == [False, False]


async def test_directory_of_dismissed_child_is_removed_in_thread(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    process = await pair.take()
    removed_in: list[int] = []
    remove = Workspace.remove

    def observed(workspace: Workspace) -> None:
        removed_in.append(threading.get_ident())
        remove(workspace)

    monkeypatch.setattr(Workspace, "remove", observed)
    await process.end()
    assert not process.workspace.folder.exists()
    assert len(removed_in) == 1
    assert removed_in[0] != threading.get_ident()


async def test_warm_process_is_taken_and_replaced_at_once(pair: Pair) -> None:
    await pair.warm()
    pair.taken.append(await pair.spare.take_or_make())
    await pair.spare.settle()
    assert pair.fork_server.forked == ["worker"] * 3
    assert len({process.child.pid for process in (pair.taken[0], await pair.take(), await pair.take())}) == 3


async def test_warm_process_is_replaced_only_below_the_kept_number(pair: Pair) -> None:
    await pair.warm()
    forked = []
    for _ in range(2):
        pair.taken.append(await pair.spare.take_or_make(keeping=1))
        await pair.spare.settle()
        forked.append(len(pair.fork_server.forked))
    assert forked == [2, 3]


async def test_process_is_made_where_none_is_warm(pair: Pair) -> None:
    pair.taken += await asyncio.gather(pair.spare.take_or_make(), pair.spare.take_or_make())
    assert len({process.child.pid for process in pair.taken}) == 2
    assert pair.fork_server.forked == ["worker"] * 2


async def test_dead_warm_process_is_not_taken(pair: Pair) -> None:
    await pair.warm()
    pair.fork_server.die(pair.fork_server.youngest)
    pair.taken += [await pair.spare.take_or_make(), await pair.spare.take_or_make()]
    assert [process.child.alive for process in pair.taken] == [True, True]
