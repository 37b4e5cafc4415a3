"""The processes for the replays of one run, shared by its clock and its proof, and started ahead of both.

On a device each kernel is compiled once, from its TTIR and without the candidate, for replays and for the candidate's
own launches: the compilers that have loaded the candidate make the TTIR, and put the binary into Triton's cache.
"""

from __future__ import annotations

import asyncio

from engine import protocol
from engine.devices.hardware.targets import NVIDIA_BACKEND, target_named
from engine.errors import EngineError
from engine.model import Launch, specialisation
from engine.processes.builds.binaries import NotBuiltError
from engine.processes.candidate_session import CandidateSession
from engine.processes.process_pool import ProcessPool
from engine.processes.resources.control_group import ControlGroup
from engine.protocol.proof.binaries import Prebuilt
from engine.run.proving.binaries import BinaryBuilds
from engine.run.proving.kernels import LoweredKernels, NotLoweredError
from engine.run.proving.replayer import PersistentReplayer

_MOST_AHEAD = 256  # specialisations compiled ahead; others are compiled when a tape launches them


class ReplayProcesses:
    """The compiler of a candidate's TTIR, the compilers of binaries, and the replayer; `close` at the end.

    `launched_on` is the target of the device that launches binaries, None if the machine executes modules; `target` is
    the target of TTIR in that case.  With `keeps_replayer` the replayer is left to the next run of the engine.
    """

    def __init__(
        self,
        process_pool: ProcessPool,
        session: CandidateSession,
        *,
        launched_on: str | None,
        target: str | None,
        group: ControlGroup | None = None,
        keeps_replayer: bool = False,
    ) -> None:
        self._process_pool = process_pool
        self.kernels = LoweredKernels(session=session, target=launched_on or target)
        self._builds: BinaryBuilds | None = None
        if launched_on is not None and target_named(launched_on).backend == NVIDIA_BACKEND:
            self._builds = BinaryBuilds(process_pool.binaries, target=launched_on, group=group)
        self.replayer = PersistentReplayer(process_pool, self._builds, is_kept=keeps_replayer)
        self._wanted: dict[tuple[object, ...], Launch] = {}
        self._lowered: set[tuple[object, ...]] = set()
        self._ahead: set[asyncio.Task[None]] = set()

    def prepare(self, launch: Launch) -> None:
        """Load the kernel of a launch into the replayer once it is built, for a later replay."""
        key = specialisation(launch)
        if self._builds is None or key in self._wanted or len(self._wanted) == _MOST_AHEAD:
            return
        self._wanted[key] = launch
        if key in self._lowered:
            self._ahead.add(asyncio.create_task(self._prepare(launch)))

    async def build(self, launch: Launch, lowered: protocol.Lowered) -> Prebuilt | None:
        """The binary of a launch, built from this TTIR by a compiler without the candidate; None if that fails."""
        if self._builds is None:
            return None
        kernel, key = self.kernels.keep(launch, lowered), specialisation(launch)
        if key in self._wanted and key not in self._lowered:
            self._ahead.add(asyncio.create_task(self._prepare(launch)))
        self._lowered.add(key)
        try:
            binary = await self._builds.of(kernel, launch)
        except (NotBuiltError, EngineError):
            return None  # the candidate's compiler reports the error
        return Prebuilt.of(self._builds.request_of(kernel, launch), binary) if binary.stages else None

    async def settle(self) -> None:
        """Wait until all preparations have succeeded or failed."""
        await asyncio.gather(*self._ahead, return_exceptions=True)
        await self._process_pool.replayer.settle()

    async def close(self) -> None:
        """End the processes.  Safe to call twice."""
        for task in self._ahead:
            task.cancel()
        await asyncio.gather(*self._ahead, return_exceptions=True)
        if self._builds is not None:
            await self._builds.close()
        await asyncio.gather(self.replayer.close(), self.kernels.close())

    async def _prepare(self, launch: Launch) -> None:
        try:
            kernel = await self.kernels.of_launch(launch)
            await self.replayer.hold((kernel,), (launch,))
        except (NotLoweredError, EngineError, OSError):
            return  # the proof gets and reports the same error
