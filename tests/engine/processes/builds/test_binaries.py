"""Binaries are built once, each by a compiler of its own, and a compiler that is lost condemns no kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from engine import protocol
from engine.errors import EngineError
from engine.processes.builds.binaries import Binaries, LostCompilerError, NotBuiltError
from engine.protocol.proof.binaries import BinaryRequest, CompileOptions
from tests.engine.replay.tapes import launch_record

if TYPE_CHECKING:
    from engine.processes.warm_pool import PooledProcess
    from tests.engine.conftest import Employ

Answer = Callable[[protocol.BuildBinary], protocol.AnyReply | bytes]
OPTIONS = CompileOptions.of(launch_record())


def request(ttir: str = "module {}", *, num_warps: int = 4, target: str = "sm_90") -> BinaryRequest:
    options = CompileOptions(num_warps=num_warps, num_stages=3)
    return BinaryRequest(kernel="double", ttir=ttir, options=options, target=target)


def built(command: protocol.BuildBinary) -> protocol.AnyReply:
    """What a compiler replies: the module itself as the binary."""
    binary = protocol.KernelBinary(
        name="double", code=command.request.ttir.encode(), threads=128, shared_bytes=0, scratch_bytes=0, parameters=()
    )
    return protocol.BinaryBuilt(id=command.id, binary=binary)


def failed(kind: protocol.FailureKind) -> Answer:
    return lambda command: protocol.Failed(id=command.id, kind=kind, message="no such operation")


class Compilers:
    """Binaries of a pool whose compilers answer in turn; `asked` are their commands."""

    def __init__(self, employ: Employ, *answers: Answer, kills: int = 0, most_kept_bytes: int = 1 << 20) -> None:
        self.asked: list[protocol.BuildBinary] = []
        turns = iter(answers)
        last = answers[-1]

        def reply(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | bytes | None:
            assert kind == "compiler"
            assert isinstance(command, protocol.BuildBinary)
            self.asked.append(command)
            if len(self.asked) <= kills:
                self.fork_server.die(self.fork_server.serving)
                return None
            return next(turns, last)(command)

        self.fork_server, pool = employ(reply, target="sm_90")
        self.start = pool._start_compiler
        self.binaries = Binaries(self.start, most=2, most_kept_bytes=most_kept_bytes)

    @property
    def compilers(self) -> int:
        return self.fork_server.forked.count("compiler")


async def test_binary_of_equal_content_is_built_once(employ: Employ) -> None:
    compilers = Compilers(employ, built)
    first = await compilers.binaries.build(request())
    assert await compilers.binaries.build(request()) is first
    assert (first.code, len(compilers.asked)) == (b"module {}", 1)


async def test_each_module_has_a_compiler_of_its_own(employ: Employ) -> None:
    compilers = Compilers(employ, built)
    for one in (request("a"), request("b"), request("b", num_warps=8), request("b", target="sm_80")):
        await compilers.binaries.build(one)
    assert (compilers.compilers, len(compilers.asked)) == (4, 4)


async def test_compilers_of_builds_have_ended_once_settled(employ: Employ) -> None:
    compilers = Compilers(employ, built)
    started: list[PooledProcess] = []

    async def start() -> PooledProcess:
        started.append(await compilers.start())
        return started[-1]

    binaries = Binaries(start, most=2)
    await binaries.settle()
    for text in ("a", "b"):
        await binaries.build(request(text))
    await binaries.settle()
    assert [process.child.alive for process in started] == [False, False]
    assert [process.workspace.folder.exists() for process in started] == [False, False]


async def test_module_that_does_not_compile_is_tried_once(employ: Employ) -> None:
    compilers = Compilers(employ, failed(protocol.FailureKind.UNSUPPORTED))
    for _ in range(2):
        with pytest.raises(NotBuiltError, match="no such operation"):
            await compilers.binaries.build(request())
    assert len(compilers.asked) == 1


async def test_lost_compiler_is_replaced_once(employ: Employ) -> None:
    compilers = Compilers(employ, lambda _: b"noise\n", built)
    assert (await compilers.binaries.build(request())).code == b"module {}"
    assert compilers.compilers == 2


async def test_module_crashing_compilers_is_not_built(employ: Employ) -> None:
    compilers = Compilers(employ, lambda _: b"noise\n")
    for _ in range(2):  # not kept: another save tries it again
        with pytest.raises(LostCompilerError, match=r"the TTIR of double could not be compiled: not a reply.*2 times"):
            await compilers.binaries.build(request())
    assert compilers.compilers == 4


@pytest.mark.parametrize(
    ("answer", "kills"), [(built, 2), (failed(protocol.FailureKind.ENGINE), 0)], ids=["killed", "out of space"]
)
async def test_engine_failure_does_not_blame_module(employ: Employ, answer: Answer, kills: int) -> None:
    compilers = Compilers(employ, answer, kills=kills)
    with pytest.raises(EngineError):
        await compilers.binaries.build(request())
    assert len(compilers.asked) == 2


async def test_oldest_binaries_are_evicted(employ: Employ) -> None:
    compilers = Compilers(employ, built, most_kept_bytes=8)
    for text in ("aaaa", "bbbb", "aaaa", "cccc", "aaaa", "bbbb"):
        await compilers.binaries.build(request(text))
    assert [command.request.ttir for command in compilers.asked] == ["aaaa", "bbbb", "cccc", "bbbb"]
