"""The engine: the long-lived owner of the fork server, the judge and the warm pools, one per device.

`evaluate` is the public interface: it verifies one candidate and yields events.  One run at a time; a second call waits
for the first, whose caller cancels it when it is no longer wanted.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from engine import protocol
from engine.artefacts import ArtefactStore
from engine.devices import Device, first_device, platform_named
from engine.devices.hardware.device_lock import DeviceLock, shared_folder
from engine.devices.hardware.state import device_id
from engine.devices.hardware.targets import DEFAULT_TARGET, NVIDIA_BACKEND, target_named
from engine.errors import EngineError, UnsupportedError
from engine.model import Candidate, Launch, Limits, Plan, Problem
from engine.model.benchmark import Peaks
from engine.model.commands import CancelRun
from engine.model.events import Event
from engine.model.problems.health import Weakness
from engine.model.proof import ReplayedCase
from engine.processes.builds.extensions import find_toolchain
from engine.processes.directories import EngineDirectories, base_environment
from engine.processes.fork_server_client import ForkServerClient
from engine.processes.preloading import Family
from engine.processes.process_pool import ForkServers, ProcessPool
from engine.protocol.proof.proof_file import ProofFile
from engine.run.cancelling import RunsInProgress
from engine.run.engine_resources import EngineResources
from engine.run.pipeline import Run
from engine.run.proving.proof_file_replay import replay_proof_file
from engine.run.retarget import Retargeting
from engine.sandbox.confinement import Measure
from engine.sandbox.variables import DRIVER_VARIABLE, WARM_CACHE_VARIABLE, WARM_TARGET_VARIABLE
from engine.timing.measurement_context import MeasurementContext

_COMPILING_CASE_S = 120.0
_COMMAND = "kgtui"  # shown to processes that wait for the device


class Engine:
    """Verifies candidates on one device.

    Use as an async context manager, or `start` and `aclose`.  `environment` is filtered before any child gets it;
    `warm_target` is the target for which the warm compilers prepare.  An engine that `times` nothing, as one of several
    for a batch, uses few hardware queues of the device, so that processes start faster beside each other.
    """

    def __init__(
        self,
        *,
        device: str,
        artefacts: ArtefactStore,
        environment: Mapping[str, str],
        limits: Limits | None = None,
        warm_target: str | None = None,
        peaks_folder: Path | None = None,
        times: bool = True,
    ) -> None:
        self._platform = platform_named(device)
        self._device = first_device(device)
        self._artefacts = artefacts
        self._environment = dict(environment)
        self._limits = limits or _default_limits(interpreted=self._platform.EXECUTED_ON_CPU)
        self._warm_target = warm_target or self._device.target or DEFAULT_TARGET
        self._turn = asyncio.Lock()
        self._runs = RunsInProgress()
        self._peaks_folder = peaks_folder
        self._times = times
        self._measurement_context: MeasurementContext | None = None
        self._directories: EngineDirectories | None = None
        self._fork_servers: tuple[ForkServerClient, ...] = ()
        self._process_pool: ProcessPool | None = None

    @property
    def device(self) -> Device:
        """The device that candidates run on."""
        return self._device

    @property
    def device_name(self) -> str:
        """The device by its displayed name."""
        return self._device.name

    @property
    def confinement(self) -> tuple[str, ...]:
        """The measures in force around candidates, as a warm worker reported them; () before the first is warm."""
        if self._process_pool is None or not self._process_pool.confinement:
            return ()
        return (*self._process_pool.confinement, *((Measure.RUN,) if self._process_pool.makes_groups else ()))

    @property
    def missing_confinement(self) -> tuple[str, ...]:
        """The measures that this machine does not offer; () before the first worker is warm."""
        return tuple(measure for measure in Measure if self.confinement and measure not in self.confinement)

    @property
    def versions(self) -> dict[str, str]:
        """Versions of torch, triton and Python in the worker, as it reported them."""
        return self._process_pool.versions if self._process_pool is not None else {}

    @property
    def folders(self) -> tuple[Path, ...]:
        """Folders in which the children of this engine work; removed by `aclose`."""
        return self._directories.folders if self._directories is not None else ()

    async def start(self) -> None:
        """Start the fork server, the judge and the first warm processes.

        Raises:
            EngineError: the processes cannot be started; the message has the reason.
        """
        self._directories = EngineDirectories(private=(*_home(), self._artefacts.folder))
        interpreted = self._platform.EXECUTED_ON_CPU
        workers = self._fork_server(self._directories, interpreted=interpreted)
        references = self._fork_server(self._directories, interpreted=False, family=Family.REFERENCES)
        self._fork_servers = (workers, references)  # the second starts with the first foreign reference
        self._process_pool = ProcessPool(
            fork_servers=ForkServers(workers=workers, references=references),
            directories=self._directories,
            limits=self._limits,
            torch_device=self._platform.TORCH_DEVICE,
            interpreted=interpreted,
            target=self._device.target,
            toolchain=find_toolchain(self._environment),
            queues_variable=None if self._times else self._platform.QUEUES_ENV,
        )
        if not interpreted:
            name = device_id(self._device.platform, self._device.index)
            self._measurement_context = MeasurementContext(
                device=self._device,
                process_pool=self._process_pool,
                peaks_folder=self._peaks_folder,
                lock=DeviceLock(shared_folder(), device_id=name, command=_COMMAND),
            )
        try:
            await workers.start()
            self._process_pool.begin()
        except BaseException:
            await self.aclose()
            raise

    async def wait_until_warm(self) -> None:
        """Wait until the judge and the warm pools are ready."""
        await self._started_pool().wait_until_warm()

    async def measure_peaks(self) -> Peaks | None:
        """Measured peaks of the device, stored or measured now; None if kernels are interpreted, or if it fails.

        Waits for the run in progress, and for the holder of the device.  The next run reports an error.
        """
        if self._measurement_context is None:
            return None
        async with self._turn:
            await self._measurement_context.learn_peaks(lambda holder: None)
        return self._measurement_context.peaks

    def send(self, command: CancelRun) -> None:
        """Carry out a command about a run; no effect when that run is not in progress."""
        self._runs.cancel(command)

    async def compare(
        self, candidate: Candidate, other: Candidate, plan: Plan, *, run_id: str | None = None
    ) -> AsyncGenerator[Event, None]:
        """Verify `candidate` as `evaluate` does, and time it interleaved with `other`, a baseline called "other".

        Raises:
            EngineError: the engine was not started.
        """
        events = self._run(candidate, plan, run_id, other)
        async with contextlib.aclosing(events):
            async for event in events:
                yield event

    async def evaluate(
        self, candidate: Candidate, plan: Plan, *, run_id: str | None = None
    ) -> AsyncGenerator[Event, None]:
        """Verify `candidate` under `plan`; the verdict is in RunFinished.

        A CancelRun for the id `run_id`, or closing the generator, kills what is running.

        Raises:
            EngineError: the engine was not started.
        """
        events = self._run(candidate, plan, run_id, None)
        async with contextlib.aclosing(events):
            async for event in events:
                yield event

    async def retarget(
        self,
        candidate: Candidate,
        *,
        entry: str,
        launches: Sequence[Launch],
        targets: Sequence[str],
        after_s: float = 0.0,
        run_id: str | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Compile what a run of `candidate` launched for each of `targets`; the last event is PortingFinished.

        The events belong to that run, whose last one happened at `after_s`.  A CancelRun for the id
        `run_id`, or closing the generator, kills the compilers.

        Raises:
            EngineError: the engine was not started.
        """
        process_pool = self._started_pool()
        with self._runs.open(run_id) as cancelled:
            async with self._turn:
                retargeting = Retargeting(
                    candidate=candidate,
                    entry=entry,
                    launches=launches,
                    targets=targets,
                    process_pool=process_pool,
                    artefacts=self._artefacts,
                    limits=self._limits,
                    after_s=after_s,
                )
                async with contextlib.aclosing(retargeting.stream(cancelled)) as events:
                    async for event in events:
                        yield event

    async def replay(self, proof: ProofFile, problem: Problem) -> AsyncGenerator[ReplayedCase, None]:
        """Replay the cases of a proof file, on the recorded inputs and on new ones; needs no candidate.

        Raises:
            EngineError: the engine was not started.
            UnsupportedError: launches of this device are not replayed.
        """
        process_pool = self._started_pool()
        target = self._device.target
        if not process_pool.interpreted and (target is None or target_named(target).backend != NVIDIA_BACKEND):
            raise UnsupportedError("proofs are replayed on NVIDIA GPUs and on the CPU; add --device cpu")
        async with self._turn:
            cases = replay_proof_file(proof, problem, process_pool=process_pool, limits=self._limits, target=target)
            async with contextlib.aclosing(cases):
                async for case in cases:
                    yield case

    async def audit(self, problem: Problem) -> tuple[Weakness, ...]:
        """Defects of a foreign problem, found by runs of its reference.

        Raises:
            EngineError: the engine was not started, or could not audit it.
            UnsupportedError: it cannot be run on this machine.
        """
        process_pool = self._started_pool()
        async with self._turn:
            reply = await process_pool.references.audit(problem.id)
        if isinstance(reply, protocol.Audited):
            return reply.weaknesses
        message = reply.message if isinstance(reply, protocol.Failed) else "the judge did not audit it"
        if isinstance(reply, protocol.Failed) and reply.kind is protocol.FailureKind.UNSUPPORTED:
            raise UnsupportedError(message)
        raise EngineError(message)

    async def _run(
        self, candidate: Candidate, plan: Plan, run_id: str | None, other: Candidate | None
    ) -> AsyncGenerator[Event, None]:
        process_pool = self._started_pool()
        with self._runs.open(run_id) as cancelled:
            async with self._turn:
                resources = EngineResources(
                    process_pool=process_pool,
                    artefacts=self._artefacts,
                    device=self._device,
                    limits=self._limits,
                    measurement_context=self._measurement_context,
                )
                run = Run(candidate, plan, resources, other=other)
                async with contextlib.aclosing(run.stream(cancelled)) as events:
                    async for event in events:
                        yield event

    async def aclose(self) -> None:
        """Kill every child and remove every folder.  Safe to call twice."""
        if self._process_pool is not None:
            await self._process_pool.close()
            self._process_pool = None
        for fork_server in self._fork_servers:
            await fork_server.close()
        self._fork_servers = ()
        if self._directories is not None:
            directories, self._directories = self._directories, None
            await asyncio.to_thread(directories.close)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def _fork_server(
        self, directories: EngineDirectories, *, interpreted: bool, family: Family = Family.CANDIDATES
    ) -> ForkServerClient:
        environment = base_environment(self._environment, interpreted=interpreted, folder=directories.folder)
        environment[WARM_TARGET_VARIABLE] = self._warm_target
        environment[WARM_CACHE_VARIABLE] = environment["TRITON_CACHE_DIR"]
        if not self._platform.EXECUTED_ON_CPU:
            environment[DRIVER_VARIABLE] = self._platform.NAME
        return ForkServerClient(folders=directories.folders, environment=environment, family=family)

    def _started_pool(self) -> ProcessPool:
        if self._process_pool is None:
            raise EngineError("the engine was not started, or has been closed")
        return self._process_pool


def _home() -> tuple[Path, ...]:
    """The user's home folder, if there is one."""
    try:
        return (Path.home(),)
    except RuntimeError:
        return ()


def _default_limits(*, interpreted: bool) -> Limits:
    """Limits for this machine: half of its memory, three quarters in total; time to autotune compiled kernels."""
    machine_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    usual = Limits()
    return replace(
        usual,
        memory_bytes=min(usual.memory_bytes, machine_bytes // 2),
        total_memory_bytes=min(usual.total_memory_bytes, machine_bytes // 4 * 3),
        case_s=usual.case_s if interpreted else _COMPILING_CASE_S,
    )
