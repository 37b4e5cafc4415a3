"""A builder whose compilers are scripted by the test."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from engine import protocol
from engine.artefacts import ArtefactStore
from engine.model import Candidate, CompiledKernel, Launch, Limits
from engine.processes.candidate_session import CandidateSession, LoadRequest
from engine.processes.directories import EngineDirectories
from engine.processes.process_pool import ProcessPool
from engine.profile import Profile
from engine.protocol.proof.binaries import Prebuilt
from engine.run.compile_queue import Builder
from engine.run.publication import Publication

if TYPE_CHECKING:
    from tests.engine.conftest import Employ

Build: TypeAlias = Callable[[Launch, protocol.Lowered], Awaitable[Prebuilt | None]]

LAUNCH = Launch(
    kernel="k", signature={}, constants={}, divisible_by_16=(), num_warps=4, num_stages=3, grid=(1,), line=1
)


def compile_everything(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply:
    if isinstance(command, protocol.BuildLauncher):
        return protocol.Compiled(id=command.id, stages={}, cache=("TYPES/launcher.so",))
    if isinstance(command, protocol.Compile) and command.specialisation:
        return protocol.Compiled(id=command.id, stages={})
    if isinstance(command, protocol.Compile | protocol.DescribeCompiled):
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
    build: Build | None = None,
    loads_ahead: int | None = None,
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
    publication = None
    if cache_folder:
        publication = Publication(
            cache_folder=cache_folder, launchers=process_pool.launchers, build=build, loads_ahead=loads_ahead
        )
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
        build: Build | None = None,
        loads_ahead: int | None = None,
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
            on_kernel=self._record,
            profile=self.profile,
            patience_s=patience_s,
            held=held,
            build=build,
            loads_ahead=loads_ahead,
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

    def _record(self, number: int, total: int, kernel: CompiledKernel) -> None:
        self.emitted.append((number, total, kernel.outcome.value))


def warps(count: int) -> Launch:
    """One of the launches that differ in nothing but their warps."""
    return replace(LAUNCH, num_warps=count)


def described(*types: str) -> str:
    return json.dumps({"name": "k", "signature": {f"x{i}": kind for i, kind in enumerate(types)}})
