"""Compiles one launch with one compiler, and reads what the compiler left; the queue decides the order.

For the device that the candidate runs on, the results are published in a folder where the worker's Triton finds them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from engine import protocol
from engine.artefacts import ArtefactStore
from engine.errors import DeadlineError, EngineError, WireError
from engine.model import Artefact, CompiledKernel, Launch, Limits, Outcome
from engine.processes.builds.kernel_cache import publish
from engine.processes.candidate_session import CandidateSession, LoadError
from engine.profile import Profile
from engine.run.publication import Publication
from engine.sandbox.untrusted_files import UntrustedFileError, read_untrusted
from engine.verdict import outcome_mapping
from engine.verdict.decide import Stop

_MAX_ARTEFACT_BYTES = 64 << 20
_MOST_PUBLISHED_BYTES = 1 << 30
_LARGE, _MOST_NAMED = 4096, 2  # constants of a kernel that took too long, and how many of them are named


@dataclass(frozen=True, kw_only=True)
class Binary:
    """A compiled binary that can be disassembled: its compiler, and its file."""

    session: CandidateSession
    folder: Path
    name: str


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """A launch that a compiler was asked for by the command `id`, and its reply, after `elapsed_s` seconds."""

    id: str
    session: CandidateSession
    launch: Launch
    specialisation: str
    reply: protocol.AnyReply | Stop
    elapsed_s: float

    @property
    def is_to_be_described(self) -> bool:
        """Whether the kernel of an expected launch was made, and only its files for a launch are there."""
        return self.specialisation != "" and self.has_kernel

    @property
    def has_kernel(self) -> bool:
        """Whether a kernel was made."""
        return isinstance(self.reply, protocol.Compiled)


@dataclass(frozen=True, kw_only=True)
class CompiledLaunch:
    """A kernel without artefacts, and the files of its stages by kind, which its compiler left in `folder`."""

    kernel: CompiledKernel
    session: CandidateSession | None = None
    folder: Path | None = None
    stages: Mapping[str, str] = field(default_factory=dict)

    @property
    def binary(self) -> Binary | None:
        """The NVIDIA binary; None if there is none."""
        name = self.stages.get("cubin")
        if name is None or self.session is None or self.folder is None:
            return None
        return Binary(session=self.session, folder=self.folder, name=name)


class LaunchCompiler:
    """Compiles launches of one run for one target; `trouble` is set when no more can be compiled.

    `unkept` is the reason why compiled code is not in the artefacts, "" where all of it is.
    """

    def __init__(
        self,
        *,
        target: str,
        limits: Limits,
        artefacts: ArtefactStore,
        profile: Profile,
        publication: Publication | None,
        patience_s: float,
    ) -> None:
        self._target = target
        self._limits = limits
        self._artefacts = artefacts
        self._profile = profile
        self._publication = publication
        self._cache_bytes_left = _MOST_PUBLISHED_BYTES
        self._patience_s = patience_s
        self._until_s: float | None = None
        self._publishing = asyncio.Lock()
        self._keeping = asyncio.Lock()
        self.trouble: Stop | None = None
        self.unkept = ""

    def begin(self) -> None:
        """Start the time within which all launches must be compiled."""
        self._until_s = asyncio.get_running_loop().time() + self._patience_s

    async def load(self, session: CandidateSession) -> None:
        """Load the candidate; sets `trouble` if its file does not load.  Raises EngineError and OSError."""
        try:
            await session.load()
        except LoadError as error:
            message = f"the file does not load without a device: {error}"
            self.trouble = Stop(outcome=Outcome.UNSUPPORTED, message=message)

    async def compile(self, session: CandidateSession, launch: Launch, specialisation: str) -> Attempt:
        """Compile a launch; an expected one is published, and can be launched after that.

        `specialisation` is Triton's own description of an expected launch, "" for one that was launched.
        """
        now_s = asyncio.get_running_loop().time()
        if self.trouble is None and self._until_s is not None and now_s >= self._until_s:
            message = f"compilation took more than {self._patience_s:g} s, so the rest was left out"
            self.trouble = Stop(outcome=Outcome.UNSUPPORTED, message=message)
        attempt = await self._attempt(session, launch, specialisation)
        if isinstance(attempt.reply, Stop) and attempt.reply.outcome is Outcome.ENGINE_ERROR:
            attempt = await self._attempt(session, launch, specialisation)  # by another compiler: this one exited
        if specialisation and isinstance(attempt.reply, protocol.Compiled):
            await self._publish(attempt.reply.cache, session.cache)
        return attempt

    async def describe(self, attempt: Attempt) -> CompiledLaunch:
        """The kernel that a compiler has made, whose stages are to be kept."""
        reply = await self._described(attempt)
        if attempt.is_to_be_described and _is_engine_failure(reply):  # another compiler has to compile it again
            attempt = await self.compile(attempt.session, attempt.launch, attempt.specialisation)
            reply = await self._described(attempt)
        kernel = self._kernel(attempt.launch, reply, attempt.elapsed_s)
        if kernel.outcome is Outcome.COMPILE_ERROR and attempt.is_to_be_described:
            message = f"it was compiled, but its registers and stages could not be read: {kernel.message}"
            kernel = replace(kernel, outcome=Outcome.UNSUPPORTED, message=message)
        elif kernel.outcome is Outcome.COMPILE_ERROR and self._publication is not None and not attempt.specialisation:
            # It was launched on this device, so the kernel compiles and the fault is the compiler's.
            message = f"it was launched here, but could not be compiled separately: {kernel.message}"
            kernel = replace(kernel, outcome=Outcome.UNSUPPORTED, message=message)
        if not isinstance(reply, protocol.Compiled):
            return CompiledLaunch(kernel=kernel)
        session = attempt.session
        return CompiledLaunch(kernel=kernel, session=session, folder=session.shared, stages=reply.stages)

    async def kept(self, compiled: CompiledLaunch) -> CompiledKernel:
        """The kernel with its stages in the artefacts, copied in a thread, those of one launch at a time."""
        if compiled.folder is None:
            return compiled.kernel
        async with self._keeping:
            with self._profile.span("keep compiled code"):
                kept = await asyncio.to_thread(self._keep, compiled.folder, compiled.stages)
        return replace(compiled.kernel, artefacts=kept)

    async def _attempt(self, session: CandidateSession, launch: Launch, specialisation: str) -> Attempt:
        identifier = protocol.new_id()
        with self._profile.span("compile") as span:
            asked = self._asked_to_compile(session, launch, specialisation, identifier)
            reply = await self._answered(session, asked, launch)
        return Attempt(
            id=identifier, session=session, launch=launch, specialisation=specialisation, reply=reply,
            elapsed_s=span.elapsed_s,
        )  # fmt: skip

    async def _described(self, attempt: Attempt) -> protocol.AnyReply | Stop:
        """The reply that describes a kernel, or why there is none."""
        session = attempt.session
        if not attempt.is_to_be_described:
            return attempt.reply
        if not session.occupied:
            return Stop(outcome=Outcome.ENGINE_ERROR, message="its compiler has ended")
        command = protocol.DescribeCompiled(id=protocol.new_id(), compiled=attempt.id, folder=str(session.shared))
        with self._profile.span("describe kernel"):
            asked = session.ask(command, deadline_s=self._limits.compile_s)
            return await self._answered(session, asked, attempt.launch)

    async def _asked_to_compile(
        self, session: CandidateSession, launch: Launch, specialisation: str, identifier: str
    ) -> protocol.AnyReply | Stop:
        if not session.occupied and self.trouble is None:
            await self.load(session)
        if self.trouble is not None:
            return self.trouble
        limit_s, prebuilt = self._limits.compile_s, None
        published = self._publication
        if published is not None and (specialisation or published.builds_launched):
            prebuilt = await published.prebuilt(session, launch, target=self._target, deadline_s=limit_s)
        command = protocol.Compile(
            id=identifier, launch=launch, target=self._target, folder=str(session.shared),
            specialisation=specialisation, prebuilt=prebuilt,
        )  # fmt: skip
        return await session.ask(command, deadline_s=limit_s)

    async def _answered(
        self, session: CandidateSession, asked: Awaitable[protocol.AnyReply | Stop], launch: Launch
    ) -> protocol.AnyReply | Stop:
        """The answer of a compiler; a compiler that fails is ended."""
        try:
            return await asked
        except DeadlineError as error:
            await session.clear()
            message = f"while compiling, {error}{_large_constants(launch)}"
            return Stop(outcome=Outcome.COMPILE_ERROR, message=message)
        except WireError as error:
            await session.clear()
            stop = outcome_mapping.of_worker_error(error, "while compiling")
            return Stop(outcome=Outcome.COMPILE_ERROR, message=stop.message)
        except EngineError as error:
            await session.clear()
            return Stop(outcome=Outcome.ENGINE_ERROR, message=str(error))
        except OSError as error:
            await session.clear()  # it may be running without the candidate
            message = f"no space left for a compiler: {error.strerror or error}; free some space"
            return Stop(outcome=Outcome.ENGINE_ERROR, message=message)

    async def disassemble(self, binary: Binary) -> tuple[Artefact, ...]:
        """The SASS of a binary; nothing where its compiler has exited."""
        if not binary.session.occupied or binary.session.shared != binary.folder:
            return ()  # its files are removed
        command = protocol.Disassemble(id=protocol.new_id(), folder=str(binary.folder), cubin=binary.name)
        try:
            reply = await binary.session.ask(command, deadline_s=self._limits.compile_s)
        except EngineError:
            return ()
        return self._keep(binary.folder, reply.stages) if isinstance(reply, protocol.Compiled) else ()

    async def _publish(self, names: tuple[str, ...], cache: Path) -> None:
        """Publish files of a compiler's `cache`, those of one launch at a time.

        In a thread: the event loop has calls of the candidate to forward meanwhile.
        """
        if self._publication is None:
            return
        folder = self._publication.cache_folder
        async with self._publishing:
            with self._profile.span("publish kernel"):
                self._cache_bytes_left -= await asyncio.to_thread(
                    publish, names, cache, folder, most_bytes=self._cache_bytes_left
                )

    def _kernel(self, launch: Launch, reply: protocol.AnyReply | Stop, elapsed_s: float) -> CompiledKernel:
        if isinstance(reply, protocol.Compiled):
            return CompiledKernel(
                launch=launch,
                target=self._target,
                outcome=Outcome.PASS,
                elapsed_s=elapsed_s,
                registers=reply.registers,
                spill_bytes=reply.spill_bytes,
                shared_bytes=reply.shared_bytes,
                narrow_offset_line=reply.narrow_offset_line,
            )
        if isinstance(reply, protocol.Failed) and reply.kind is protocol.FailureKind.ENGINE:
            reply = Stop(outcome=Outcome.ENGINE_ERROR, message=reply.message)
        elif isinstance(reply, protocol.Failed):
            reply = outcome_mapping.of_failure(reply)
        if not isinstance(reply, Stop):
            reply = Stop(outcome=Outcome.TAMPERED, message=f"a compile was answered with {type(reply).__name__}")
        return CompiledKernel(
            launch=launch,
            target=self._target,
            outcome=reply.outcome,
            elapsed_s=elapsed_s,
            message=reply.message,
            location=reply.location,
        )

    def _keep(self, folder: Path, stages: Mapping[str, str]) -> tuple[Artefact, ...]:
        kept: list[Artefact] = []
        for kind, name in stages.items():
            try:
                content = read_untrusted(folder / Path(name).name, max_bytes=_MAX_ARTEFACT_BYTES)
            except UntrustedFileError:
                continue
            try:
                kept.append(self._artefacts.put(kind, content))
            except OSError as error:
                self.unkept = f"compiled code could not be stored: {error.strerror or error}; free some space"
        return tuple(kept)


def _is_engine_failure(reply: protocol.AnyReply | Stop) -> bool:
    """Whether a compiler has failed, or is not the one that has compiled the launch."""
    if isinstance(reply, Stop):
        return reply.outcome is Outcome.ENGINE_ERROR
    return isinstance(reply, protocol.Failed) and reply.kind is protocol.FailureKind.ENGINE


def _large_constants(launch: Launch) -> str:
    """The largest constants of a launch, which decide how much code a kernel has, in words; "" if all are small."""
    numbers = {name: int(text) for name, text in launch.constants.items() if text.isdecimal()}
    large = sorted((name for name in numbers if numbers[name] >= _LARGE), key=lambda name: -numbers[name])
    named = ", ".join(f"{name}={numbers[name]:,}" for name in large[:_MOST_NAMED])
    return f"; its largest constants are {named}: smaller ones make less code" if named else ""
