"""The code that launches kernels: built once for each list of argument types, by children that know no candidate."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import pytest

from engine import protocol
from engine.processes.builds.launchers import Launchers
from engine.processes.directories import EngineDirectories
from engine.profile import Profile

if TYPE_CHECKING:
    from tests.engine.conftest import Employ, FakeForkServer


def described(*types: Any) -> str:
    """A specialisation as Triton describes it, with the fields that are read here."""
    return json.dumps({"name": "k", "signature": {f"x{i}": kind for i, kind in enumerate(types)}, "key": "k"})


class Workshop:
    """Launchers of a process pool whose compilers are played here; `reported` is what those were asked."""

    def __init__(self) -> None:
        self.reported: list[protocol.AnyCommand] = []
        self.profile = Profile(lambda: 0.0, started=0.0)
        self.fork_server: FakeForkServer
        self.launchers: Launchers

    def answer(self, kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        self.reported.append(command)
        assert isinstance(command, protocol.BuildLauncher)
        return protocol.Compiled(id=command.id, stages={}, cache=("KEY/launcher.so",))

    def need(self, *types: Any) -> asyncio.Future[None] | None:
        return self.launchers.need(described(*types), self.profile)

    async def build(self, *types: Any) -> None:
        needed = self.need(*types)
        assert needed is not None
        await asyncio.wait([needed])


@pytest.fixture
async def workshop(employ: Employ) -> AsyncIterator[Workshop]:
    workshop = Workshop()
    workshop.fork_server, process_pool = employ(workshop.answer, target="sm_90")
    assert process_pool.launchers is not None
    workshop.launchers = process_pool.launchers
    yield workshop
    await process_pool.launchers.close()


async def test_launcher_is_built_once_per_type_list(workshop: Workshop) -> None:
    first, again, other = workshop.need("*fp32", "i32"), workshop.need("*fp32", "i32"), workshop.need("*fp32", "i64")
    assert first is again
    assert first is not None
    assert other is not None
    await asyncio.wait([first, other])
    assert sorted(command.types for command in workshop.reported if isinstance(command, protocol.BuildLauncher)) == [
        ("*i8", "i32"),
        ("*i8", "i64"),
    ]
    assert {command.target for command in workshop.reported if isinstance(command, protocol.BuildLauncher)} == {"sm_90"}


async def test_builder_never_gets_candidate_and_is_reused(workshop: Workshop) -> None:
    await workshop.build("fp32")
    await workshop.build("fp16")
    assert [type(command) for command in workshop.reported] == [protocol.BuildLauncher, protocol.BuildLauncher]
    assert len(workshop.fork_server.forked) <= 4


async def test_one_launcher_serves_every_pointer_type(workshop: Workshop) -> None:
    first, same = workshop.need("*fp32", "**i8", "i32"), workshop.need("*bf16", "*i64", "i32")
    assert first is same


async def test_a_list_of_types_without_end_builds_nothing(workshop: Workshop) -> None:
    assert workshop.need(*["i32"] * 257) is None
    assert workshop.need(*["i32"] * 256) is not None


async def test_all_candidates_together_have_so_many_launchers_built(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.processes.builds.launchers._MOST_BUILT", 1)
    first = workshop.need("i32")
    assert first is not None
    assert workshop.need("i64") is None
    assert workshop.need("i32") is first


async def test_finished_build_is_in_the_kernel_cache(workshop: Workshop) -> None:
    def with_files(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        for workspace in workshop.launchers.cache_folder.parent.iterdir():
            if workspace.name.isdecimal():
                (workspace / "triton" / "KEY").mkdir(parents=True, exist_ok=True)
                (workspace / "triton" / "KEY" / "launcher.so").write_bytes(b"code")
        return workshop.answer(kind, command)

    workshop.fork_server.answer = with_files
    await workshop.build("*fp32")
    assert (workshop.launchers.cache_folder / "KEY" / "launcher.so").read_bytes() == b"code"


async def test_triton_without_launchers_ends_the_waiting(workshop: Workshop) -> None:
    workshop.fork_server.launchers_for = ()
    await workshop.build("fp32")
    assert workshop.need("fp16") is None
    assert workshop.need("fp32") is None
    assert workshop.reported == []
    await workshop.launchers._spare.settle()
    assert workshop.fork_server.forked == ["compiler"]  # and it is still the next one to be taken
    process = await workshop.launchers._spare.take()
    assert process.child.pid == workshop.fork_server.youngest
    await process.end()


async def test_launcher_without_new_file_does_not_affect_next(workshop: Workshop) -> None:
    """The builder has told its files already, when two lists of types come to the same code."""
    workshop.fork_server.answer = lambda kind, command: protocol.Compiled(id=command.id, stages={})
    await workshop.build("fp32")
    assert workshop.need("fp16") is not None


@pytest.mark.parametrize(
    "specialisation",
    [
        "", "{}", "null", "not json", '{"signature": []}', '{"signature": {}}', described("*fp32", ["*fp32", "i32"]),
        described("tensordesc<fp32[16, 16]>"), described("tensordesc"), described("*fp32); int main("),
        described("*fp32\n"), described("***fp32"), described("i32 "), described("I32"), described(""), described(3),
        described(None), described("*fp32", "x" * 30), described("int*"), described("é"),
    ],
)  # fmt: skip
async def test_types_that_are_not_plain_ones_build_nothing(workshop: Workshop, specialisation: str) -> None:
    assert workshop.launchers.need(specialisation, workshop.profile) is None
    assert workshop.fork_server.forked == []


@pytest.mark.parametrize("types", [("*fp32", "i32", "constexpr"), ("**i8",), ("*fp8e4nv", "u1"), ("*bf16", "fp64")])
async def test_launcher_types_match_reported_types(workshop: Workshop, types: tuple[str, ...]) -> None:
    await workshop.build(*types)
    [command] = workshop.reported
    assert isinstance(command, protocol.BuildLauncher)
    assert command.types == tuple("*i8" if kind[0] == "*" else kind for kind in types)


async def test_dead_builder_does_not_block_and_is_replaced(workshop: Workshop) -> None:
    def die(kind: str, command: protocol.AnyCommand) -> None:
        workshop.fork_server.die(workshop.fork_server.youngest)

    workshop.fork_server.answer = die
    await workshop.build("*fp32")
    workshop.fork_server.answer = workshop.answer
    for number in range(5):  # more than there are builders, so that the place of the dead one is used again
        await workshop.build("*fp16", f"i{number}")
    assert len(workshop.reported) == 5


async def test_builder_dead_while_idle_frees_its_place(workshop: Workshop, directories: EngineDirectories) -> None:
    await workshop.build("i0")
    workshop.fork_server.die(workshop.fork_server.youngest)
    for number in range(1, 9):  # twice as many as there are builders: each place is used
        await workshop.build(f"i{number}")
    assert len(workshop.reported) == 9
    await workshop.launchers.close()
    assert [place.name for place in directories.folder.iterdir() if place.name.isdecimal()] == []


async def test_builder_without_memory_does_not_block(
    workshop: Workshop, directories: EngineDirectories, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full() -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(directories, "open_workspace", full)
        needed = workshop.need("i32")
        assert needed is not None
        await asyncio.wait([needed])
        assert needed.exception() is None
    for number in range(5):
        await workshop.build("i64", f"i{number}")
    assert len(workshop.reported) == 5


async def test_refusing_builder_does_not_block(workshop: Workshop) -> None:
    workshop.fork_server.answer = lambda kind, command: protocol.Failed(
        id=command.id, kind=protocol.FailureKind.ENGINE, message="there is no C compiler"
    )
    await workshop.build("*fp32")
    assert list(workshop.launchers.cache_folder.iterdir()) == []


async def test_builder_that_cannot_start_does_not_block(workshop: Workshop) -> None:
    workshop.fork_server.ready = False
    await workshop.build("fp32")
    workshop.fork_server.ready = True
    await workshop.build("fp16")
    assert [type(command) for command in workshop.reported] == [protocol.BuildLauncher]


async def test_closing_ends_builds_and_their_processes(workshop: Workshop) -> None:
    started = asyncio.Event()

    def never(kind: str, command: protocol.AnyCommand) -> None:
        started.set()

    await workshop.build("*fp32")
    workshop.fork_server.answer = never
    needed = workshop.need("fp16")
    await started.wait()
    await workshop.launchers.close()
    await workshop.launchers.close()
    assert needed is not None
    assert needed.cancelled()
    assert [place.name for place in workshop.launchers.cache_folder.parent.iterdir() if place.name.isdecimal()] == []


async def test_build_duration_is_profiled(workshop: Workshop) -> None:
    await workshop.build("*fp32")
    assert [(span.name, span.count) for span in workshop.profile.spans()] == [("build launcher", 1)]
