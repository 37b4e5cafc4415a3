"""A compiler that dies, runs out of memory or cannot load the file is never a kernel's failure."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from engine import protocol
from engine.artefacts import ArtefactStore
from engine.errors import DeadlineError
from engine.model import Artefact, Outcome
from engine.processes.directories import EngineDirectories, Workspace
from engine.run.launch_compiler import LaunchCompiler
from engine.verdict.decide import Stop
from tests.engine.run.compile_site import LAUNCH, Site, builder_of, compile_everything, described, warps
from tests.guards import PATIENCE_S

if TYPE_CHECKING:
    from engine.processes.candidate_session import CandidateSession
    from tests.engine.conftest import Employ


async def test_unwritable_artefacts_do_not_fail_run(employ: Employ, tmp_path: Path) -> None:
    (tmp_path / "artefacts").write_text("a file stands where the folder should be")
    _, process_pool = employ(compile_everything)
    builder = builder_of(process_pool, tmp_path / "artefacts")
    builder.add(LAUNCH)
    builder.finish()
    try:
        await builder.run()
        assert [(kernel.outcome, kernel.artefacts) for kernel in builder.kernels] == [(Outcome.PASS, ())]
    finally:
        await builder.clear()


async def test_binary_of_compiler_dead_later_is_skipped(employ: Employ, tmp_path: Path) -> None:
    fake, process_pool = employ(compile_everything)
    builder = builder_of(process_pool, tmp_path)
    builder.add(LAUNCH)
    builder.add(replace(LAUNCH, num_warps=8))
    builder.finish()

    def die_at_the_second(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.Compile) and command.launch.num_warps == 8:
            fake.die(fake.youngest)
            return None
        return compile_everything(kind, command)

    fake.answer = die_at_the_second
    try:
        await builder.run()
        await builder.disassemble(lambda *_: None)
        assert [kernel.outcome for kernel in builder.kernels] == [Outcome.PASS, Outcome.ENGINE_ERROR]
    finally:
        await builder.clear()


async def test_compiler_that_cannot_start_does_not_blame_kernel(employ: Employ, tmp_path: Path) -> None:
    fake, process_pool = employ(compile_everything)
    fake.ready = False
    builder = builder_of(process_pool, tmp_path)
    builder.add(LAUNCH)
    builder.finish()
    await builder.run()
    await builder.clear()
    assert [kernel.outcome for kernel in builder.kernels] == [Outcome.ENGINE_ERROR]
    assert set(fake.forked) == {"compiler"}


async def test_compiler_out_of_memory_affects_only_its_launch(
    site: Site, directories: EngineDirectories, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_workspace = directories.open_workspace
    workspaces = 0

    def full_twice() -> Workspace:
        nonlocal workspaces
        workspaces += 1
        if workspaces <= 3:  # when there is nothing to compile yet, and twice for the first kernel
            raise OSError(28, "No space left on device")
        return open_workspace()

    monkeypatch.setattr(directories, "open_workspace", full_twice)
    site.builder.add(warps(4))
    site.builder.add(warps(8))
    await site.run()
    assert [(kernel.outcome, kernel.message) for kernel in site.builder.kernels] == [
        (Outcome.ENGINE_ERROR, "no space left for a compiler: No space left on device; free some space"),
        (Outcome.PASS, ""),
    ]


async def test_compiler_without_the_file_gets_no_requests(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("engine.processes.candidate_session._snapshot", full)
    site.builder.add(warps(4))
    site.builder.add(warps(8))
    await site.run()
    assert site.asked == []
    assert [kernel.outcome for kernel in site.builder.kernels] == [Outcome.ENGINE_ERROR] * 2


async def test_crashed_compiler_is_replaced_and_retried(site: Site) -> None:
    deaths = [4]

    def die_once(command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.Compile) and deaths and command.launch.num_warps == deaths.pop():
            site.fork_server.die(site.fork_server.youngest)
            return None
        return compile_everything("", command)

    site.answer = die_once
    site.builder.add(warps(4))
    await site.run()
    assert [kernel.outcome for kernel in site.builder.kernels] == [Outcome.PASS]
    assert site.compiled == [4, 4]


async def test_compiler_that_dies_while_it_describes_is_replaced(site: Site) -> None:
    deaths = [None]

    def die_once(command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.DescribeCompiled) and deaths:
            site.fork_server.die(site.fork_server.youngest)
            return deaths.pop()
        return compile_everything("", command)

    site.answer = die_once
    site.builder.add(warps(4), described())
    await site.run()
    assert [(kernel.outcome, len(kernel.artefacts)) for kernel in site.builder.kernels] == [(Outcome.PASS, 1)]
    assert site.compiled == [4, 4]


async def test_kernel_that_cannot_be_described_is_not_blamed(site: Site) -> None:
    def refuse_description(command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.DescribeCompiled):
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.COMPILE, message="no table of resources")
        return compile_everything("", command)

    site.answer = refuse_description
    site.builder.add(warps(4), described())
    await site.run()
    message = "it was compiled, but its registers and stages could not be read: no table of resources"
    assert [(kernel.outcome, kernel.message) for kernel in site.builder.kernels] == [(Outcome.UNSUPPORTED, message)]


async def test_kernel_can_be_launched_before_it_is_described(site: Site) -> None:
    done, *_ = site.builder.add(warps(4), described())
    were_done: list[bool] = []

    def note_at_description(command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.DescribeCompiled):
            were_done.append(done.done())
        return compile_everything("", command)

    site.answer = note_at_description
    await site.run()
    assert were_done == [True]
    assert [len(kernel.artefacts) for kernel in site.builder.kernels] == [1]


async def test_compiler_out_of_memory_does_not_blame_kernel(
    employ: Employ, directories: EngineDirectories, tmp_path: Path
) -> None:
    site = Site(employ, directories, tmp_path, own=False)
    site.answer = lambda command: (
        protocol.Failed(id=command.id, kind=protocol.FailureKind.ENGINE, message="No space left on device")
        if isinstance(command, protocol.Compile)
        else compile_everything("", command)
    )
    site.builder.add(warps(4))
    await site.run()
    assert [(kernel.outcome, kernel.message) for kernel in site.builder.kernels] == [
        (Outcome.ENGINE_ERROR, "No space left on device")
    ]


async def test_crashing_compiler_does_not_block(site: Site) -> None:
    def die_at_the_first(command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.Compile) and command.launch.num_warps == 4:
            site.fork_server.die(site.fork_server.youngest)
            return None
        return compile_everything("", command)

    site.answer = die_at_the_first
    futures = [future for count in (4, 8) for future in site.builder.add(warps(count))]
    await site.run()
    assert [future.done() for future in futures] == [True, True]
    assert [kernel.outcome for kernel in site.builder.kernels] == [Outcome.ENGINE_ERROR, Outcome.PASS]
    assert sum(isinstance(command, protocol.Load) for command in site.asked) == 3


async def test_file_that_needs_device_does_not_block(site: Site) -> None:
    site.answer = lambda command: protocol.Failed(
        id=command.id, kind=protocol.FailureKind.RAISED, message="no CUDA driver"
    )
    futures = [future for count in (4, 8) for future in site.builder.add(warps(count))]
    await site.run()
    assert [future.done() for future in futures] == [True, True]
    assert {(kernel.outcome, kernel.message) for kernel in site.builder.kernels} == {
        (Outcome.UNSUPPORTED, "the file does not load without a device: no CUDA driver")
    }
    assert site.compiled == []


async def test_stages_are_kept_beside_the_event_loop_one_launch_at_a_time(
    employ: Employ, directories: EngineDirectories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_end = threading.Event()
    keeping, most, waited = 0, 0, []

    def put(store: ArtefactStore, kind: str, content: bytes) -> Artefact:
        nonlocal keeping, most
        keeping += 1
        most = max(most, keeping)
        waited.append(may_end.wait(PATIENCE_S))
        keeping -= 1
        return Artefact(kind=kind, digest="0" * 64, bytes=len(content))

    monkeypatch.setattr(ArtefactStore, "put", put)
    site = Site(employ, directories, tmp_path)
    added = [site.builder.add(warps(count), described())[0] for count in (4, 8)]
    running = asyncio.create_task(site.run())
    await asyncio.wait_for(asyncio.wait(added), PATIENCE_S)  # the second is compiled while the first is being kept
    assert (site.compiled, site.emitted) == ([4, 8], [])
    may_end.set()
    await running
    assert (waited, most) == ([True, True], 1)
    assert site.emitted == [(1, 2, "pass"), (2, 2, "pass")]


@pytest.mark.parametrize(
    ("constants", "words"),
    [
        (
            {"BLOCK": "131072", "ROWS": "8192", "M": "4096", "KIND": "'sum'"},
            "; its largest constants are BLOCK=131,072, ROWS=8,192: smaller ones make less code",
        ),
        ({"BLOCK": "1024"}, ""),
    ],
    ids=["large", "small"],
)
async def test_large_constants_are_named_where_a_compiler_takes_too_long(constants: dict[str, str], words: str) -> None:
    async def stalls() -> protocol.AnyReply:
        raise DeadlineError("the compiler timed out after 60 s")

    async def clear() -> None:
        pass

    compiler, session = cast("LaunchCompiler", None), cast("CandidateSession", SimpleNamespace(clear=clear))
    stop = await LaunchCompiler._answered(compiler, session, stalls(), replace(LAUNCH, constants=constants))
    expected = f"while compiling, the compiler timed out after 60 s{words}"
    assert stop == Stop(outcome=Outcome.COMPILE_ERROR, message=expected)
