"""One run: parse, read statically, load, verify, and compile what was launched, as a stream of events."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from functools import partial

from engine.draws import SEED_BITS, Draws
from engine.model import (
    Artefact,
    Candidate,
    CaseResult,
    CompiledKernel,
    Launch,
    Outcome,
    Plan,
    Stage,
    Stream,
    events,
)  # fmt: skip
from engine.model.layers import Coverage
from engine.model.proof import CaseProof
from engine.probes import Probe
from engine.probes.lab.case_session import Lab, Passed, passed_of
from engine.processes.candidate_session import CandidateSession, LoadRequest
from engine.processes.warm_pool import WarmPool
from engine.profile import Profile
from engine.run.cancelling import to_its_end, work_until_stopped
from engine.run.compile_queue import Builder
from engine.run.dry_run import DryRun
from engine.run.engine_resources import EngineResources
from engine.run.event_stream import EventEmitter
from engine.run.kernel_source import TapedKernels
from engine.run.native.building import NativeCode
from engine.run.proving.replay_processes import ReplayProcesses
from engine.run.proving.stage import prove
from engine.run.publication import Publication
from engine.run.run_limits import watch_usage
from engine.run.stages.compile_stage import OVERFULL, CompilingStage
from engine.run.stages.load_stage import load
from engine.run.stages.probe_stage import ProbingStage
from engine.run.stages.reference_stage import attach_reference
from engine.run.stages.static_stage import report_and_decide
from engine.run.stages.timing_stage import TimingStage, learn_peaks, not_timed
from engine.run.stages.verification import Verifier
from engine.run.stages.verify_stage import VerifyingStage
from engine.run.static_reading import Parsed, parse_candidate
from engine.static.source import SourceError
from engine.timing.timed_candidates import OwnKernels
from engine.verdict.decide import Facts, Stop, decide
from engine.verdict.no_launch import no_launch

_MEMORY_FOR_SPARE_BYTES = 16 << 30  # a waiting process has a device context of about 0.5 GiB


class Run:
    """Verifies one candidate once; `stream` is called once.

    The plan's limits replace those of the engine.  `other` is timed beside the candidate; `probes` of None are all.
    """

    def __init__(
        self,
        candidate: Candidate,
        plan: Plan,
        resources: EngineResources,
        *,
        other: Candidate | None = None,
        probes: Sequence[Probe] | None = None,
    ) -> None:
        self._candidate = candidate
        self._plan = plan
        self._process_pool = process_pool = resources.process_pool
        self._artefacts, self._limits = resources.artefacts, plan.limits or resources.limits
        self._device = resources.device
        self._measurement_context = resources.measurement_context
        self._probes = probes
        self._loop = asyncio.get_running_loop()
        self._started = self._loop.time()
        self._emitter = EventEmitter(self._loop.time, started=self._started)
        self._profile = Profile(self._loop.time, started=self._started)
        self._results: list[CaseResult] = []
        self._proofs: tuple[CaseProof, ...] | None = None
        self._launched = False
        self._passed: tuple[Passed, ...] = ()
        self._cache_folder = None if process_pool.interpreted else process_pool.directories.open_kernel_cache()
        self._group = process_pool.open_group(self._limits)
        self._launchers = process_pool.launchers
        published = (self._launchers.cache_folder if self._launchers else None, self._cache_folder)
        self._cache_folders = tuple(folder for folder in published if folder is not None)
        self._native = NativeCode(
            candidate=candidate, target=self._device.target, extensions=process_pool.extensions,
            artefacts=self._artefacts, emitter=self._emitter, profile=self._profile,
        )  # fmt: skip
        self._session = self._open_session(process_pool.worker, on_log=self._emitter.log)
        self._other = self._open_session(process_pool.worker, candidate=other) if other is not None else None
        self._replaying = ReplayProcesses(
            process_pool, self._open_session(process_pool.compiler), launched_on=self._device.target,
            target=plan.target, group=self._group,
        )  # fmt: skip
        self._builder: Builder | None = None
        self._compiling: CompilingStage | None = None
        if plan.target is not None:
            self._builder = self._open_builder(plan.target, self._kernel)
            has_fixed_sizes = plan.problem.suite is not None
            self._compiling = CompilingStage(
                builder=self._builder, emitter=self._emitter, has_fixed_sizes=has_fixed_sizes
            )
        self._ahead: Builder | None = None
        self._dry_run: DryRun | None = None
        if self._device.target is not None and self._cache_folder is not None:
            same = plan.target == self._device.target
            self._ahead = self._builder if same else self._open_builder(self._device.target, lambda *_: None)

    def _open_session(
        self, spare: WarmPool, *, candidate: Candidate | None = None,
        on_log: Callable[[Stream, str], None] = lambda *_: None,
    ) -> CandidateSession:  # fmt: skip
        cache_folders = self._cache_folders
        if candidate is not None:  # compilers that have loaded a candidate publish for this candidate only
            cache_folders = tuple(folder for folder in cache_folders if folder != self._cache_folder)
        request = LoadRequest(
            candidate=candidate or self._candidate, entry=self._plan.problem.entry, form=self._plan.problem.form,
            target=self._plan.target, cache_folders=cache_folders, extensions=self._process_pool.extensions.access,
        )  # fmt: skip
        return CandidateSession(request, spare=spare, limits=self._limits, on_log=on_log, group=self._group)

    def _open_builder(self, target: str, on_kernel: Callable[[int, int, CompiledKernel], None]) -> Builder:
        sessions = tuple(
            self._open_session(self._process_pool.compiler) for _ in range(self._process_pool.most_compilers)
        )
        publication = None
        if target == self._device.target and self._cache_folder is not None:
            publication = Publication(
                cache_folder=self._cache_folder, launchers=self._launchers, build=self._replaying.build
            )
        builder = Builder(
            sessions=sessions, target=target, limits=self._limits, artefacts=self._artefacts, profile=self._profile,
            on_kernel=on_kernel, publication=publication,
        )  # fmt: skip
        if target != self._device.target and not self._process_pool.compiles_beside_cases:
            builder.hold()
        return builder

    async def stream(self, cancelled: asyncio.Event) -> AsyncGenerator[events.Event, None]:
        """All events, in order.  Ends early, with all processes killed, when `cancelled` is set."""
        working, stream = asyncio.create_task(self._work(cancelled)), self._emitter.stream()
        try:
            async for event in stream:
                yield event
            await working
        finally:
            working.cancel()
            await asyncio.gather(working, stream.aclose(), return_exceptions=True)

    async def _work(self, cancelled: asyncio.Event) -> None:
        self._emitter.emit(events.RunStarted(
            at_s=0.0, problem=self._plan.problem.name, digest=self._candidate.digest, device=self._plan.device,
            device_name=self._device.name, target=self._plan.target, cases=len(self._plan.cases),
            policy=self._plan.policy,
        ))  # fmt: skip
        until_stopped = partial(
            work_until_stopped,
            cancelled=cancelled,
            excess=partial(watch_usage, self._limits, self._process_pool.usage),
            log=partial(self._emitter.log, Stream.ENGINE),
        )
        try:
            stop = await until_stopped(self._judge())
            if self._compiling is not None:
                self._compiling.end()
            self._finish(stop)
            if stop is None and self._builder is not None:
                await until_stopped(self._builder.disassemble(self._disassembled))
        finally:
            await to_its_end(asyncio.create_task(self._clean_up()))

    async def _clean_up(self) -> None:
        try:
            used = [used for used in (self._session, self._other, *self._builders()) if used is not None]
            clearing = (*(one.clear() for one in used), self._replaying.close())
            cleared = await asyncio.gather(*clearing, return_exceptions=True)
            if self._cache_folder is not None:
                await asyncio.to_thread(self._process_pool.directories.clear_kernel_cache, self._cache_folder)
            if self._group is not None:
                self._group.close()
            self._process_pool.worker.prepare()
            self._process_pool.compiler.prepare()
            if (self._device.memory_bytes or 0) >= _MEMORY_FOR_SPARE_BYTES:
                self._process_pool.prepare_replayer()
            for trouble in cleared:
                if trouble is not None:
                    raise trouble
        finally:
            self._emitter.close()  # in every case: consumers wait for the end of the stream

    async def _judge(self) -> Stop | None:
        try:
            parsed = await self._parse()
        except SourceError as error:
            return Stop(outcome=Outcome.COMPILE_ERROR, message=str(error), location=error.location)
        stop = await report_and_decide(parsed, plan=self._plan, emitter=self._emitter, on_native=self._native.read)
        stop = stop or await attach_reference(self._plan.problem, self._process_pool, self._emitter, self._profile)
        if stop is not None:
            return stop
        if self._measurement_context is not None:  # before the candidate is loaded
            await learn_peaks(self._measurement_context, self._plan.benchmark, self._emitter, self._profile)
        builders = [asyncio.create_task(builder.run()) for builder in self._builders()]
        ahead: asyncio.Task[None] | None = None
        try:
            ahead = self._run_dry()
            stop = await load(self._session, native=self._native, emitter=self._emitter, profile=self._profile)
            if stop is not None:
                return stop
            if self._plan.chooses_seed:  # after loading, so that the candidate's top-level code cannot depend on it
                self._plan = replace(self._plan, draw_seed=secrets.randbits(SEED_BITS))
            stop = await self._verify()
            if stop is None and self._is_right():
                await self._prove()
            if self._compiling is not None:
                self._compiling.release()
            if stop is None and self._is_right() and not self._is_timed:
                await self._probe()
            if ahead is not None and stop is None:
                await self._wait_for_tuners(ahead)
                await ahead
            for builder in self._builders():
                builder.finish()
            await asyncio.gather(*builders)
            if self._compiling is not None:
                self._compiling.end()
            if stop is None and self._is_right():
                stop = await self._time()
                if stop is None and self._is_timed:  # after timing, since the user waits for the times
                    await self._probe()
        finally:
            tasks = [*builders, *([ahead] if ahead is not None else [])]
            for task in tasks:
                task.cancel()
            closing = [self._dry_run.close()] if self._dry_run is not None else []
            await asyncio.gather(*tasks, *closing, return_exceptions=True)
        return stop

    def _builders(self) -> tuple[Builder, ...]:
        """The builder for the plan's target and that for the device itself, which may be the same."""
        return tuple(dict.fromkeys(builder for builder in (self._ahead, self._builder) if builder is not None))

    def _run_dry(self) -> asyncio.Task[None] | None:
        """Start the dry run, if kernels are launched on a device."""
        if self._ahead is None:
            return None
        self._dry_run = DryRun(
            self._plan, session=self._open_session(self._process_pool.worker), profile=self._profile,
            add=self._compile_ahead, ask_judge=self._process_pool.ask_judge, on_launch=self._replaying.prepare,
        )  # fmt: skip
        return asyncio.create_task(self._run_ahead(self._dry_run, self._ahead))

    async def _wait_for_tuners(self, ahead: asyncio.Task[None]) -> None:
        """Wait until the configurations of autotuners are compiled, for a limited time; the rest is left out."""
        plan = self._plan.benchmark
        if not self._is_timed or plan is None or self._ahead is None:
            return
        budget_s = plan.tuning_s if self._is_right() else 0.0
        if not await self._ahead.is_done_within(budget_s, ahead) and self._is_right():
            self._emitter.log(Stream.ENGINE, f"no more autotuner configurations are compiled after {budget_s:g} s")

    async def _run_ahead(self, dry_run: DryRun, ahead: Builder) -> None:
        """Make the dry run; when all is compiled, make the next warm processes, but never during a benchmark."""
        await dry_run.run()
        await ahead.settle()
        self._process_pool.worker.prepare()
        self._process_pool.compiler.prepare()

    async def _parse(self) -> Parsed:
        began = self._emitter.begin(Stage.PARSE)
        try:
            parsed = await parse_candidate(self._candidate, self._plan)
        except SourceError as error:
            self._emitter.end(Stage.PARSE, began, Outcome.COMPILE_ERROR, str(error), error.location)
            raise
        self._emitter.end(Stage.PARSE, began)
        return parsed

    async def _verify(self) -> Stop | None:
        cases = self._plan.cases
        began = self._emitter.begin(Stage.VERIFY, len(cases))
        self._process_pool.prepare_beside()
        verifier = Verifier(
            plan=self._plan, process_pool=self._process_pool, session=self._session, profile=self._profile,
            emitter=self._emitter, on_launch=self._launch,
            call_s=self._dry_run.call_s if self._dry_run is not None else None, build=self._native.build,
        )  # fmt: skip
        stage = VerifyingStage(
            cases=cases, verifier=verifier, session=self._session, emitter=self._emitter, results=self._results,
            next_of=self._dry_run.next_of if self._dry_run is not None else None, suite=self._plan.problem.suite,
        )  # fmt: skip
        stop = await stage.run()
        self._passed = passed_of(cases, self._results, verifier.launches, verifier.tapes)
        failed = next((result for result in self._results if result.outcome is not Outcome.PASS), None)
        unlaunched = None
        if stop is None and not self._launched:
            is_native = self._native.is_there and not self._process_pool.interpreted
            unlaunched = no_launch(self._plan.problem, self._results, is_native=is_native)
        if unlaunched is not None:
            self._emitter.find(unlaunched)
        outcome = stop.outcome if stop else failed.outcome if failed else Outcome.PASS
        self._emitter.end(Stage.VERIFY, began, outcome, stop.message if stop else failed.message if failed else "")
        return stop

    def _is_right(self) -> bool:
        return bool(self._results) and all(result.outcome is Outcome.PASS for result in self._results)

    async def _prove(self) -> None:
        self._proofs = await prove(self._lab(), self._emitter, self._replaying, self._artefacts)

    async def _probe(self) -> None:
        await ProbingStage(lab=self._lab(), emitter=self._emitter, chosen=self._probes).run()

    def _lab(self) -> Lab:
        """The lab with which probes call a candidate that passed."""
        return Lab(
            plan=self._plan, device=self._device, session=self._session, process_pool=self._process_pool,
            limits=self._limits, profile=self._profile, passed=self._passed,
            native=self._native.kernels if self._native.is_there else None,
            draws=Draws(self._plan.draw_seed, "proof"),
        )  # fmt: skip

    @property
    def _is_timed(self) -> bool:
        """Whether a right candidate is timed in this run."""
        plan = self._plan.benchmark
        return bool(plan and plan.cases) and self._measurement_context is not None and self._dry_run is not None

    async def _time(self) -> Stop | None:
        """Time a right candidate; returns the reason why it is not right, when a timed call was wrong."""
        plan = self._plan.benchmark
        if plan is None or not plan.cases:
            self._emitter.report(not_timed(Coverage.NOT_ASKED, "no case was to be timed"))
            return None
        if self._measurement_context is None or self._dry_run is None:
            message = "interpreter timings are meaningless; nothing was timed"
            self._emitter.note("benchmark", message)
            self._emitter.report(not_timed(Coverage.NOT_AVAILABLE, message))
            return None
        names = frozenset(launch.kernel for one in self._passed for launch in one.launches)
        await self._replaying.settle()  # nothing is compiled while calls are timed
        source = TapedKernels(session=self._session, processes=self._replaying, device=self._device)
        kernels = OwnKernels(
            launches=self._dry_run.launches, names=names, native=self._native.kernels,
            source=None if self._native.is_there else source,
        )  # fmt: skip
        stage = TimingStage(
            plan, self._plan.problem, session=self._session, other=self._other, emitter=self._emitter, kernels=kernels,
            measurement_context=self._measurement_context, profile=self._profile,
        )  # fmt: skip
        await stage.run()
        return stage.stop

    def _finish(self, stop: Stop | None) -> None:
        kernels = self._builder.kernels if self._builder is not None else ()
        overfull = self._builder is not None and self._builder.overfull and self._plan.target != self._device.target
        facts = Facts(
            planned=len(self._plan.cases), policy=self._plan.policy, stop=stop, cases=tuple(self._results),
            kernels=tuple(kernels), findings=tuple(self._emitter.findings), layers=tuple(self._emitter.layers),
            launched_on=self._device.target, proofs=self._proofs, weakness=self._plan.problem.weakness,
            unmade=(Stop(outcome=Outcome.UNSUPPORTED, message=OVERFULL),) if overfull else (),
        )  # fmt: skip
        self._emitter.emit(events.ProfileTaken(at_s=self._emitter.now(), spans=self._profile.spans()))
        self._emitter.emit(events.RunFinished(
            at_s=self._emitter.now(), verdict=decide(facts), draw_seed=self._plan.draw_seed,
            seed_given=self._plan.is_seed_given,
        ))  # fmt: skip

    def _launch(self, launch: Launch, case: str) -> None:
        self._launched = True
        self._emitter.emit(events.KernelLaunched(at_s=self._emitter.now(), launch=launch, case=case))
        if not self._native.is_there:
            self._replaying.prepare(launch)
        if self._compiling is not None:
            self._compiling.add(launch)

    def _compile_ahead(self, launch: Launch, specialisation: str) -> list[asyncio.Future[None]]:
        assert self._ahead is not None
        if self._compiling is not None and self._ahead is self._builder:
            return self._compiling.add(launch, specialisation)
        return self._ahead.add(launch, specialisation)

    def _kernel(self, number: int, total: int, kernel: CompiledKernel) -> None:
        native = len(self._native.compiled)  # reported first: extensions are built before any launch
        self._emitter.emit(events.KernelCompiled(
            at_s=self._emitter.now(), number=native + number, total=native + total, kernel=kernel
        ))  # fmt: skip

    def _disassembled(self, number: int, artefact: Artefact) -> None:
        number += len(self._native.compiled)
        self._emitter.emit(events.KernelDisassembled(at_s=self._emitter.now(), number=number, artefact=artefact))
