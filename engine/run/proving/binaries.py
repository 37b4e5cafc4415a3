"""The binaries that the replayer of one run launches, built as soon as their TTIR is known."""

from __future__ import annotations

import asyncio

from engine.errors import EngineError
from engine.model import Launch
from engine.processes.builds.binaries import Binaries, LostCompilerError, NotBuiltError
from engine.processes.resources.control_group import ControlGroup
from engine.protocol.proof.binaries import BinaryRequest, CompileOptions, KernelBinary
from engine.run.proving.kernels import LoweredKernel

_MOST_LOST = 3  # modules of one run that may crash their compilers before no more are tried


class BinaryBuilds:
    """Has each specialisation of a run built once; `close` at the end."""

    def __init__(self, binaries: Binaries, *, target: str, group: ControlGroup | None = None) -> None:
        self._binaries = binaries
        self._target = target
        self._group = group
        self._builds: dict[str, asyncio.Task[KernelBinary]] = {}
        self._lost = 0

    def begin(self, kernel: LoweredKernel, launch: Launch) -> None:
        """Start building the binary of a launch, unless that was started before."""
        self._begun(kernel, launch)

    async def of(self, kernel: LoweredKernel, launch: Launch) -> KernelBinary:
        """The binary of a launch.

        Raises:
            NotBuiltError: the module cannot be compiled.
            EngineError: no compiler could build it; a later call tries again.
        """
        build = self._begun(kernel, launch)
        await asyncio.wait((build,))
        return build.result()

    async def close(self) -> None:
        """End all builds, with their compilers.  Safe to call twice."""
        for build in self._builds.values():
            build.cancel()
        await asyncio.gather(*self._builds.values(), return_exceptions=True)

    async def _build(self, request: BinaryRequest) -> KernelBinary:
        if self._lost >= _MOST_LOST:
            raise NotBuiltError(
                f"the TTIR of {request.kernel} was not compiled: the compiler crashed on {self._lost} others"
            )
        try:
            return await self._binaries.build(request, group=self._group)
        except LostCompilerError:
            self._lost += 1
            raise

    def request_of(self, kernel: LoweredKernel, launch: Launch) -> BinaryRequest:
        """Everything that the binary of a launch depends on."""
        options = CompileOptions.of(launch)
        return BinaryRequest(kernel=launch.kernel, ttir=kernel.ttir, options=options, target=self._target)

    def _begun(self, kernel: LoweredKernel, launch: Launch) -> asyncio.Task[KernelBinary]:
        request = self.request_of(kernel, launch)
        build = self._builds.get(request.key)
        if build is None or (build.done() and _failed_here(build)):
            build = asyncio.create_task(self._build(request))
            build.add_done_callback(lambda built: built.cancelled() or built.exception())  # or asyncio would print it
            self._builds[request.key] = build
        return build


def _failed_here(build: asyncio.Task[KernelBinary]) -> bool:
    """Whether a build failed without evidence about its module."""
    return not build.cancelled() and isinstance(build.exception(), EngineError)
