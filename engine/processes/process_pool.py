"""The children of an engine: the judge, warm workers, warm compilers and replayers."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import msgspec

from engine import protocol
from engine.errors import DeadlineError, EngineError, EngineLostError, MachineBusyError
from engine.model import Limits
from engine.processes.builds.binaries import Binaries
from engine.processes.builds.compiler_warming import CompilerWarming
from engine.processes.builds.counts import has_idle_cores, most_compilers, most_module_compilers
from engine.processes.builds.extensions import Extensions, Toolchain
from engine.processes.builds.launchers import Launchers
from engine.processes.child import Child
from engine.processes.directories import EngineDirectories
from engine.processes.fork_server_client import ForkServerClient
from engine.processes.references import References
from engine.processes.resources.control_group import ControlGroup, open_group
from engine.processes.resources.total_usage import Usage, usage_below
from engine.processes.warm_pool import PooledProcess, WarmPool
from engine.sandbox.variables import DEVICE_VARIABLE, MACHINE_VARIABLE

_THREADS = 16  # threads for each process of a run: libraries start some, and a control group counts them
_READY_S = 120.0
_MOST_BINARIES = 16  # concurrent builds
_KEPT_MODULE_COMPILERS = 4  # warm ones while a run builds; forking all of them would delay its first cases
_JUDGE_S = 60.0
_LONG_S: Mapping[type[protocol.Command], float] = {
    protocol.PrepareBaseline: 900.0,  # torch.compile with max-autotune builds and times many kernels before it chooses
    protocol.MeasurePeaks: 180.0,  # equal rounds for each precision; a slow product has to finish first
    protocol.AuditProblem: 600.0,  # one run of the reference for each weight, several for each case
    protocol.AttachReference: 180.0,  # the imports of a foreign file, and four runs of it
    protocol.Arrange: 180.0,  # a reference of a large case, and the imports of its first call
}
"""Commands for which the judge may take longer than _JUDGE_S."""
_OF_REFERENCE = (protocol.FailureKind.PROBLEM, protocol.FailureKind.ENGINE)
"""Kinds of failure that the judge reports for a reference that failed, or got no time on a busy machine."""
_QUEUES: Mapping[str, int] = {"judge": 1, "reference": 1, "replayer": 1, "worker": 2}
"""Hardware queues by kind of process where nothing is timed: only a candidate may use several streams."""
_NEVER_LEFT = (protocol.PrepareBaseline, protocol.MeasurePeaks)
"""Commands that end with their run: no later run may wait for them or share the device with them."""


@dataclass(frozen=True, kw_only=True)
class ForkServers:
    """The fork servers of one engine; compilers and replayers share that of judge and workers."""

    workers: ForkServerClient
    references: ForkServerClient

    @property
    def every(self) -> tuple[ForkServerClient, ...]:
        """Each fork server once."""
        return tuple(dict.fromkeys((self.workers, self.references)))

    @property
    def losses(self) -> int:
        """Number of times that one of them ended while it was needed."""
        return sum(server.losses for server in self.every)


class ProcessPool:
    """Judge, warm workers and warm compilers of one engine.

    `shares_device` is whether judge and worker see the same device memory; it becomes False for good when a driver
    refuses, with the reason in `unshared`.  Only processes without a candidate can report that.
    """

    def __init__(
        self,
        *,
        fork_servers: ForkServers,
        directories: EngineDirectories,
        limits: Limits,
        torch_device: str,
        interpreted: bool,
        target: str | None = None,
        toolchain: Toolchain | None = None,
        queues_variable: str | None = None,
    ) -> None:
        self.interpreted = interpreted
        self.shares_device = not interpreted
        self.unshared = ""
        self._has_opened_memory = False
        self.directories = directories
        self.most_compilers = most_compilers(interpreted=interpreted)
        self.compiles_beside_cases = has_idle_cores()
        self._fork_servers = fork_servers
        self._limits = limits
        self._environment = {DEVICE_VARIABLE: torch_device}
        self._queues_variable = queues_variable
        self._judge: PooledProcess | None = None
        self._failed_judge: Child | None = None
        self._judge_failures = 0
        self._judges = asyncio.Lock()  # two concurrent callers must not each start a judge
        self._questions = asyncio.Lock()  # the judge executes one command at a time
        self._beginning: asyncio.Task[None] | None = None
        self.confinement: tuple[str, ...] = ()
        self.versions: dict[str, str] = {}
        # One worker computes while another makes dry runs, to find what must be compiled or to lower it.
        self.worker = WarmPool(self._start_worker, depth=2)
        self.compiler = WarmPool(self._start_compiler, depth=1 if interpreted else self.most_compilers)
        self.replayer = WarmPool(self.start_replayer)
        self.references = References(
            start=self._start_reference,
            judge=self.judge,
            ask_judge=self.ask_judge,
            not_preloaded=lambda: fork_servers.references.not_preloaded,
        )
        # On a device each module is compiled by a process of its own before its kernel is launched.
        compiles_modules = not interpreted and queues_variable is None
        self.module_compiler = WarmPool(self._start_compiler, depth=most_module_compilers() if compiles_modules else 0)
        warmed = (self.module_compiler, self.compiler) if compiles_modules and target is not None else ()
        others, at_once = (self.worker, self.compiler, self.replayer), self.most_compilers
        self.warming = CompilerWarming(warmed, target=target or "", at_once=at_once, after=others)
        self.order_late_imports = fork_servers.workers.order_late_imports
        module_compilers = partial(self.module_compiler.take_or_make, keeping=_KEPT_MODULE_COMPILERS)
        self.binaries = Binaries(module_compilers, most=min(_MOST_BINARIES, os.cpu_count() or 2))
        self.extensions = Extensions(
            spare=self.compiler, folder=directories.open_extensions(), target=target, toolchain=toolchain or Toolchain()
        )
        self.sanitizer = toolchain.sanitizer if toolchain is not None else ""
        """Path of compute-sanitizer; "" if it is missing."""
        self.start_sanitizer = partial(self._start, fork_servers.workers, "sanitizer", starts_tool=True)
        """Starts a process that runs compute-sanitizer, which the caller ends; raises EngineError."""
        self.launchers: Launchers | None = None
        if target is not None and not interpreted:
            self.launchers = Launchers(spare=self.compiler, cache_folder=directories.open_kernel_cache(), target=target)

    def begin(self) -> None:
        """Start making the first workers, and the first compilers: beside them, or after the first worker on the CPU.

        There the fork server compiles its first kernel before it forks a compiler.
        """
        self.worker.prepare()
        if self.interpreted:
            self._beginning = asyncio.create_task(self._prepare_compilers_later())
        else:
            self.prepare_compilers()
            self.warming.start()

    async def _prepare_compilers_later(self) -> None:
        with contextlib.suppress(EngineError, OSError):  # reported to the run that takes the worker
            await self.worker.wait()
        self.prepare_compilers()

    def prepare_beside_cases(self, *, one_worker: bool = False) -> None:
        """Start making what is needed after the cases and takes long: on a device the replayer, which has a context.

        With `one_worker` also the worker of the next run, as this run needs no other.
        """
        if not self.interpreted:
            self.prepare_replayer()
            if one_worker:
                self.worker.prepare(most=1)

    def prepare_after_cases(self) -> None:
        """Start making the next worker, unless that would disturb a measurement: cases on the CPU need all its cores.

        A passing candidate needs it for a probe in a separate worker; after a failed one it is that of the next run.
        """
        if self.interpreted:
            self.worker.prepare(most=1)

    def prepare_workers(self, *, one_worker: bool = False) -> None:
        """Start making missing workers; one for runs that use one: each on a device slows down the start of others."""
        self.worker.prepare(most=1 if one_worker else None)

    def prepare_replayer(self) -> None:
        """Start making the replayer of the next proof if that takes long because it creates a device context."""
        if not self.interpreted:
            self.replayer.prepare()

    def prepare_compilers(self) -> None:
        """Start making missing compilers, of candidates and of modules."""
        self.compiler.prepare()
        self.module_compiler.prepare(most=self.most_compilers)

    async def wait_until_warm(self) -> None:
        """Wait until the judge and the warm pools are ready."""
        await asyncio.gather(self.judge(), self.worker.wait())
        if self._beginning is not None:
            await self._beginning
        await self.compiler.wait()
        await asyncio.gather(self.worker.settle(), self.compiler.settle(), self.module_compiler.settle())
        await self.warming.wait()

    async def judge(self) -> Child:
        """The judge, restarted if it has exited."""
        async with self._judges:
            if self._judge is not None and (not self._judge.child.alive or self._judge.child.fault is not None):
                self._count_failure(self._judge.child)
                dead, self._judge = self._judge, None
                await dead.end()
            if self._judge is None:
                try:
                    self._judge = await self._start(self._fork_servers.workers, "judge", confined=False)
                except (EngineError, OSError):
                    self._judge_failures += 1
                    raise
            return self._judge.child

    async def ask_judge(self, command: protocol.AnyCommand) -> protocol.AnyReply:
        """Have the judge carry out a command.

        Raises:
            EngineError: it did not reply.
        """
        async with self._questions:
            judge = await self.judge()
            try:
                limit_s = _LONG_S.get(type(command), _JUDGE_S)
                reply = await judge.ask(command, deadline_s=limit_s, helper=self.references.pid)
            except (DeadlineError, MachineBusyError):
                self._count_failure(judge)
                await judge.kill()  # the next command would wait for this one
                raise
            except EngineError:
                self._count_failure(judge)
                raise
            except asyncio.CancelledError:
                if isinstance(command, _NEVER_LEFT):
                    await asyncio.shield(judge.kill())
                raise
            if isinstance(reply, protocol.Failed) and reply.kind in _OF_REFERENCE:
                if ended := await self.references.ending():
                    reply = msgspec.structs.replace(reply, message=f"{reply.message} ({ended})")
                await self.references.close()  # it hangs or its pipes are out of sync: the next run gets a new process
            if isinstance(reply, protocol.Failed) and reply.broken:
                await judge.kill()  # its device context is lost, also for later runs
            return reply

    @property
    def failures(self) -> int:
        """Number of failures of trusted processes so far: commands in flight at that time are repeated."""
        return self._judge_failures + self._fork_servers.losses

    def _count_failure(self, judge: Child) -> None:
        """Count a failed judge once; one that was lost with its fork server is counted there."""
        if judge is not self._failed_judge and not judge.lost:
            self._failed_judge = judge
            self._judge_failures += 1

    def share_no_more(self, reason: str) -> None:
        """Record that judge and worker do not see the same device memory, for this reason."""
        self.shares_device, self.unshared = False, reason

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of all known running processes of this engine."""
        servers = [server.pid for server in self._fork_servers.every if server.pid is not None]
        return (*servers, *(pid for server in self._fork_servers.every for pid in server.pids))

    @property
    def makes_groups(self) -> bool:
        """Whether runs of this engine get a control group, determined by creating one."""
        group = self.open_group(self._limits)
        if group is not None:
            group.close()
        return group is not None

    def open_group(self, limits: Limits) -> ControlGroup | None:
        """A control group for the processes of one run; None if this user may not create one."""
        return open_group(memory_bytes=limits.total_memory_bytes, threads=limits.total_processes * _THREADS)

    def usage(self) -> Usage:
        """Resources of all children but judge and spare compilers, with their descendants and files; reads files."""
        fork_servers = [server.pid for server in self._fork_servers.every if server.pid is not None]
        judge = self._judge
        spares = (*self.compiler.pids, *self.module_compiler.pids, *self.warming.pids)  # they have no candidate
        trusted = (judge.child.pid, *spares) if judge is not None else spares
        own = judge.workspace.folder.name if judge is not None else None
        folders = [path for base in self.directories.folders for path in base.iterdir() if path.name != own]
        return usage_below(fork_servers, trusted=trusted, folders=folders)

    async def close(self) -> None:
        """End all children."""
        if self._beginning is not None:
            self._beginning.cancel()
            await asyncio.gather(self._beginning, return_exceptions=True)
        await self.warming.close()
        if self.launchers is not None:
            await self.launchers.close()
        await self.worker.close()
        await self.compiler.close()
        await self.module_compiler.close()
        await self.binaries.settle()
        await self.replayer.close()
        await self.references.close()
        if self._judge is not None:
            await self._judge.end()
            self._judge = None

    async def _start_worker(self) -> PooledProcess:
        process = await self._start(self._fork_servers.workers, "worker", on_ready=self._try_shared_memory)
        assert process.child.ready is not None
        self.confinement = process.child.ready.confinement
        self.versions = process.child.ready.versions
        return process

    async def _try_shared_memory(self, worker: Child) -> None:
        """Have the first worker open the judge's memory before it loads a candidate."""
        if not self.shares_device or self._has_opened_memory:
            return
        try:
            lent = await self.ask_judge(protocol.ShareMemory(id=protocol.new_id()))
        except EngineError:
            return  # the verification meets the same error and reports it
        reply = lent
        if isinstance(lent, protocol.MemoryShared):
            open_memory = protocol.OpenMemory(id=protocol.new_id(), handle=lent.handle, block_bytes=lent.block_bytes)
            reply = await worker.ask(open_memory, deadline_s=_READY_S)
            self._has_opened_memory = isinstance(reply, protocol.Done)
        if isinstance(reply, protocol.Failed) and reply.kind is protocol.FailureKind.UNSUPPORTED:
            self.share_no_more(reply.message)

    async def start_replayer(self, *, on_machine: bool = False) -> PooledProcess:
        """A replayer that can read only libraries, arenas and its own files; the caller ends it.

        One `on_machine` executes launches in host memory, whatever the device is.

        Raises:
            EngineError: none could be started.
        """
        variables = {MACHINE_VARIABLE: "1"} if on_machine else {}
        process = await self._start(self._fork_servers.workers, "replayer", variables=variables)
        readable = (str(process.workspace.shared), str(process.workspace.folder))
        try:
            command = protocol.LimitReading(id=protocol.new_id(), readable=readable)
            reply = await process.child.ask(command, deadline_s=_READY_S)
            if isinstance(reply, protocol.Failed):
                raise EngineError(reply.message)
        except BaseException:
            await asyncio.shield(process.end())
            raise
        return process

    async def _start_reference(self) -> PooledProcess:
        return await self._start(self._fork_servers.references, "reference")

    async def _start_compiler(self) -> PooledProcess:
        return await self._start(self._fork_servers.workers, "compiler")

    async def _start(
        self,
        fork_server: ForkServerClient,
        kind: str,
        *,
        confined: bool = True,
        starts_tool: bool = False,
        on_ready: Callable[[Child], Awaitable[None]] | None = None,
        variables: Mapping[str, str] = MappingProxyType({}),
    ) -> PooledProcess:
        workspace = self.directories.open_workspace()
        environment = {**workspace.environment(), **self._environment, **variables}
        if self._queues_variable is not None and kind in _QUEUES:
            environment[self._queues_variable] = str(_QUEUES[kind])
        confinement = None
        if confined:
            confinement = workspace.confinement(self._limits, address_space=self.interpreted, starts_tool=starts_tool)
        try:
            child = await fork_server.fork(
                kind,
                folder=workspace.folder,
                environment=environment,
                confinement=confinement,
                log_bytes=self._limits.log_bytes,
            )
        except BaseException:
            workspace.remove()
            raise
        process = PooledProcess(child=child, workspace=workspace)
        try:
            await child.wait_until_ready(_READY_S)
            if on_ready is not None:
                await on_ready(child)
        except EngineLostError:
            await asyncio.shield(process.end())
            raise
        except EngineError as error:
            await asyncio.shield(process.end())
            # This type of error would count against the candidate, which is not loaded yet.
            raise EngineError(f"no {kind} got ready: {error}") from error
        except BaseException:
            await asyncio.shield(process.end())
            raise
        return process
