"""The sessions of a run: which compiled code they see, and their end."""

from __future__ import annotations

import asyncio

import pytest

from engine import protocol
from engine.model import Candidate
from tests.engine.run.device_run import CASES, DeviceRun


async def test_other_candidate_shares_no_compiled_code(device_run: DeviceRun) -> None:
    """The compilers have loaded the first candidate, and published code is found by its key alone."""
    run = device_run.open(CASES[0], other=Candidate(source=b"def f(x): ...\n", problem="toy::twice"))
    processes, launchers = run._processes, device_run.process_pool.launchers
    assert processes.other is not None
    assert launchers is not None
    for session in (processes.session, processes.other):
        await session.load()
    cache_folders = [
        command.cache_folders for command in device_run.commands(protocol.Load) if isinstance(command, protocol.Load)
    ]
    shared = str(launchers.cache_folder)
    assert cache_folders == [(shared, str(processes.cache_folder)), (shared,)]
    await run._clean_up()


async def test_session_that_cannot_be_cleared_blocks_no_other(device_run: DeviceRun) -> None:
    run = device_run.open(CASES[0], other=Candidate(source=b"", problem="toy::twice"))
    processes, builders = run._processes, run._compilation.builders

    async def stuck() -> None:
        raise RuntimeError("the session is stuck")

    processes.session.clear, clear = stuck, processes.session.clear  # type: ignore[method-assign]
    with pytest.raises(RuntimeError, match="the session is stuck"):
        async for _ in run.stream(asyncio.Event()):
            pass
    assert [session.occupied for builder in builders for session in builder._sessions] == [False] * len(
        builders[0]._sessions
    )
    assert processes.cache_folder is not None
    assert not processes.cache_folder.exists()
    await clear()


async def test_spare_compilers_are_warmed_between_runs_only(
    device_run: DeviceRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    warming, calls = device_run.process_pool.warming, list[str]()
    monkeypatch.setattr(warming, "stop", lambda: calls.append("stop"))
    monkeypatch.setattr(warming, "start", lambda *, then: calls.append("start"))
    run = device_run.open(CASES[0])
    assert calls == ["stop"]
    async for _ in run.stream(asyncio.Event()):
        assert calls == ["stop"]
    assert calls == ["stop", "start"]


async def test_late_imports_follow_a_run_and_its_forks(device_run: DeviceRun) -> None:
    fork_server, warming = device_run.fork_server, device_run.process_pool.warming
    warming._quiet_s = 0.0
    forked: list[int] = []
    fork_server.on_late_imports = lambda: forked.append(len(fork_server.forked))
    async for _ in device_run.open(CASES[0]).stream(asyncio.Event()):
        assert forked == []
    while not forked:
        await asyncio.sleep(0)
    assert forked == [len(fork_server.forked)]


async def test_late_imports_do_not_delay_the_next_run(device_run: DeviceRun) -> None:
    warming = device_run.process_pool.warming
    async for _ in device_run.open(CASES[0]).stream(asyncio.Event()):
        pass
    await warming.wait()
    assert warming._timer is not None
    following = device_run.open(CASES[0])
    assert warming._timer.cancelled()
    await following._clean_up()
