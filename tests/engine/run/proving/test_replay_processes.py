"""What a case launches is compiled and loaded beside the cases, where cores are left for that."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from engine import protocol
from engine.run.proving import replay_processes
from engine.run.proving.replay_processes import ReplayProcesses
from tests.engine.replay.tapes import DOUBLE, launch_record
from tests.engine.run.proving.test_replayer import BINARY

if TYPE_CHECKING:
    from tests.engine.conftest import Employ

LAUNCH = launch_record()


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


def prepared(employ: Employ, *, launched_on: str | None, cores: bool = True) -> tuple[ReplayProcesses, Session, Any]:
    """The processes of a run on a device, the compiler of its candidate, and the fork server."""

    def reply(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply:
        if isinstance(command, protocol.BuildBinary):
            return protocol.BinaryBuilt(id=command.id, binary=BINARY)
        return protocol.Done(id=command.id)

    fork_server, pool = employ(reply, target=launched_on)
    pool.compiles_beside_cases = cores
    session: Any = Session()
    return ReplayProcesses(pool, session, launched_on=launched_on, target="sm_80"), session, fork_server


async def test_launches_are_made_ready_once(employ: Employ) -> None:
    processes, session, fork_server = prepared(employ, launched_on="sm_90")
    for launch in (LAUNCH, replace(LAUNCH, grid=(7,)), replace(LAUNCH, num_warps=8)):
        processes.prepare(launch)
    await processes.settle()
    assert session.lowered == 2
    assert sorted(fork_server.forked) == ["compiler", "compiler", "replayer"]
    await processes.close()
    assert not session.occupied


@pytest.mark.parametrize(
    ("launched_on", "cores"), [(None, True), ("sm_90", False), ("gfx942", True)], ids=["cpu", "no cores", "amd"]
)
async def test_nothing_is_compiled_ahead(employ: Employ, launched_on: str | None, cores: bool) -> None:
    processes, session, _ = prepared(employ, launched_on=launched_on, cores=cores)
    processes.prepare(LAUNCH)
    await processes.settle()
    assert session.lowered == 0
    await processes.close()


async def test_only_so_many_launches_are_made_ready_ahead(employ: Employ, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay_processes, "_MOST_AHEAD", 2)
    processes, session, _ = prepared(employ, launched_on="sm_90")
    for warps in (1, 2, 4, 8):
        processes.prepare(replace(LAUNCH, num_warps=warps))
    await processes.settle()
    assert session.lowered == 2
    await processes.close()


async def test_closing_ends_what_is_being_compiled(employ: Employ) -> None:
    processes, _, fork_server = prepared(employ, launched_on="sm_90")
    fork_server.answer = lambda kind, command: None if kind == "compiler" else protocol.Done(id=command.id)
    processes.prepare(LAUNCH)
    await processes.close()
    assert fork_server._ends == {}
