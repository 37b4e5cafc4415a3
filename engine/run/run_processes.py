"""Sessions with the processes of one run, the folders that they share, and their end."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable

from engine.model import Candidate, CompiledKernel, Plan, Stream
from engine.processes.candidate_session import CandidateSession, LoadRequest
from engine.processes.warm_pool import WarmPool
from engine.profile import Profile
from engine.run.ahead import lowering
from engine.run.ahead.lowering import LoweringAhead
from engine.run.compile_queue import Builder
from engine.run.engine_resources import EngineResources
from engine.run.proving.replay_processes import ReplayProcesses
from engine.run.publication import Publication

_MEMORY_FOR_SPARE_BYTES = 16 << 30  # a waiting process has a device context of about 0.5 GiB


class RunProcesses:
    """Opens sessions; `session` is that of the candidate, `other` that of a version that is timed beside it, if any.

    `cache_folder` holds kernels compiled for the device itself; None where kernels are interpreted.
    """

    def __init__(
        self,
        candidate: Candidate,
        plan: Plan,
        resources: EngineResources,
        *,
        profile: Profile,
        on_log: Callable[[Stream, str], None],
        other: Candidate | None = None,
    ) -> None:
        self._candidate = candidate
        self._plan = plan
        self._process_pool = pool = resources.process_pool
        pool.warming.stop()  # this run needs the processors
        self._artefacts, self._limits = resources.artefacts, plan.limits or resources.limits
        self._device = resources.device
        self._profile = profile
        self.cache_folder = None if pool.interpreted else pool.directories.open_kernel_cache()
        self._group = pool.open_group(self._limits)
        self._launchers = pool.launchers
        lowers_ahead = pool.interpreted and lowering.is_useful(plan, os.cpu_count() or 1)
        self._lowered_folder = pool.directories.open_kernel_cache() if lowers_ahead else None
        own_folders = (self.cache_folder, self._lowered_folder)
        published = (self._launchers.cache_folder if self._launchers else None, *own_folders)
        self._cache_folders = tuple(folder for folder in published if folder is not None)
        self.session = self._open_session(pool.worker, on_log=on_log)
        self.other = self._open_session(pool.worker, candidate=other) if other is not None else None
        self._has_memory_for_spare = (self._device.memory_bytes or 0) >= _MEMORY_FOR_SPARE_BYTES
        self.replaying = ReplayProcesses(
            pool, self._open_session(pool.compiler), launched_on=self._device.target, target=plan.target,
            group=self._group, keeps_replayer=self._has_memory_for_spare,
        )  # fmt: skip

    def open_worker(self) -> CandidateSession:
        """Another session with the candidate in a worker, for a dry run."""
        return self._open_session(self._process_pool.worker)

    def open_lowering(self) -> LoweringAhead | None:
        """The lowering of kernels beside the cases; None where nothing is gained by it."""
        if self._lowered_folder is None:
            return None
        return LoweringAhead(
            self._plan, session=self._open_session(self._process_pool.worker), lower=self.replaying.kernels.shared_text,
            folder=self._lowered_folder, profile=self._profile, ask_judge=self._process_pool.ask_judge,
        )  # fmt: skip

    def open_builder(self, target: str, on_kernel: Callable[[int, int, CompiledKernel], None]) -> Builder:
        """A builder for this target.  That of the device publishes; others are held while cases need the processors."""
        compilers = range(self._process_pool.most_compilers)
        publication = None
        if target == self._device.target and self.cache_folder is not None:
            publication = Publication(
                cache_folder=self.cache_folder, launchers=self._launchers, build=self.replaying.build,
                loads_ahead=1 if self._plan.problem.suite is not None else None,
                builds_launched=self._plan.one_worker,
            )  # fmt: skip
        builder = Builder(
            sessions=tuple(self._open_session(self._process_pool.compiler) for _ in compilers), target=target,
            limits=self._limits, artefacts=self._artefacts, profile=self._profile, on_kernel=on_kernel,
            publication=publication,
        )  # fmt: skip
        if target != self._device.target and not self._process_pool.compiles_beside_cases:
            builder.hold()
        return builder

    async def close(self, builders: Iterable[Builder]) -> None:
        """Kill all processes, remove their folders, and start warm processes for the next run."""
        used = [used for used in (self.session, self.other, *builders) if used is not None]
        clearing = (*(one.clear() for one in used), self.replaying.close())
        cleared = await asyncio.gather(*clearing, return_exceptions=True)
        for folder in (self.cache_folder, self._lowered_folder):
            if folder is not None:
                await asyncio.to_thread(self._process_pool.directories.clear_kernel_cache, folder)
        if self._group is not None:
            await self._process_pool.binaries.settle()  # a group with processes cannot be removed
            self._group.close()
        self.prepare_next()
        # Forks wait for these imports: the user has a result to read now, and no run, or benchmark, is in progress.
        self._process_pool.warming.start(then=self._process_pool.order_late_imports)
        if self._has_memory_for_spare:
            self._process_pool.prepare_replayer()
        for trouble in cleared:
            if trouble is not None:
                raise trouble

    def prepare_next(self) -> None:
        """Start the warm workers and compilers of the next run."""
        self.prepare_next_workers()
        self._process_pool.prepare_compilers()

    def prepare_next_workers(self) -> None:
        """Start the warm workers of the next run."""
        self._process_pool.prepare_workers(one_worker=self._plan.one_worker)

    def _open_session(
        self, spare: WarmPool, *, candidate: Candidate | None = None,
        on_log: Callable[[Stream, str], None] = lambda *_: None,
    ) -> CandidateSession:  # fmt: skip
        cache_folders = self._cache_folders
        if candidate is not None:  # compilers that have loaded a candidate publish for this candidate only
            own_folders = (self.cache_folder, self._lowered_folder)
            cache_folders = tuple(folder for folder in cache_folders if folder not in own_folders)
        problem = self._plan.problem
        fp4 = problem.suite.fp4 if problem.suite is not None else ()
        request = LoadRequest(
            candidate=candidate or self._candidate, entry=problem.entry, form=problem.form,
            fp4=tuple(map(problem.arguments.index, fp4)),
            target=self._plan.target, cache_folders=cache_folders, extensions=self._process_pool.extensions.access,
        )  # fmt: skip
        return CandidateSession(request, spare=spare, limits=self._limits, on_log=on_log, group=self._group)
