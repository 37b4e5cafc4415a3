"""A fork server client without processes, and a process pool that is employed from it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import cast

import pytest

from engine import protocol
from engine.model import Limits
from engine.processes.child import Child
from engine.processes.directories import EngineDirectories
from engine.processes.fork_server_client import ForkServerClient
from engine.processes.process_pool import ForkServers, ProcessPool
from tests.forking import Forking, forking

Answer = Callable[[str, protocol.AnyCommand], protocol.AnyReply | bytes | None]
"""From the kind of a child and a command to what the child replies; None keeps silent."""


def obedient(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply:
    return protocol.Done(id=command.id)


FORK_SERVER_PID = 1 << 22
"""Beyond every process id: no process of the machine is measured, limited or killed as one of the run."""


class FakeForkServer:
    """A fork server whose children run in this process; `answer` gives their replies."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.forked: list[str] = []
        self.environments: list[Mapping[str, str]] = []
        """The environments of the children, in the order of their forks."""
        self.ready = True
        self.serving = 0
        """The pid of the child that is being asked."""
        self.launchers_for: tuple[str, ...] = ("cuda",)
        self.pid = FORK_SERVER_PID
        self.pids = ()
        self.losses = 0
        self.not_preloaded = ""
        self.on_late_imports: Callable[[], None] = lambda: None
        self._ends: dict[int, tuple[Child, list[int]]] = {}

    @property
    def youngest(self) -> int:
        """The pid of the child that was forked last."""
        return FORK_SERVER_PID + len(self.forked)

    def pids_of(self, kind: str) -> list[int]:
        """The pids of the children of this kind, in the order of their forks."""
        return [pid for pid, forked in enumerate(self.forked, start=FORK_SERVER_PID + 1) if forked == kind]

    async def fork(self, kind: str, *, log_bytes: int, environment: Mapping[str, str], **_: object) -> Child:
        await asyncio.sleep(0)
        self.forked.append(kind)
        self.environments.append(environment)
        (their_commands, commands), (replies, their_replies) = os.pipe(), os.pipe()
        (stdout, their_stdout), (stderr, their_stderr) = os.pipe(), os.pipe()
        pid = self.youngest
        child = Child(self.order_kill, kind=kind, pid=pid, log_bytes=log_bytes)
        await child.attach(commands, replies, stdout, stderr)
        self._ends[pid] = child, [their_commands, their_replies, their_stdout, their_stderr]
        os.set_blocking(their_commands, False)
        os.set_blocking(their_replies, False)
        received = bytearray()
        asyncio.get_running_loop().add_reader(their_commands, self._serve, pid, kind, received)
        if self.ready:
            self.say(pid, protocol.encode(protocol.Ready(id="ready", launchers_for=self.launchers_for)))
        else:
            self.die(pid)
        return child

    def say(self, pid: int, line: bytes) -> None:
        """Have a child write this on its pipe for replies."""
        os.write(self._ends[pid][1][1], line)

    def die(self, pid: int) -> None:
        """Have a child end as if it had been killed."""
        child, ends = self._ends.pop(pid)
        asyncio.get_running_loop().remove_reader(ends[0])
        for end in ends:
            os.close(end)
        child.exited(9)

    def lose_all(self) -> None:
        """Have every child end as if the fork server had been killed."""
        self.losses += 1
        for pid in tuple(self._ends):
            self._ends[pid][0].lose()
            self.die(pid)

    def order_kill(self, pid: int) -> None:
        if pid in self._ends:
            self.die(pid)

    def order_late_imports(self) -> None:
        self.on_late_imports()

    def _serve(self, pid: int, kind: str, received: bytearray) -> None:
        received += os.read(self._ends[pid][1][0], 1 << 20)
        while b"\n" in received and pid in self._ends:
            line, _, rest = bytes(received).partition(b"\n")
            received[:] = rest
            self.serving = pid
            reply = self.answer(kind, protocol.decode_command(line))
            if reply is not None and pid in self._ends:
                self.say(pid, reply if isinstance(reply, bytes) else protocol.encode(reply))


Employ = Callable[..., tuple[FakeForkServer, ProcessPool]]


@pytest.fixture
def directories() -> Iterator[EngineDirectories]:
    directories = EngineDirectories()
    yield directories
    directories.close()


@pytest.fixture
async def employ(directories: EngineDirectories) -> AsyncIterator[Employ]:
    """Make a process pool whose children answer as they are told; unless told otherwise, that they are done.

    With a `target` it is the process pool of a device that really launches, otherwise that of the interpreter.
    `references` is the fork server of references, where that is another one.
    """
    pools: list[ProcessPool] = []

    def employ(
        answer: Answer = obedient,
        *,
        target: str | None = None,
        references: FakeForkServer | None = None,
        queues_variable: str | None = None,
    ) -> tuple[FakeForkServer, ProcessPool]:
        fake = FakeForkServer(answer)
        fork_server = cast(ForkServerClient, fake)  # the double at the seam
        process_pool = ProcessPool(
            fork_servers=ForkServers(
                workers=fork_server,
                references=cast(ForkServerClient, references or fake),
            ),
            directories=directories,
            limits=Limits(),
            torch_device="cuda" if target else "cpu",
            interpreted=target is None,
            target=target,
            queues_variable=queues_variable,
        )
        pools.append(process_pool)
        return fake, process_pool

    yield employ
    for process_pool in pools:
        await process_pool.close()


@pytest.fixture(scope="session")
def fresh_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forking]:
    """Runs a program in a process of its own that has imported what a worker has before it loads a candidate."""
    with forking("engine.worker.main", folder=tmp_path_factory.mktemp("fresh")) as server:
        yield server
