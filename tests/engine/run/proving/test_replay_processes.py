"""What a case launches is compiled once for replays and launches, and loaded beside the cases."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from engine import protocol
from engine.protocol.proof.binaries import Prebuilt, digest_of
from engine.run.proving import replay_processes
from engine.run.proving.replay_processes import ReplayProcesses
from tests.engine.replay.tapes import DOUBLE, launch_record
from tests.engine.run.proving.test_replayer import BINARY

if TYPE_CHECKING:
    from tests.engine.conftest import Employ

LAUNCH = launch_record()
LOWERED = protocol.Lowered(id="i", ttir=DOUBLE, arguments=("x", "y", "n"))


class Session:
    """The compiler of a candidate, which lowers every launch."""

    occupied = True

    def __init__(self) -> None:
        self.lowered = 0

    async def ask(self, command: Any, *, deadline_s: float) -> protocol.AnyReply:
        self.lowered += 1
        return protocol.Lowered(id=command.id, ttir=DOUBLE, arguments=("x", "y", "n"))

    async def clear(self) -> None:
        self.occupied = False


def prepared(employ: Employ, *, launched_on: str | None) -> tuple[ReplayProcesses, Session, Any]:
    """The processes of a run on a device, the compiler of its candidate, and the fork server."""

    def reply(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply:
        if isinstance(command, protocol.BuildBinary):
            return protocol.BinaryBuilt(id=command.id, binary=BINARY)
        return protocol.Done(id=command.id)

    fork_server, pool = employ(reply, target=launched_on)
    session: Any = Session()
    return ReplayProcesses(pool, session, launched_on=launched_on, target="sm_80"), session, fork_server


async def test_binary_is_built_once_of_lowered_launch(employ: Employ) -> None:
    processes, session, fork_server = prepared(employ, launched_on="sm_90")
    prebuilt = [await processes.build(launch, LOWERED) for launch in (LAUNCH, replace(LAUNCH, grid=(7,)))]
    options = protocol.CompileOptions.of(LAUNCH)
    assert prebuilt == [Prebuilt(ttir_digest=digest_of(DOUBLE), options=options, binary=BINARY)] * 2
    assert (session.lowered, fork_server.forked) == (0, ["compiler"])
    assert await processes.kernels.of_launch(LAUNCH) == processes.kernels.keep(LAUNCH, LOWERED)
    await processes.close()
    assert (session.lowered, session.occupied) == (0, False)


@pytest.mark.parametrize("first", ["prepare", "build"])
async def test_launch_to_replay_is_loaded_when_built(employ: Employ, first: str) -> None:
    processes, session, fork_server = prepared(employ, launched_on="sm_90")
    if first == "prepare":
        processes.prepare(LAUNCH)
    await processes.build(LAUNCH, LOWERED)
    await processes.build(replace(LAUNCH, num_warps=8), LOWERED)  # of a tuner, and not replayed
    processes.prepare(LAUNCH)
    await processes.settle()
    assert session.lowered == 0
    assert sorted(fork_server.forked) == ["compiler", "compiler", "replayer"]
    await processes.close()


async def test_binary_without_stages_is_ignored(employ: Employ) -> None:
    processes, _, fork_server = prepared(employ, launched_on="sm_90")
    fork_server.answer = lambda kind, command: protocol.BinaryBuilt(id=command.id, binary=BINARY.for_launches)
    assert await processes.build(LAUNCH, LOWERED) is None
    await processes.close()


async def test_module_that_does_not_compile_has_no_binary(employ: Employ) -> None:
    processes, _, fork_server = prepared(employ, launched_on="sm_90")
    unsupported = protocol.FailureKind.UNSUPPORTED
    fork_server.answer = lambda kind, command: protocol.Failed(id=command.id, kind=unsupported, message="no")
    assert await processes.build(LAUNCH, LOWERED) is None
    await processes.close()


@pytest.mark.parametrize("launched_on", [None, "gfx942"], ids=["cpu", "amd"])
async def test_nothing_is_built_for_other_devices(employ: Employ, launched_on: str | None) -> None:
    processes, session, fork_server = prepared(employ, launched_on=launched_on)
    processes.prepare(LAUNCH)
    assert await processes.build(LAUNCH, LOWERED) is None
    await processes.settle()
    assert (session.lowered, fork_server.forked) == (0, [])
    await processes.close()


async def test_only_so_many_launches_are_loaded_ahead(employ: Employ, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay_processes, "_MOST_AHEAD", 2)
    processes, _, fork_server = prepared(employ, launched_on="sm_90")
    held: list[protocol.AnyCommand] = []
    answer = fork_server.answer
    fork_server.answer = lambda kind, command: held.append(command) or answer(kind, command)
    for warps in (1, 2, 4, 8):
        processes.prepare(replace(LAUNCH, num_warps=warps))
        await processes.build(replace(LAUNCH, num_warps=warps), LOWERED)
    await processes.settle()
    assert sum(isinstance(command, protocol.HoldBinary) for command in held) == 2
    await processes.close()


async def test_closing_ends_running_compilation(employ: Employ) -> None:
    processes, _, fork_server = prepared(employ, launched_on="sm_90")
    asked = asyncio.Event()
    fork_server.answer = lambda kind, command: asked.set() if kind == "compiler" else protocol.Done(id=command.id)
    building = asyncio.create_task(processes.build(LAUNCH, LOWERED))
    await asked.wait()
    await processes.close()
    await asyncio.gather(building, return_exceptions=True)
    assert fork_server._ends == {}
