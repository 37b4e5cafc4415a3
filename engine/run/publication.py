"""The folders in which the code of a candidate's kernels is published for its own device, and its compilers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from engine import protocol
from engine.model import Launch
from engine.processes.builds.launchers import Launchers
from engine.processes.candidate_session import CandidateSession
from engine.protocol.proof.binaries import Prebuilt


@dataclass(frozen=True, kw_only=True)
class Publication:
    """Folders from which workers load code for their own device: kernels in `cache_folder`, launchers beside them.

    `build` returns the binary of the TTIR of a launch, made without the candidate; None if there is none, so that the
    candidate's compiler makes it; for launches that were made already only with `builds_launched`.  `loads_ahead` is
    the number of compilers that load the candidate before there is a launch, None for all; each other one waits until
    more launches are unfinished than compilers have begun.
    """

    cache_folder: Path
    launchers: Launchers | None = None
    loads_ahead: int | None = None
    build: Callable[[Launch, protocol.Lowered], Awaitable[Prebuilt | None]] | None = None
    builds_launched: bool = False

    async def prebuilt(
        self, session: CandidateSession, launch: Launch, *, target: str, deadline_s: float
    ) -> Prebuilt | None:
        """The binary of a launch, built from TTIR made by a compiler with the candidate; None if there is none.

        Raises:
            EngineError: that compiler failed.
        """
        if self.build is None:
            return None
        command = protocol.Lower(id=protocol.new_id(), launch=launch, target=target, keeps_text=True)
        lowered = await session.ask(command, deadline_s=deadline_s)
        return await self.build(launch, lowered) if isinstance(lowered, protocol.Lowered) else None
