"""Building what was launched: what goes wrong around a kernel is never said of the kernel."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine import protocol
from engine.artefacts import ArtefactStore
from engine.model import Candidate, CompiledKernel, Launch, Limits, Outcome
from engine.processes.candidate_session import CandidateSession, LoadRequest
from engine.processes.directories import EngineDirectories, Room
from engine.processes.process_pool import ProcessPool
from engine.profile import Profile
from engine.run.compile_queue import Builder, Publication

if TYPE_CHECKING:
    from tests.engine.conftest import Employ

LAUNCH = Launch(
    kernel="k", signature={}, constants={}, divisible_by_16=(), num_warps=4, num_stages=3, grid=(1,), line=1
)


def compile_everything(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply:
    if isinstance(command, protocol.BuildLauncher):
        return protocol.Compiled(id=command.id, stages={}, cache=("TYPES/launcher.so",))
    if isinstance(command, protocol.Compile):
        name = f"{command.id}.cubin"
        (Path(command.folder) / name).write_bytes(b"binary")
        return protocol.Compiled(id=command.id, stages={"cubin": name})
    return protocol.Done(id=command.id)


def builder_of(
    process_pool: ProcessPool,
    artefacts: Path,
    *,
    sessions: int = 1,
    cache_folder: Path | None = None,
    on_kernel: Callable[[int, int, CompiledKernel], None] = lambda *_: None,
    profile: Profile | None = None,
    patience_s: float = 600.0,
    held: bool = False,
) -> Builder:
    candidate = Candidate(source=b"", problem="toy::twice")
    places = tuple(
        CandidateSession(
            LoadRequest(candidate=candidate, entry="f"),
            spare=process_pool.compiler,
            limits=Limits(),
            on_log=lambda *_: None,
        )
        for _ in range(sessions)
    )
    publication = Publication(cache_folder=cache_folder, launchers=process_pool.launchers) if cache_folder else None
    builder = Builder(
        sessions=places,
        target="sm_90",
        limits=Limits(),
        artefacts=ArtefactStore(folder=artefacts),
        profile=profile or Profile(lambda: 0.0, started=0.0),
        on_kernel=on_kernel,
        publication=publication,
        patience_s=patience_s,
    )
    if held:
        builder.hold()
    return builder


class Site:
    """A builder for a device, whose compilers are played here: `asked` is what they were, `emitted` what it said.

    Not for its `own` device, it is a builder for a target that nothing is launched on.
    """

    def __init__(
        self,
        employ: Employ,
        directories: EngineDirectories,
        artefacts: Path,
        *,
        sessions: int = 1,
        own: bool = True,
        patience_s: float = 600.0,
        held: bool = False,
    ) -> None:
        self.asked: list[protocol.AnyCommand] = []
        self.emitted: list[tuple[int, int, str]] = []
        self.answer: Callable[[protocol.AnyCommand], protocol.AnyReply | None] = lambda command: compile_everything(
            "", command
        )
        self.directories = directories
        self.cache_folder = directories.open_kernel_cache()
        self.profile = Profile(lambda: 0.0, started=0.0)
        self.fork_server, self.process_pool = employ(self._play, target="sm_90")
        self.builder = builder_of(
            self.process_pool,
            artefacts,
            sessions=sessions,
            cache_folder=self.cache_folder if own else None,
            on_kernel=self._tell,
            profile=self.profile,
            patience_s=patience_s,
            held=held,
        )

    @property
    def compiled(self) -> list[int]:
        """The warps of the launches that were compiled: they tell the specialisations of these tests apart."""
        return [command.launch.num_warps for command in self.asked if isinstance(command, protocol.Compile)]

    def cache_of(self, command: protocol.Compile) -> Path:
        """The cache folder of the compiler that was asked."""
        return self.directories.folder / Path(command.folder).name / "triton"

    async def run(self) -> None:
        """Compile what was added."""
        self.builder.finish()
        try:
            await self.builder.run()
        finally:
            await self.builder.clear()
            if self.process_pool.launchers is not None:
                await self.process_pool.launchers.close()

    def _play(self, kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        self.asked.append(command)
        return self.answer(command)

    def _tell(self, number: int, total: int, kernel: CompiledKernel) -> None:
        self.emitted.append((number, total, kernel.outcome.value))


@pytest.fixture
def site(employ: Employ, directories: EngineDirectories, tmp_path: Path) -> Site:
    return Site(employ, directories, tmp_path)


def warps(count: int) -> Launch:
    """One of the launches that differ in nothing but their warps."""
    return replace(LAUNCH, num_warps=count)


def described(*types: str) -> str:
    return json.dumps({"name": "k", "signature": {f"x{i}": kind for i, kind in enumerate(types)}})


def refused(command: protocol.AnyCommand) -> protocol.AnyReply:
    if isinstance(command, protocol.Compile):
        return protocol.Failed(id=command.id, kind=protocol.FailureKind.COMPILE, message="too many registers")
    return compile_everything("", command)


async def test_artefacts_that_cannot_be_kept_do_not_end_run(employ: Employ, tmp_path: Path) -> None:
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


async def test_specialisation_is_compiled_once_for_all_waiters(site: Site) -> None:
    first = site.builder.add(warps(4))
    again = site.builder.add(replace(warps(4), grid=(9,), count=7))
    other = site.builder.add(warps(8))
    assert (first == again, first == other) == (True, False)
    await site.run()
    assert site.compiled == [4, 8]
    assert site.emitted == [(1, 2, "pass"), (2, 2, "pass")]
    assert [future.done() for future in (*first, *other)] == [True, True]


async def test_launch_of_dry_run_is_not_compiled_again(site: Site) -> None:
    site.builder.add(warps(4), described("*fp32"))
    site.builder.add(warps(4))
    await site.run()
    assert site.compiled == [4]


async def test_launch_is_compiled_from_tritons_description(site: Site) -> None:
    site.builder.add(warps(4), described("*fp32"))
    site.builder.add(warps(8))
    await site.run()
    assert [command.specialisation for command in site.asked if isinstance(command, protocol.Compile)] == [
        described("*fp32"),
        "",
    ]


async def test_launcher_is_awaited_and_built_once_per_types(site: Site) -> None:
    first = site.builder.add(warps(4), described("*fp32", "i32"))
    same = site.builder.add(warps(8), described("*fp32", "i32"))
    other = site.builder.add(warps(2), described("*fp32", "i64"))
    assert (len(first), len(same), len(other)) == (2, 2, 2)
    assert (first[1] is same[1], first[1] is other[1]) == (True, False)
    await asyncio.wait([first[1], other[1]])
    await site.run()
    built = [command.types for command in site.asked if isinstance(command, protocol.BuildLauncher)]
    assert sorted(built) == [("*i8", "i32"), ("*i8", "i64")]


async def test_launch_without_dry_run_needs_no_launcher(site: Site) -> None:
    assert len(site.builder.add(warps(4))) == 1
    await site.run()
    assert [command for command in site.asked if isinstance(command, protocol.BuildLauncher)] == []


async def test_compiled_code_is_published_before_it_is_reported(site: Site) -> None:
    def with_a_file(command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if not isinstance(command, protocol.Compile):
            return compile_everything("", command)
        (site.cache_of(command) / "KEY").mkdir(parents=True)
        (site.cache_of(command) / "KEY" / "k.cubin").write_bytes(b"binary")
        (site.cache_of(command) / "secret").write_bytes(b"secret")
        return protocol.Compiled(id=command.id, stages={}, cache=("KEY/k.cubin", "secret", "../secret", "KEY/missing"))

    site.answer = with_a_file
    [done, *_] = site.builder.add(warps(4), described())
    seen: list[list[str]] = []
    done.add_done_callback(
        lambda _: seen.append([path.relative_to(site.cache_folder).as_posix() for path in site.cache_folder.rglob("*")])
    )
    await site.run()
    assert [sorted(names) for names in seen] == [["KEY", "KEY/k.cubin"]]
    assert (site.cache_folder / "KEY" / "k.cubin").read_bytes() == b"binary"


async def test_dry_run_specialisation_failing_to_build_is_no_failure(site: Site) -> None:
    site.answer = lambda command: (
        refused(command)
        if isinstance(command, protocol.Compile) and command.launch.num_warps == 32
        else compile_everything("", command)
    )
    unbuilt = site.builder.add(warps(32), described())
    site.builder.add(warps(4), described())
    await site.run()
    assert [kernel.launch.num_warps for kernel in site.builder.kernels] == [4]
    assert site.emitted == [(1, 1, "pass")]
    assert [future.done() for future in unbuilt] == [True]


async def test_launch_failing_for_another_target_is_failure(
    employ: Employ, directories: EngineDirectories, tmp_path: Path
) -> None:
    site = Site(employ, directories, tmp_path, own=False)
    site.answer = refused
    site.builder.add(warps(4))
    await site.run()
    assert [(kernel.outcome, kernel.message) for kernel in site.builder.kernels] == [
        (Outcome.COMPILE_ERROR, "too many registers")
    ]


async def test_kernel_launched_here_counts_as_built(site: Site) -> None:
    site.answer = refused
    site.builder.add(warps(4))
    await site.run()
    assert [(kernel.outcome, kernel.message) for kernel in site.builder.kernels] == [
        (Outcome.UNSUPPORTED, "it was launched here, and could not be compiled apart from that: too many registers")
    ]


@pytest.mark.parametrize("later", [False, True])
async def test_early_build_failure_is_reported_when_launched(site: Site, later: bool) -> None:
    def refuse_ahead(command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.Compile) and command.specialisation:
            if not later:
                site.builder.add(warps(4))  # while it is being compiled
            return refused(command)
        return compile_everything("", command)

    site.answer = refuse_ahead
    [ahead, *_] = site.builder.add(warps(4), described())
    running = asyncio.create_task(site.builder.run())
    await asyncio.wait([ahead])
    [again] = site.builder.add(warps(4))
    site.builder.add(warps(4))
    assert (again is ahead, again.done()) == (True, True)  # not awaited a second time
    site.builder.finish()
    await running
    await site.builder.clear()
    assert site.emitted == [(1, 1, "pass")]
    assert site.compiled == [4, 4]
    assert site.builder.unfinished == 0


async def test_unfinished_builds_are_counted_when_run_ends_early(site: Site) -> None:
    started = asyncio.Event()
    site.answer = lambda command: (
        started.set() if isinstance(command, protocol.Compile) else compile_everything("", command)
    )
    site.builder.add(warps(4))
    site.builder.add(warps(8), described())
    running = asyncio.create_task(site.builder.run())
    await started.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await site.builder.clear()
    assert (site.builder.unfinished, site.builder.kernels) == (2, [])


async def test_too_many_requests_are_reported_and_not_awaited(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.run.compile_queue._MOST_JOBS", 2)
    [first], [second] = site.builder.add(warps(1)), site.builder.add(warps(2))
    assert not site.builder.overfull
    assert site.builder.add(warps(4), described("*fp32")) == []
    assert site.builder.add(warps(1)) == [first]
    await site.run()
    assert site.builder.overfull
    assert site.compiled == [1, 2]
    assert second.done()


async def test_launchers_per_candidate_are_limited(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.run.compile_queue._MOST_LAUNCHERS", 2)
    waits = [len(site.builder.add(warps(count), described(f"i{count}"))) for count in (8, 16, 32)]
    assert waits == [2, 2, 1]
    await site.run()


async def test_compiling_beyond_time_limit_omits_the_rest(
    employ: Employ, directories: EngineDirectories, tmp_path: Path
) -> None:
    site = Site(employ, directories, tmp_path, patience_s=0.0)
    futures = [future for count in (4, 8) for future in site.builder.add(warps(count))]
    await site.run()
    assert [future.done() for future in futures] == [True, True]
    assert {(kernel.outcome, kernel.message) for kernel in site.builder.kernels} == {
        (Outcome.UNSUPPORTED, "compiling took more than 0 s, and the rest was left out")
    }
    assert site.compiled == []


async def test_published_bytes_per_candidate_are_limited(
    employ: Employ, directories: EngineDirectories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def with_a_file(command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if not isinstance(command, protocol.Compile):
            return compile_everything("", command)
        name = f"KEY{command.launch.num_warps}"
        (site.cache_of(command) / name).mkdir(parents=True)
        (site.cache_of(command) / name / "k.cubin").write_bytes(b"binary")
        return protocol.Compiled(id=command.id, stages={}, cache=(f"{name}/k.cubin",))

    monkeypatch.setattr("engine.run.compile_queue._MOST_SHELVED_BYTES", 2 * len(b"binary") + 1)
    site = Site(employ, directories, tmp_path)
    site.answer = with_a_file
    for count in (1, 2, 4):
        site.builder.add(warps(count))
    await site.run()
    assert sorted(path.name for path in site.cache_folder.iterdir()) == ["KEY1", "KEY2"]


async def test_compiler_out_of_memory_is_reported_and_others_continue(
    site: Site, directories: EngineDirectories, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_room = directories.open_room
    rooms = 0

    def full_twice() -> Room:
        nonlocal rooms
        rooms += 1
        if rooms <= 3:  # when there is nothing to compile yet, and twice for the first kernel
            raise OSError(28, "No space left on device")
        return open_room()

    monkeypatch.setattr(directories, "open_room", full_twice)
    site.builder.add(warps(4))
    site.builder.add(warps(8))
    await site.run()
    assert [(kernel.outcome, kernel.message) for kernel in site.builder.kernels] == [
        (Outcome.ENGINE_ERROR, "no compiler found room: No space left on device; free some space"),
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


async def test_compiler_dying_once_is_replaced_and_retried(site: Site) -> None:
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


async def test_dying_compiler_does_not_block(site: Site) -> None:
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


async def test_file_failing_to_load_without_device_does_not_block(site: Site) -> None:
    site.answer = lambda command: protocol.Failed(
        id=command.id, kind=protocol.FailureKind.RAISED, message="no CUDA driver"
    )
    futures = [future for count in (4, 8) for future in site.builder.add(warps(count))]
    await site.run()
    assert [future.done() for future in futures] == [True, True]
    assert {kernel.outcome for kernel in site.builder.kernels} == {Outcome.UNSUPPORTED}
    assert site.builder.trouble is not None
    assert site.builder.trouble.message == "the file does not load without a device: no CUDA driver"
    assert site.compiled == []


async def test_a_builder_is_idle_until_something_is_added(site: Site) -> None:
    assert site.builder.idle
    site.builder.add(warps(4))
    assert not site.builder.idle
    await site.run()


async def test_compilers_load_candidate_before_first_launch(
    employ: Employ, directories: EngineDirectories, tmp_path: Path
) -> None:
    site = Site(employ, directories, tmp_path, sessions=3)
    await site.run()
    assert [type(command) for command in site.asked] == [protocol.Load] * 3


async def test_several_compilers_share_the_work(employ: Employ, directories: EngineDirectories, tmp_path: Path) -> None:
    site = Site(employ, directories, tmp_path, sessions=3)
    for count in (1, 2, 4, 8, 16):
        site.builder.add(warps(count))
    await site.run()
    assert sorted(site.compiled) == [1, 2, 4, 8, 16]
    assert len(site.fork_server.forked) == 3
    assert [number for number, _, _ in site.emitted] == [1, 2, 3, 4, 5]


async def test_settling_waits_only_for_added_launches(site: Site) -> None:
    running = asyncio.create_task(site.builder.run())
    await site.builder.settle()
    [future] = site.builder.add(warps(4))
    await site.builder.settle()
    assert future.done()
    assert not running.done()
    site.builder.finish()
    await running
    await site.builder.clear()


async def test_how_long_compiling_and_publishing_take_is_reported(site: Site) -> None:
    site.builder.add(warps(4))
    site.builder.add(warps(8))
    await site.run()
    assert [(span.name, span.count) for span in site.profile.spans()] == [("compile", 2), ("publish", 2)]


async def test_held_builder_compiles_nothing_before_release(
    employ: Employ, directories: EngineDirectories, tmp_path: Path
) -> None:
    site = Site(employ, directories, tmp_path, own=False, held=True)
    running = asyncio.create_task(site.builder.run())
    [compiled] = site.builder.add(warps(4))
    for _ in range(20):
        await asyncio.sleep(0)
    assert (site.builder.held, site.asked) == (True, [])
    site.builder.release()
    await compiled
    assert (site.builder.held, site.compiled) == (False, [4])
    site.builder.finish()
    await running
    await site.builder.clear()


async def test_held_builder_ends_when_run_ends_early(
    employ: Employ, directories: EngineDirectories, tmp_path: Path
) -> None:
    site = Site(employ, directories, tmp_path, own=False, held=True)
    site.builder.add(warps(4))
    await site.run()
    assert (site.compiled, site.builder.unfinished) == ([4], 0)


async def test_every_kernel_is_compiled_once_before_further_specialisations(
    employ: Employ, directories: EngineDirectories, tmp_path: Path
) -> None:
    site = Site(employ, directories, tmp_path, own=False, held=True)
    for launch in (warps(1), warps(2), replace(warps(3), kernel="second"), replace(warps(4), kernel="second")):
        site.builder.add(launch)
    await site.run()
    assert site.compiled == [1, 3, 2, 4]


async def test_kernels_for_the_own_device_keep_their_order(site: Site) -> None:
    for launch in (warps(1), warps(2), replace(warps(3), kernel="second")):
        site.builder.add(launch)
    await site.run()
    assert site.compiled == [1, 2, 3]


async def test_expected_launches_are_skipped_once_not_awaited(site: Site) -> None:
    expected = site.builder.add(warps(8), described())
    launched = site.builder.add(warps(4))
    site.builder.expect_no_more()
    await site.run()
    assert [kernel.launch.num_warps for kernel in site.builder.kernels] == [4]
    assert (site.emitted, site.builder.unfinished) == ([(1, 1, "pass")], 0)
    assert [future.done() for future in (*expected, *launched)] == [True, True]


async def test_skipped_launch_is_compiled_when_launched(site: Site) -> None:
    site.builder.add(warps(8), described())
    site.builder.expect_no_more()
    site.builder.add(warps(8))
    await site.run()
    assert [kernel.launch.num_warps for kernel in site.builder.kernels] == [8]
