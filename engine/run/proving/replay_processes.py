"""The processes behind the replays of one run, shared by its clock and its proof, and made ready ahead of both."""

from __future__ import annotations

import asyncio

from engine.devices.hardware.targets import NVIDIA_BACKEND, target_named
from engine.errors import EngineError
from engine.model import Launch, specialisation
from engine.processes.candidate_session import CandidateSession
from engine.processes.process_pool import ProcessPool
from engine.processes.resources.control_group import ControlGroup
from engine.run.proving.binaries import BinaryBuilds
from engine.run.proving.kernels import LoweredKernels, NotLoweredError
from engine.run.proving.replayer import HeldReplayer

_MOST_AHEAD = 256  # specialisations; more are compiled when a tape launches them


class ReplayProcesses:
    """The compiler of a candidate's TTIR, the compilers of binaries, and the replayer; `close` at the end.

    `launched_on` is the target of the device that launches binaries, None where the machine executes modules; `target`
    is what TTIR is made for in that case.
    """

    def __init__(
        self,
        process_pool: ProcessPool,
        session: CandidateSession,
        *,
        launched_on: str | None,
        target: str | None,
        group: ControlGroup | None = None,
    ) -> None:
        self._process_pool = process_pool
        self.kernels = LoweredKernels(session=session, target=launched_on or target)
        self._builds: BinaryBuilds | None = None
        if launched_on is not None and target_named(launched_on).backend == NVIDIA_BACKEND:
            self._builds = BinaryBuilds(process_pool.binaries, target=launched_on, group=group)
        self.replayer = HeldReplayer(process_pool, self._builds)
        self._is_ahead = self._builds is not None and process_pool.compiles_beside_cases
        self._seen: set[tuple[object, ...]] = set()
        self._ahead: set[asyncio.Task[None]] = set()

    def prepare(self, launch: Launch) -> None:
        """Begin to compile a launch and to load it, where cores are left beside the cases."""
        key = specialisation(launch)
        if self._is_ahead and key not in self._seen and len(self._seen) < _MOST_AHEAD:
            self._seen.add(key)
            self._ahead.add(asyncio.create_task(self._prepare(launch)))

    async def settle(self) -> None:
        """Wait until all that is prepared is ready, or has failed."""
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
            return  # the proof meets it again, and reports it
