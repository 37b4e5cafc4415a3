"""Spare compilers are warmed between runs, each once, and are never lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, TypeAlias

import pytest

from engine import protocol
from engine.processes.builds.compiler_warming import CompilerWarming
from engine.processes.warm_pool import WarmPool
from engine.protocol.compiling import WarmUp

if TYPE_CHECKING:
    from tests.engine.conftest import Employ

Answer: TypeAlias = Callable[[int, protocol.AnyCommand], protocol.AnyReply | None]


class Site:
    """A pool of three compilers; `warmed` are the pids that were asked to warm up, `answer` their replies."""

    def __init__(self, employ: Employ) -> None:
        self.warmed: list[int] = []
        self.answer: Answer = lambda pid, command: protocol.Done(id=command.id)
        self.fork_server, process_pool = employ(self._reply, target="sm_90")
        self.pool = WarmPool(process_pool._start_compiler, depth=3)
        self.warming = CompilerWarming((self.pool,), target="sm_90", at_once=1)

    async def warm(self) -> None:
        self.warming.start()
        await self.warming.wait()

    async def until_asked(self) -> None:
        while not self.warmed:
            await asyncio.sleep(0)

    def _reply(self, kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        assert isinstance(command, WarmUp)
        assert (kind, command.target) == ("compiler", "sm_90")
        self.warmed.append(self.fork_server.serving)
        return self.answer(self.fork_server.serving, command)


@pytest.fixture
async def site(employ: Employ) -> AsyncIterator[Site]:
    site = Site(employ)
    yield site
    await site.warming.close()
    await site.pool.close()


async def test_each_compiler_is_warmed_once(site: Site) -> None:
    await site.warm()
    assert sorted(site.warmed) == site.fork_server.pids_of("compiler")
    await site.warm()
    assert len(site.warmed) == len(site.fork_server.forked) == 3


async def test_compilers_are_made_one_by_one(site: Site) -> None:
    forked: list[int] = []

    def note(pid: int, command: protocol.AnyCommand) -> protocol.AnyReply:
        forked.append(len(site.fork_server.forked))
        return protocol.Done(id=command.id)

    site.answer = note
    await site.warm()
    assert forked == [1, 2, 3]


async def test_waiting_compilers_are_warmed_before_others_are_made(site: Site) -> None:
    site.pool.prepare(most=2)
    await site.warm()
    assert site.warmed[:2] == [*reversed(site.fork_server.pids_of("compiler")[:2])]
    assert len(site.warmed) == len(site.fork_server.forked) == 3


async def test_start_after_a_stop_warms_as_many_at_once_as_before(site: Site) -> None:
    held: list[tuple[int, protocol.AnyCommand]] = []
    site.answer = lambda pid, command: held.append((pid, command))
    site.warming = CompilerWarming((site.pool,), target="sm_90", at_once=2)

    async def until_held(count: int) -> None:
        while len(held) < count:
            await asyncio.sleep(0)

    def release() -> None:
        pid, command = held.pop(0)
        site.fork_server.say(pid, protocol.encode(protocol.Done(id=command.id)))

    site.pool._depth = 4
    site.warming.start()
    await until_held(2)
    site.warming.stop()
    release()
    while not site.pool.pids:
        await asyncio.sleep(0)
    site.warming.start()
    release()
    await until_held(2)
    release()
    release()
    await site.warming.wait()
    assert len(site.pool.pids) == len(set(site.warmed)) == 4


async def test_closing_ends_the_compiler_that_is_being_warmed(site: Site) -> None:
    site.answer = lambda pid, command: None
    site.warming.start()
    await site.until_asked()
    await site.warming.close()
    assert not site.fork_server._ends.keys() & set(site.warmed)
    assert site.pool.missing == 3


async def test_only_new_compilers_are_warmed_after_a_run(site: Site) -> None:
    await site.warm()
    taken = await site.pool.take()
    assert taken.is_warmed
    await taken.end()
    await site.warm()
    assert site.warmed[3:] == [site.fork_server.youngest]


async def test_compiler_is_put_back_when_a_run_begins(site: Site) -> None:
    site.pool.prepare()
    held: list[tuple[int, protocol.AnyCommand]] = []
    site.answer = lambda pid, command: held.append((pid, command))
    site.warming.start()
    await site.until_asked()
    site.warming.stop()
    ((pid, command),) = held
    assert pid not in site.pool.pids
    assert site.warming.pids == (pid,)
    site.fork_server.say(pid, protocol.encode(protocol.Done(id=command.id)))
    await site.warming.wait()
    assert site.warmed == [pid]
    assert site.warming.pids == ()
    assert sorted(site.pool.pids) == site.fork_server.pids_of("compiler")
    taken = await site.pool.take()
    assert (taken.child.pid, taken.is_warmed) == (pid, True)  # the next to be used
    await taken.end()


async def test_compiler_that_dies_is_left_out(site: Site) -> None:
    site.pool.prepare()

    def dies_first(pid: int, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if len(site.warmed) > 1:
            return protocol.Done(id=command.id)
        site.fork_server.die(pid)
        return None

    site.answer = dies_first
    await site.warm()
    assert len(site.warmed) == 3
    assert sorted(site.pool.pids) == sorted(site.warmed[1:])


async def test_compiler_that_fails_is_ended(site: Site) -> None:
    def fail(pid: int, command: protocol.AnyCommand) -> protocol.AnyReply:
        return protocol.Failed(id=command.id, kind=protocol.FailureKind.ENGINE, message="no ptxas")

    site.answer = fail
    await site.warm()
    assert len(site.warmed) == 1  # no other is made
    assert site.pool.pids == ()
    assert not site.fork_server._ends.keys() & set(site.warmed)


async def test_warmed_compiler_beyond_the_depth_is_ended(site: Site) -> None:
    def refill(pid: int, command: protocol.AnyCommand) -> protocol.AnyReply:
        if len(site.warmed) == 1:
            site.pool.prepare()  # as a run does that finds one missing
            site.warming.stop()
        return protocol.Done(id=command.id)

    site.answer = refill
    await site.warm()
    await site.pool.settle()
    assert len(site.pool.pids) == 3
    assert not site.fork_server._ends.keys() & set(site.warmed)


async def until_called(called: list[str]) -> None:
    while not called:
        await asyncio.sleep(0)


async def test_callback_follows_the_last_warm_child(site: Site) -> None:
    site.warming = CompilerWarming((site.pool,), target="sm_90", at_once=1, quiet_s=0.0)
    warmed_before: list[str] = []
    site.warming.start(then=lambda: warmed_before.append(str(len(site.warmed))))
    await until_called(warmed_before)
    assert warmed_before == ["3"]
    await site.warm()  # without one
    assert site.warming._timer is not None
    assert site.warming._timer.cancelled()


async def test_callback_waits_for_children_that_are_being_made(employ: Employ, monkeypatch: pytest.MonkeyPatch) -> None:
    fork_server, process_pool = employ(lambda kind, command: None, target=None)
    workers = WarmPool(process_pool._start_worker, depth=1)
    warming = CompilerWarming((), target="", at_once=1, after=(workers,), quiet_s=0.0)
    called: list[str] = []
    withheld: list[tuple[int, bytes]] = []
    with monkeypatch.context() as patched:
        patched.setattr(fork_server, "say", lambda pid, line: withheld.append((pid, line)))
        workers.prepare()
        warming.start(then=lambda: called.append("then"))
        while not withheld:
            await asyncio.sleep(0)
        for _ in range(20):
            await asyncio.sleep(0)
        assert called == []
    fork_server.say(*withheld[0])
    await until_called(called)
    await warming.close()
    await workers.close()


async def test_warming_stopped_before_the_last_child_is_warm_calls_nothing(site: Site) -> None:
    site.warming.start(then=lambda: None)
    await site.until_asked()
    site.warming.stop()  # as a run does that begins
    await site.warming.wait()
    assert site.warming._timer is None


async def test_stop_cancels_the_callback(site: Site) -> None:
    site.warming.start(then=lambda: None)
    await site.warming.wait()
    assert site.warming._timer is not None
    assert not site.warming._timer.cancelled()
    site.warming.stop()
    assert site.warming._timer.cancelled()
