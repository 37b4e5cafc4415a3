"""Executes recorded launches of small cases on the machine, where a device launches kernels without reporting accesses.

On the CPU the machine executes every verified call.  On a device it executes the proven tapes: for each specialisation
that of its smallest case, on inputs in host memory.  So races, accesses out of bounds, misaligned ones and false
assumptions are proofs there, too; memory that was never written is not known.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

from engine import protocol
from engine.devices.hardware.targets import target_named
from engine.errors import DeadlineError, EngineError
from engine.loading.raised import OutOfBoundsError
from engine.model import Case, Finding, Severity
from engine.model.counts import counted
from engine.model.layers import Coverage, Fact, Layer, LayerReport
from engine.probes.lab.case_session import Lab
from engine.processes.judge_requests import prepared_case
from engine.processes.warm_pool import PooledProcess
from engine.protocol.executing import Executed
from engine.protocol.proof.proof_file import ProvenCase
from engine.run.event_stream import EventEmitter
from engine.run.proving.proof_record import ProofRecord
from engine.run.proving.replays import PLACES_BESIDE_PROBES
from engine.run.proving.stage import repeat_after_errors
from engine.verdict.executed_launches import MEMORY, findings_of

BY = "memory"
_MOST_WORK = 1 << 24  # operations and bytes of a case, which take the machine about a second
_MOST_WORK_OF_ALL = 1 << 26
_HOLD_S, _CASE_S = 10.0, 20.0


@dataclass(kw_only=True)
class _Executed:
    """The cases whose launches were executed, and why others were not."""

    cases: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    specialisations: set[str] = field(default_factory=set)


class MemoryCheck:
    """Checks the memory accesses of the proven cases of one run; `run` once.  Kernels are those of this `target`."""

    def __init__(self, *, lab: Lab, record: ProofRecord, emitter: EventEmitter, target: str) -> None:
        self._lab = lab
        self._record = record
        self._emitter = emitter
        self._warp_threads = target_named(target).warp_size
        self._held: set[str] = set()
        self._found: set[tuple[object, ...]] = set()

    async def run(self) -> None:
        """Emit findings on accesses, and the report on this part of the layer."""
        chosen = tuple(self._chosen())
        if not chosen:
            self._report(Coverage.NOT_AVAILABLE, "no proven case is small enough to be executed on the machine")
            return
        try:
            executed = await repeat_after_errors(partial(self._executed, chosen))
        except (EngineError, OSError) as error:
            self._report(Coverage.ENGINE_FAILED, f"the machine could not execute the launches: {error}")
            return
        every = (self._record.case(one.case.name) for one in self._lab.passed)
        specialisations = {name for proven in every if proven is not None for name in proven.kernels}
        facts = (
            Fact(name="cases on the machine", value=counted(len(executed.cases), "case")),
            Fact(name="specialisations", value=f"{len(executed.specialisations)} of {len(specialisations)}"),
            *(Fact(name="not executed", value=reason) for reason in executed.reasons[:1]),
        )
        why = "" if executed.cases else executed.reasons[0]
        self._report(Coverage.NOT_AVAILABLE if why else Coverage.CHECKED, why, facts)

    def _chosen(self) -> Iterator[tuple[Case, ProvenCase]]:
        """The smallest proven case of each specialisation, while all of them are small enough."""
        covered: set[str] = set()
        total = 0
        for one in sorted(self._lab.passed, key=lambda passed: self._lab.size_of(passed.case)):
            proven, work = self._record.case(one.case.name), self._lab.size_of(one.case)
            if proven is None or covered.issuperset(proven.kernels):
                continue
            total += work
            if work > _MOST_WORK or total > _MOST_WORK_OF_ALL:
                return
            covered.update(proven.kernels)
            yield one.case, proven

    async def _executed(self, chosen: tuple[tuple[Case, ProvenCase], ...]) -> _Executed:
        """Execute the launches of these cases in a new process.

        Raises:
            EngineError: judge or process failed.
            OSError: the process has no folder.
        """
        executed = _Executed()
        self._held.clear()
        process = await self._lab.process_pool.start_replayer(on_machine=True)
        try:
            for case, proven in chosen:
                with self._lab.profile.span("check memory"):
                    reply = await self._checked(process, case, proven)
                if isinstance(reply, protocol.MemoryChecked):
                    self._find(reply, case)
                    executed.cases.append(case.name)
                    executed.specialisations.update(proven.kernels)
                else:
                    executed.reasons.append(f"{case.name}: {reply}")
        except DeadlineError as error:
            executed.reasons.append(str(error))
        finally:
            await asyncio.shield(process.end())
        return executed

    async def _checked(self, process: PooledProcess, case: Case, proven: ProvenCase) -> protocol.MemoryChecked | str:
        """The findings on the launches of a case, or why the machine did not execute them."""
        for name in proven.kernels:
            refused = await self._hold(process, name)
            if refused:
                return refused
        arena = process.workspace.shared / f"{secrets.token_hex(8)}.in"
        prepare = protocol.Prepare(
            id=protocol.new_id(), problem=self._lab.problem.id, case=case.name, poison=0, arena_path=str(arena),
            seed=proven.seed, place=PLACES_BESIDE_PROBES[0], expects=False,
        )  # fmt: skip
        try:
            async with prepared_case(self._lab.process_pool, prepare) as prepared:
                command = protocol.CheckMemory(
                    id=protocol.new_id(), tape=proven.tape, kernels=proven.kernels, arena=prepared.arena,
                    most_bytes=self._lab.limits.memory_bytes // 2, warp_threads=self._warp_threads,
                    without=proven.without,
                )  # fmt: skip
                reply = await process.child.ask(command, deadline_s=_CASE_S)
        finally:
            arena.unlink(missing_ok=True)
        return reply if isinstance(reply, protocol.MemoryChecked) else _reason(reply)

    async def _hold(self, process: PooledProcess, name: str) -> str:
        """Have the process read a kernel, once; "" or why it is refused."""
        if name in self._held:
            return ""
        kernel = self._record.kernel(name)
        command = protocol.HoldKernel(id=protocol.new_id(), name=name, ttir=kernel.ttir, arguments=kernel.arguments)
        reply = await process.child.ask(command, deadline_s=_HOLD_S)
        if not isinstance(reply, protocol.Done):
            return _reason(reply)
        self._held.add(name)
        return ""

    def _find(self, checked: protocol.MemoryChecked, case: Case) -> None:
        """Emit the findings on the launches of a case, each kind once for each kernel and line."""
        findings = list(findings_of(Executed(memory=checked.memory), case.name))
        if checked.stopped:
            stopped = OutOfBoundsError(checked.out_of_bounds) if checked.out_of_bounds is not None else checked.stopped
            location = checked.out_of_bounds.location if checked.out_of_bounds is not None else None
            findings.append(
                Finding(check=MEMORY, severity=Severity.PROOF, message=str(stopped), case=case.name, location=location)
            )
        for finding in findings:
            key = (finding.check, finding.location, finding.message.partition(":")[0])
            if key not in self._found:
                self._found.add(key)
                self._emitter.find(finding)

    def _report(self, coverage: Coverage, why: str, facts: tuple[Fact, ...] = ()) -> None:
        self._emitter.report(LayerReport(layer=Layer.BEHAVIOUR, by=BY, coverage=coverage, why=why, facts=facts))


def _reason(reply: protocol.AnyReply) -> str:
    """Why a process did not do what it was asked for.

    Raises:
        EngineError: it is the engine's fault.
    """
    if not isinstance(reply, protocol.Failed):
        raise EngineError(f"the machine answered with {type(reply).__name__}")
    if reply.kind is protocol.FailureKind.ENGINE:
        raise EngineError(reply.message)
    return reply.message
