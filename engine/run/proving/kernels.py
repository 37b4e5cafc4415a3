"""The TTIR of the specialisations on tapes, made by a compiler and loaded into the replayer, each once in a run."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from engine import protocol
from engine.devices.hardware.targets import DEFAULT_TARGET
from engine.errors import DeadlineError, EngineError
from engine.model import Launch, specialisation
from engine.processes.candidate_session import CandidateSession, LoadError
from engine.protocol.proof.binaries import without_folders
from engine.protocol.proof.replaying import kernel_name
from engine.protocol.proof.tape import ClaimedKernel, Tape

_LOWER_S = 20.0
_MOST_TIMEOUTS = 2  # kernels beyond this time before no other is lowered in a run


@dataclass(frozen=True, kw_only=True)
class LoweredKernel:
    """A specialisation as data: its name in the replayer, its TTIR, and the arguments that it takes."""

    name: str
    ttir: str
    arguments: tuple[str, ...]


def claimed_kernels(tape: Tape) -> tuple[LoweredKernel, ...]:
    """The kernels of a tape as the worker claims to have compiled them, none where it claims nothing."""
    return (
        tuple(_kernel_of(claimed) for claimed in tape.claimed) if len(tape.claimed) == len(tape.specialisations) else ()
    )


def are_others(executed: Sequence[LoweredKernel], lowered: Sequence[LoweredKernel]) -> bool:
    """Whether kernels that a worker has executed differ from those of the file, as a compiler lowers them.

    Names of folders do not count.
    """
    return any(
        (one.arguments, without_folders(one.ttir)) != (other.arguments, without_folders(other.ttir))
        for one, other in zip(executed, lowered, strict=True)
    )


class NotLoweredError(Exception):
    """A kernel has no TTIR that can be replayed; the message has its name and the reason."""


class LoweredKernels:
    """Lowers each specialisation in a compiler of the candidate's own, once; `close` at the end."""

    def __init__(self, *, session: CandidateSession, target: str | None) -> None:
        self._session = session
        self.target = target or DEFAULT_TARGET
        self._answers: dict[tuple[object, ...], LoweredKernel | str] = {}
        self._unloadable = ""
        self._timeouts = 0
        self._asking = asyncio.Lock()

    async def of_tape(self, tape: Tape) -> tuple[LoweredKernel, ...]:
        """The kernels of a tape, by the numbers of its specialisations.

        Raises:
            NotLoweredError: one of them has no TTIR.
            EngineError: the compiler failed.
        """
        return tuple([await self.of_launch(launch) for launch in tape.specialisations])

    async def of_launch(self, launch: Launch) -> LoweredKernel:
        """The kernel of a launch.

        Raises:
            NotLoweredError: it has no TTIR.
            EngineError: the compiler failed.
        """
        async with self._asking:
            return await self._lowered(launch)

    async def shared_text(self, launch: Launch, state: str) -> str:
        """The TTIR of a launch as workers of the candidate can use it; "" if it cannot be shared.

        That is the case unless the compiler's frontend reads of the kernel what that of a worker in this `state` reads.

        Raises:
            NotLoweredError: it has no TTIR.
            EngineError: the compiler failed.
        """
        async with self._asking:
            reply = await self._lower(launch, shares=state)
        if isinstance(reply, str):
            raise NotLoweredError(reply)
        return reply.shared

    def keep(self, launch: Launch, lowered: protocol.Lowered) -> LoweredKernel:
        """The kernel of a launch that another compiler of the candidate has lowered."""
        kernel = _kernel_of(lowered)
        self._answers.setdefault(specialisation(launch), kernel)
        return kernel

    async def close(self) -> None:
        """End the compiler."""
        await self._session.clear()

    async def _lowered(self, launch: Launch) -> LoweredKernel:
        key = specialisation(launch)
        if key not in self._answers:
            await self._lower(launch)
        answer = self._answers[key]
        if isinstance(answer, str):
            raise NotLoweredError(answer)
        return answer

    async def _lower(self, launch: Launch, *, shares: str = "") -> protocol.Lowered | str:
        """The TTIR of a launch, or why there is none; the kernel or the reason is kept."""
        reply = await self._ask(launch, shares=shares)
        self._answers[specialisation(launch)] = reply if isinstance(reply, str) else _kernel_of(reply)
        return reply

    async def _ask(self, launch: Launch, *, shares: str = "") -> protocol.Lowered | str:
        """The TTIR of a launch, or why there is none."""
        if self._unloadable:
            return self._unloadable
        if self._timeouts >= _MOST_TIMEOUTS:
            return f"no TTIR of {launch.kernel}: not tried, as {self._timeouts} others took more than {_LOWER_S:g} s"
        try:
            if not self._session.occupied:
                await self._session.load()
        except LoadError as error:
            self._unloadable = f"the file does not load in a compiler: {error}"
            return self._unloadable
        command = protocol.Lower(id=protocol.new_id(), launch=launch, target=self.target, shares=shares)
        try:
            reply = await self._session.ask(command, deadline_s=_LOWER_S)
        except DeadlineError:
            self._timeouts += 1
            await self._session.clear()
            return f"no TTIR of {launch.kernel} after {_LOWER_S:g} s"
        if isinstance(reply, protocol.Failed):
            if reply.kind is protocol.FailureKind.ENGINE:
                raise EngineError(f"no TTIR of {launch.kernel}: {reply.message}")
            return reply.message
        if not isinstance(reply, protocol.Lowered):
            raise EngineError(f"a compiler answered a request for TTIR with {type(reply).__name__}")
        return reply


def _kernel_of(lowered: protocol.Lowered | ClaimedKernel) -> LoweredKernel:
    name = kernel_name(lowered.ttir, lowered.arguments)
    return LoweredKernel(name=name, ttir=lowered.ttir, arguments=lowered.arguments)
