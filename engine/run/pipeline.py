"""One run: parse, read statically, load, verify, and compile what was launched, as a stream of events."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from functools import partial

from engine.draws import SEED_BITS, Draws
from engine.model import (
    Candidate,
    CaseResult,
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
from engine.probes.lab.case_session import Lab, PassedCase, passed_of
from engine.profile import Profile
from engine.run.ahead.dry_run import DryRun
from engine.run.ahead.readiness import Readiness
from engine.run.cancelling import to_its_end, work_until_stopped
from engine.run.compilation import Compilation
from engine.run.compile_queue import Builder
from engine.run.engine_resources import EngineResources
from engine.run.event_stream import EventEmitter
from engine.run.kernel_source import TapedKernels
from engine.run.native.building import NativeCode
from engine.run.proving.conclusion import is_idle
from engine.run.proving.memory_check import MemoryCheck
from engine.run.proving.proof_record import ProofRecord
from engine.run.proving.replays import PLACES_BESIDE_PROBES
from engine.run.proving.stage import ProvingStage, prove
from engine.run.run_limits import watch_usage
from engine.run.run_processes import RunProcesses
from engine.run.stages.compile_stage import OVERFULL
from engine.run.stages.load_stage import load
from engine.run.stages.probe_stage import ProbingStage
from engine.run.stages.reference_stage import attach_reference
from engine.run.stages.static_stage import StaticFindings, report_and_decide
from engine.run.stages.timing_stage import TimingStage, learn_peaks, not_timed
from engine.run.stages.verification import Verifier
from engine.run.stages.verify_stage import VerifyingStage
from engine.run.static_reading import Parsed, parse_candidate
from engine.static.source import SourceError
from engine.timing.timed_candidates import OwnKernels
from engine.verdict.decide import Facts, Stop, decide
from engine.verdict.no_launch import no_launch


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
        self._process_pool = resources.process_pool
        self._artefacts, self._limits = resources.artefacts, plan.limits or resources.limits
        self._device = resources.device
        self._measurement_context = resources.measurement_context
        self._probes = probes
        loop = asyncio.get_running_loop()
        started = loop.time()
        self._emitter = EventEmitter(loop.time, started=started)
        self._profile = Profile(loop.time, started=started)
        self._static = StaticFindings(self._emitter)
        self._torch_lines: set[int] = set()
        self._results: list[CaseResult] = []
        self._proofs: tuple[CaseProof, ...] | None = None
        self._record: ProofRecord | None = None
        self._launched = False
        self._lowering: asyncio.Task[None] | None = None
        self._passed: tuple[PassedCase, ...] = ()
        self._native = NativeCode(
            candidate=candidate, target=self._device.target, extensions=self._process_pool.extensions,
            artefacts=self._artefacts, emitter=self._emitter, profile=self._profile,
        )  # fmt: skip
        self._processes = RunProcesses(
            candidate, plan, resources, profile=self._profile, on_log=self._emitter.log, other=other
        )
        self._session, self._replaying = self._processes.session, self._processes.replaying
        self._compilation = Compilation(
            plan, self._processes, device_target=self._device.target, emitter=self._emitter,
            reported_before=lambda: len(self._native.compiled),
        )  # fmt: skip
        self._readiness = Readiness(
            self._begin_dry_run, case_s=self._limits.case_s,
            one_worker=plan.one_worker and self._compilation.ahead is not None,
        )  # fmt: skip

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
            self._compilation.end()
            self._finish(stop)
            if stop is None:
                await until_stopped(self._compilation.disassemble())
        finally:
            await to_its_end(asyncio.create_task(self._clean_up()))

    async def _clean_up(self) -> None:
        try:
            await self._processes.close(self._compilation.builders)
        finally:
            self._emitter.close()  # in every case: consumers wait for the end of the stream

    async def _judge(self) -> Stop | None:
        try:
            parsed = await self._parse()
        except SourceError as error:
            return Stop(outcome=Outcome.COMPILE_ERROR, message=str(error), location=error.location)
        stop = await report_and_decide(
            parsed, plan=self._plan, emitter=self._emitter, findings=self._static, on_native=self._native.read
        )
        if stop is not None:
            return stop
        attached = await attach_reference(self._plan, self._process_pool, self._emitter, self._profile)
        if isinstance(attached, Stop):
            return attached
        self._plan = attached
        if self._measurement_context is not None:  # before the candidate is loaded
            await learn_peaks(self._measurement_context, self._plan.benchmark, self._emitter, self._profile)
        builders = [asyncio.create_task(builder.run()) for builder in self._compilation.builders]
        try:
            self._readiness.start()
            lowering = self._processes.open_lowering()
            self._lowering = asyncio.create_task(lowering.run()) if lowering is not None else None
            stop = await load(self._session, native=self._native, emitter=self._emitter, profile=self._profile)
            if stop is not None:
                return stop
            if self._plan.chooses_seed:  # after loading, so that the candidate's top-level code cannot depend on it
                self._plan = replace(self._plan, draw_seed=secrets.randbits(SEED_BITS))
            stop = await self._verify()
            if stop is None and self._is_right():
                await self._prove()
            self._compilation.release()
            if stop is None and self._is_right() and not self._is_timed:
                await self._probe()
            if (ahead := self._readiness.ahead) is not None and stop is None:
                await self._wait_for_tuners(ahead)
                await ahead
            for builder in self._compilation.builders:
                builder.finish()
            await asyncio.gather(*builders)
            self._compilation.end()
            if stop is None and self._is_right():
                stop = await self._time()
                if stop is None and self._is_timed:  # after timing, since the user waits for the times
                    await self._probe()
        finally:
            beside = (*builders, self._lowering) if self._lowering is not None else builders
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, self._readiness.close(), return_exceptions=True)
        return stop

    def _begin_dry_run(self) -> tuple[DryRun, asyncio.Task[None]] | None:
        """Start the dry run, if kernels are launched on a device."""
        ahead = self._compilation.ahead
        if ahead is None:
            return None
        dry_run = DryRun(
            self._plan, session=self._processes.open_worker(), profile=self._profile,
            add=self._compilation.add_expected, ask_judge=self._process_pool.ask_judge,
            on_launch=self._replaying.prepare,
        )  # fmt: skip
        return dry_run, asyncio.create_task(self._run_ahead(dry_run, ahead))

    async def _wait_for_tuners(self, ahead: asyncio.Task[None]) -> None:
        """Wait until the configurations of autotuners are compiled, for a limited time; the rest is left out."""
        plan, builder = self._plan.benchmark, self._compilation.ahead
        if not self._is_timed or plan is None or builder is None:
            return
        budget_s = plan.tuning_s if self._is_right() else 0.0
        if not await builder.is_done_within(budget_s, ahead) and self._is_right():
            self._emitter.log(Stream.ENGINE, f"no more autotuner configurations are compiled after {budget_s:g} s")

    async def _run_ahead(self, dry_run: DryRun, ahead: Builder) -> None:
        """Make the dry run, and the next warm processes once there are cores for them, but never during a benchmark.

        Workers are begun first: a benchmark waits for them, as making a device context would disturb it.
        """
        with ahead.expecting_launches():
            await dry_run.run()
        await ahead.all_begun()
        self._processes.prepare_next_workers()
        await ahead.settle()
        self._processes.prepare_next()

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
        self._process_pool.prepare_beside_cases(one_worker=self._plan.one_worker)
        verifier = Verifier(
            plan=self._plan, process_pool=self._process_pool, session=self._session, profile=self._profile,
            emitter=self._emitter, native=self._native, on_launch=self._launch, call_s=self._readiness.call_s,
        )  # fmt: skip
        stage = VerifyingStage(
            cases=cases, verifier=verifier, session=self._session, emitter=self._emitter, results=self._results,
            readiness=self._readiness, suite=self._plan.problem.suite,
        )  # fmt: skip
        stop = await stage.run()
        place_by_name = {case.name: place for place, case in enumerate(cases)}
        self._results.sort(key=lambda result: place_by_name[result.case])  # they ended as their kernels were compiled
        self._process_pool.prepare_after_cases()
        self._passed = passed_of(
            cases, self._results, launches=verifier.launches, tapes=verifier.tapes, digests=verifier.digests
        )
        failed = next((result for result in self._results if result.outcome is not Outcome.PASS), None)
        if stop is not None or failed is not None:
            self._compilation.leave_out_rest(verifier.launches.get(failed.case, ()) if failed is not None else ())
        outcome = stop.outcome if stop else failed.outcome if failed else Outcome.PASS
        self._emitter.end(Stage.VERIFY, began, outcome, stop.message if stop else failed.message if failed else "")
        return stop

    def _is_right(self) -> bool:
        return bool(self._results) and all(result.outcome is Outcome.PASS for result in self._results)

    async def _prove(self) -> None:
        stage = await prove(self._lab(), self._emitter, self._replaying, self._artefacts)
        if stage is not None:
            self._proofs, self._record = tuple(stage.proofs), stage.record
        if not self._launched:
            is_native = self._native.is_there and not self._process_pool.interpreted
            idle = bool(self._proofs) and all(map(is_idle, self._proofs or ()))
            unlaunched = no_launch(self._plan.problem, self._results, is_native=is_native, idle=idle)
            if unlaunched is not None:
                self._emitter.find(unlaunched)

    async def _probe(self) -> None:
        lab = self._lab()
        if lab.native is None and self._process_pool.interpreted:
            proving = ProvingStage(
                lab=lab, emitter=self._emitter, processes=self._replaying, places=PLACES_BESIDE_PROBES
            )
            lab = replace(lab, prove=proving.of_call)
        checking = asyncio.create_task(self._check_memory(lab))
        try:
            await ProbingStage(lab=lab, emitter=self._emitter, chosen=self._probes).run()
            await checking
        finally:
            checking.cancel()
            await asyncio.gather(checking, return_exceptions=True)

    async def _check_memory(self, lab: Lab) -> None:
        """Execute recorded launches on the machine, if verified calls have launched their kernels on a device."""
        if self._record is not None and self._probes is None and self._launches_on_device:
            target = self._replaying.kernels.target
            await MemoryCheck(lab=lab, record=self._record, emitter=self._emitter, target=target).run()

    @property
    def _launches_on_device(self) -> bool:
        """Whether verified calls launch kernels on a device, not on the machine."""
        return not self._process_pool.interpreted

    def _lab(self) -> Lab:
        """The lab with which probes call a candidate that passed."""
        return Lab(
            plan=self._plan, device=self._device, session=self._session, process_pool=self._process_pool,
            limits=self._limits, profile=self._profile, passed=self._passed,
            native=self._native.kernels if self._native.is_there else None,
            draws=Draws(self._plan.draw_seed, "proof"),
            proven=frozenset(proof.case for proof in self._proofs or () if proof.proven),
            reported=tuple(self._emitter.findings), torch_lines=self._torch_lines,
        )  # fmt: skip

    @property
    def _is_timed(self) -> bool:
        """Whether a right candidate is timed in this run."""
        is_measured = self._measurement_context is not None and self._readiness.dry_run is not None
        return self._plan.is_timed and is_measured

    async def _time(self) -> Stop | None:
        """Time a right candidate; returns the reason why it is not right, when a timed call was wrong."""
        plan = self._plan.benchmark
        if plan is None or not plan.cases:
            self._emitter.report(not_timed(Coverage.NOT_ASKED, "no case was selected for timing"))
            return None
        dry_run = self._readiness.dry_run
        if self._measurement_context is None or dry_run is None:
            message = "interpreter timings are meaningless; nothing was timed"
            self._emitter.note("benchmark", message)
            self._emitter.report(not_timed(Coverage.NOT_AVAILABLE, message))
            return None
        names = frozenset(launch.kernel for one in self._passed for launch in one.launches)
        await self._replaying.settle()  # nothing is compiled while calls are timed
        source = TapedKernels(session=self._session, processes=self._replaying, device=self._device)
        kernels = OwnKernels(
            launches=dry_run.launches, names=names, native=self._native.kernels,
            source=None if self._native.is_there else source,
        )  # fmt: skip
        stage = TimingStage(
            plan, self._plan.problem, session=self._session, other=self._processes.other, emitter=self._emitter,
            kernels=kernels, measurement_context=self._measurement_context, profile=self._profile,
        )  # fmt: skip
        await stage.run()
        return stage.stop

    def _finish(self, stop: Stop | None) -> None:
        lab = self._lab()
        self._static.release(lab.torch_lines if stop is None and lab.is_proven else None)
        overfull = self._compilation.is_overfull and self._plan.target != self._device.target
        facts = Facts(
            planned=len(self._plan.cases), policy=self._plan.policy, stop=stop, cases=tuple(self._results),
            kernels=self._compilation.kernels, findings=tuple(self._emitter.findings),
            layers=tuple(self._emitter.layers), launched_on=self._device.target, proofs=self._proofs,
            weakness=self._plan.problem.weakness,
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
        self._compilation.add(launch)
