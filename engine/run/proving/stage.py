"""The stage of proving: tapes of two calls of each passing case, and a replay without any code of the candidate."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace as replace_fields

from engine.artefacts import ArtefactStore
from engine.draws import Draws
from engine.errors import DeadlineError, EngineError
from engine.model import Finding, Severity, Stage, events
from engine.model.counts import counted
from engine.model.layers import Coverage, Fact, Layer, LayerReport
from engine.model.proof import COMPUTED_ELSEWHERE, CaseProof, Gap
from engine.probes.lab.case_session import Lab, PassedCase
from engine.protocol.proof.proof_file import ProvenRun
from engine.protocol.proof.tape import ELEMENT_BYTES, Tape
from engine.replay.agreement import count_different_numbers, with_other_seeds
from engine.run.event_stream import EventEmitter
from engine.run.proving import conclusion
from engine.run.proving.kernels import LoweredKernel, NotLoweredError, are_others, claimed_kernels
from engine.run.proving.proof_of_tape import (
    TapedCase,
    answers_other_inputs,
    computed_elsewhere,
    refuted_as_called,
    refuted_backwards,
    refuted_by,
    try_on_other_inputs,
    try_to_prove,
)
from engine.run.proving.proof_record import ProofRecord, unproven_reasons, versions
from engine.run.proving.replay_processes import ReplayProcesses
from engine.run.proving.replays import PLACES, Replays
from engine.run.proving.taped_calls import CallTaper, ComparedTapes, read_recorded

_MOST_FAILURES = 2  # engine errors before the remaining cases are left out
_MOST_ATTEMPTS = 8  # judge, worker, compiler, replayer and two fork servers may each be found dead in another attempt
_CASES_IN_PROGRESS = 3  # beside the one that is taped: replays of two, and kernels of one
_ONLY_THESE_INPUTS = frozenset({Gap.SCALAR, Gap.HOST_READS, Gap.UNSTEADY})
"""The gaps of tapes that may hold only for the inputs that they were recorded with."""
_T = TypeVar("_T")


async def prove(
    lab: Lab, emitter: EventEmitter, processes: ReplayProcesses, artefacts: ArtefactStore
) -> ProvingStage | None:
    """The stage with the proofs of the cases that passed, also stored as a file; None for kernels in CUDA C."""
    if lab.native is not None:
        why = "kernels in CUDA C are not replayed, only those of Triton"
        emitter.report(LayerReport(layer=Layer.PROOF, by="replay", coverage=Coverage.NOT_AVAILABLE, why=why))
        return None
    stage = ProvingStage(lab=lab, emitter=emitter, processes=processes)
    await stage.run()
    if stage.record.cases:
        await _store(stage, lab, emitter, artefacts, target=processes.kernels.target)
    return stage


async def _store(
    stage: ProvingStage, lab: Lab, emitter: EventEmitter, artefacts: ArtefactStore, *, target: str
) -> None:
    """Store the proof file of a run; a folder that cannot be written is noted, and the run continues."""
    run = ProvenRun(
        problem=lab.problem.name,
        problem_version=lab.problem.version,
        candidate=lab.session.digest,
        device=lab.plan.device,
        target=target,
        versions=versions(),
        unproven=unproven_reasons(stage.proofs),
    )
    try:
        order = tuple(one.case.name for one in lab.passed)
        artefact = await asyncio.to_thread(stage.record.store, artefacts, run, order)
    except OSError as error:
        emitter.note("proof", f"the proof was not stored: {error.strerror or error}; it cannot be exported")
        return
    emitter.emit(events.ProofStored(at_s=emitter.now(), artefact=artefact, cases=stage.record.cases))


class ProvingStage:
    """Proves the cases that passed; `run` once.  Replays use these `places` of the judge."""

    def __init__(
        self, *, lab: Lab, emitter: EventEmitter, processes: ReplayProcesses, places: Sequence[int] = PLACES
    ) -> None:
        self._lab = lab
        self._emitter = emitter
        self._kernels = processes.kernels
        self._replays = Replays(
            processes.replayer,
            process_pool=lab.process_pool,
            problem=lab.problem,
            limits=lab.limits,
            draw_seed=lab.plan.draw_seed,
            places=places,
        )
        self._taper = CallTaper(lab)
        self._draws = Draws(lab.plan.draw_seed, "seeds")
        self._failures = 0
        self.record = ProofRecord()
        self.proofs: list[CaseProof] = []

    async def run(self) -> None:
        """Report for each passed case whether it is proven."""
        began = self._emitter.begin(Stage.PROVE, len(self._lab.passed))
        # While one case is taped, those before it are compiled and replayed; they are reported in their order.
        tasks: list[asyncio.Task[None]] = []
        try:
            for one in self._lab.passed:
                calls = await self._within_engine(one, partial(self._taper.of_case, one))
                if len(tasks) == _CASES_IN_PROGRESS:
                    await tasks.pop(0)
                after = tasks[-1] if tasks else None
                tasks.append(asyncio.create_task(self._replayed(one, calls, after=after)))
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._kernels.close()
        if (finding := finding_of(self.proofs)) is not None:
            self._emitter.find(finding)
        self._emitter.report(report_of(self.proofs))
        self._emitter.end(Stage.PROVE, began)

    async def of_call(self, one: PassedCase, recorded: Path) -> CaseProof:
        """The proof of a further case by the tape of one call, a file that is deleted.

        Numbers that depend on the inputs are not told from others, so that only a gap of work elsewhere is certain.
        """
        return await self._within_engine(one, partial(self._by_one_tape, one, await read_recorded(one.case, recorded)))

    async def _by_one_tape(self, one: PassedCase, tape: Tape | CaseProof) -> CaseProof:
        if isinstance(tape, CaseProof):
            return tape
        try:
            kernels = await self._kernels.of_tape(tape)
        except NotLoweredError as error:
            return CaseProof(case=one.case.name, gap=Gap.UNSUPPORTED, reason=str(error))
        return (await try_to_prove(self._replays, _taped_case(one, tape, kernels))).proof

    async def _replayed(
        self, one: PassedCase, calls: ComparedTapes | CaseProof, *, after: asyncio.Task[None] | None
    ) -> None:
        """Report whether a case with these tapes is proven, once `after` has ended."""
        if isinstance(calls, CaseProof):
            proof = calls
        else:
            proof = await self._within_engine(one, partial(self._prove, one, calls))
        if after is not None:
            await asyncio.wait({after})
        self.proofs.append(proof)
        number, total = len(self.proofs), len(self._lab.passed)
        self._emitter.emit(events.CaseProven(at_s=self._emitter.now(), number=number, total=total, proof=proof))

    async def _within_engine(self, one: PassedCase, work: Callable[[], Awaitable[_T]]) -> _T | CaseProof:
        """Result of `work`, repeated after errors; an engine error is a separate gap, never the kernel's."""
        if self._failures >= _MOST_FAILURES:
            return CaseProof(case=one.case.name, gap=Gap.ENGINE, reason="not tried: the engine failed before")
        try:
            with self._lab.profile.span("prove"):
                return await repeat_after_errors(work)
        except EngineError as error:
            self._failures += 1
            return CaseProof(case=one.case.name, gap=Gap.ENGINE, reason=str(error) or "the engine failed")

    async def _prove(self, one: PassedCase, calls: ComparedTapes) -> CaseProof:
        """The proof of a case by its tapes."""
        name, size = one.case.name, _answer_bytes(one)
        other, tape, agreed = calls.other, calls.tape, calls.agreed
        proof = None if calls.agree else conclusion.of_disagreement(name, tape, agreed)
        if proof is not None:
            numbers = count_different_numbers(other, tape)
            largest = max((output.total for output in one.result.outputs), default=0)
            holds_answer = conclusion.of_numbers(name, numbers, _least_bytes(one), largest=largest)
            if holds_answer is not None:
                return holds_answer
        only_claimed: CaseProof | None = None  # why the kernels are those that the worker claims: they cannot prove
        try:
            kernels = await self._kernels.of_tape(tape)
        except NotLoweredError as error:
            only_claimed = proof or CaseProof(case=name, gap=Gap.UNSUPPORTED, reason=str(error))
            kernels = claimed_kernels(tape)
            if not kernels:
                return only_claimed
        self._lab.process_pool.compiler.prepare()  # replaces the warm compiler that the first kernel took
        taped = _taped_case(one, tape, kernels, varying=agreed.varying)
        executed = claimed_kernels(tape)
        if len(executed) < len(kernels):
            reason = "the worker did not report the TTIR that it executed"
            only_claimed = only_claimed or CaseProof(case=name, gap=Gap.UNSUPPORTED, reason=reason)
        elif proof is None and only_claimed is None and are_others(executed, kernels):
            proof = await refuted_by(self._replays, replace(taped, kernels=executed), own_seed=calls.seed)
        proof = proof or await self._on_other_inputs(taped, calls, records=only_claimed is None)
        if proof.gap in _ONLY_THESE_INPUTS and not self._lab.problem.returns_scalar:
            elsewhere = await computed_elsewhere(self._replays, taped, other, seed=calls.seed, answer_bytes=size)
            proof = elsewhere or await self._in_numbers(taped, seed=calls.seed) or proof
        return proof if only_claimed is None or proof.gap in COMPUTED_ELSEWHERE else only_claimed

    async def _in_numbers(self, taped: TapedCase, *, seed: int) -> CaseProof | None:
        """Why a tape proves nothing whose numbers contain its answer; None if they do not."""
        problem = self._lab.problem
        if problem.on_cpu or problem.rearrangement.is_certain:  # the host may read these, and pass a value to fill in
            return None
        if not await answers_other_inputs(self._replays, taped, seed=seed):
            return None
        return conclusion.of_answer_of_other_inputs(taped.case.name)

    async def _on_other_inputs(self, taped: TapedCase, calls: ComparedTapes, *, records: bool) -> CaseProof:
        """The proof by a replay on inputs that the candidate never had; with `records` a proven case is recorded."""
        tried = await try_on_other_inputs(self._replays, taped, own_seed=calls.seed)
        if tried.proof.proven and tried.replayed is not None and calls.agreed.seeds:
            seeds, size = calls.agreed.seeds, tried.replayed.answer_bytes
            tried = replace(tried, proof=conclusion.of_seeds(tried.proof, seeds, size))
            if tried.proof.proven:
                other = with_other_seeds(taped.tape, calls.other, self._draws.number)
                with_others = await try_to_prove(self._replays, replace(taped, tape=other))
                tried = replace(tried, proof=conclusion.of_other_seeds(tried.proof, with_others.proof))
        if tried.proof.proven:
            called = taped if self._replays.on_device else replace(taped, tape=calls.called)
            refuted = await refuted_as_called(self._replays, called, calls.outputs)
            tried = replace(tried, proof=refuted or tried.proof)
        if tried.proof.proven and tried.replayed is not None:
            refuted = await refuted_backwards(self._replays, taped, tried.replayed)
            tried = replace(tried, proof=refuted or tried.proof)
        if records and tried.proof.proven and tried.replayed is not None and tried.replayed.digests is not None:
            self.record.add(taped, seed=tried.replayed.seed, digests=tried.replayed.digests)
        return tried.proof


async def repeat_after_errors(work: Callable[[], Awaitable[_T]]) -> _T:
    """Result of `work`, repeated after an error, with a new process.

    Raises:
        EngineError: a process timed out, or the last attempt failed too.
    """
    for _ in range(_MOST_ATTEMPTS - 1):
        try:
            return await work()
        except DeadlineError:
            raise
        except EngineError:
            continue
    return await work()


def report_of(proofs: Sequence[CaseProof]) -> LayerReport:
    """The report on the layer: checked when every case is proven."""
    proven = sum(proof.proven for proof in proofs)
    facts = (Fact(name="proven cases", value=f"{proven} of {len(proofs)}"),)
    first = next((proof for proof in proofs if not proof.proven), None)
    if first is None:
        return LayerReport(layer=Layer.PROOF, by="replay", coverage=Coverage.CHECKED, facts=facts)
    failed = all(proof.proven or proof.gap is Gap.ENGINE for proof in proofs)
    why = f"{len(proofs) - proven} of {len(proofs)} cases are not proven, first {first.case}: {first.reason}"
    coverage = Coverage.ENGINE_FAILED if failed else Coverage.NOT_CHECKED
    return LayerReport(layer=Layer.PROOF, by="replay", coverage=coverage, why=why, facts=facts)


def finding_of(proofs: Sequence[CaseProof]) -> Finding | None:
    """The finding that flags a run: cases not computed by the kernels alone, or wrong ones; None without any."""
    elsewhere = conclusion.flagging(proofs)
    flagged = elsewhere or tuple(proof for proof in proofs if proof.gap is Gap.OTHER_INPUTS)
    if not flagged:
        return None
    first, verb = flagged[0], "is" if len(flagged) == 1 else "are"
    count = f"{len(flagged)} of {counted(len(proofs), 'case')}"
    what = f"{count} {verb} not computed by the kernels alone" if elsewhere else count
    return Finding(check="proof", severity=Severity.SUSPECT, message=f"{what}: {first.reason}", case=first.case)


def _taped_case(
    one: PassedCase, tape: Tape, kernels: Sequence[LoweredKernel], *, varying: tuple[int, ...] = ()
) -> TapedCase:
    """The case with a tape, without what its worker claims, and with these kernels."""
    bare = replace_fields(tape, claimed=(), addresses=())
    return TapedCase(
        case=one.case,
        tape=bare,
        kernels=kernels,
        varying=varying,
        answers_bools=one.result.answers_bools,
        answers_integers=one.result.answers_integers,
    )


def _answer_bytes(one: PassedCase) -> int:
    """The bytes of all outputs of a case."""
    return sum(output.total * ELEMENT_BYTES.get(output.dtype, 1) for output in one.result.outputs)


def _least_bytes(one: PassedCase) -> int:
    """The bytes that all outputs of a case need if each bool is a bit."""
    bools = sum(output.total for output in one.result.outputs if output.dtype == "bool")
    return _answer_bytes(one) - bools + math.ceil(bools / 8)
