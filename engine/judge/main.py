"""The judge's main loop: prepare a case, refill its buffers, compare, and release; and the slots of a benchmark."""

from __future__ import annotations

import os
import platform
import time
import traceback
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import msgspec
import torch

from engine import protocol
from engine.devices.hardware.device_memory import DeviceMemoryError, is_lost
from engine.draws import Draws
from engine.errors import MachineBusyError, ReferenceFaultError, UnsupportedError
from engine.judge.benchmark.slots import Slots
from engine.judge.compare.measures import bytes_of
from engine.judge.compare.outputs import left_open, reports_of
from engine.judge.diagnosis.explain import Explainer, left_unexplained
from engine.judge.inputs import cases
from engine.judge.inputs.call_snapshot import CallSnapshots
from engine.judge.inputs.dependence import answer_table_bytes, right_for_other
from engine.judge.inputs.digests import digests_of, outputs_digest
from engine.judge.inputs.heap import LARGE_BYTES, return_free_memory
from engine.judge.probing.correct_without_kernels import count_correct
from engine.judge.probing.input_variants import Variants
from engine.judge.probing.output_readings import OutputReadings
from engine.judge.probing.precision import measure_precision
from engine.judge.reference import Reference, reference_at
from engine.model import CalledCase, Determinism, Outcome, OutputReport, ProblemDefinition, ProblemId
from engine.problem_source import ReferenceSource, open_source
from engine.protocol import tensors
from engine.protocol.messages import MOST_PLACES
from engine.protocol.transport.service import MessagePipes
from engine.sandbox.untrusted_files import UntrustedFileError
from engine.sandbox.variables import DEVICE_VARIABLE

_THREADS = 2
_FEW_BYTES = 8 << 20  # bytes of arguments above which several threads pay off
_REFERENCE_S, _ATTACHING_S, _AUDITING_S = 40.0, 90.0, 240.0
"""Limits of a reference's own time: for all requests of one command, for opening and calibrating, and for an audit."""
_MESSAGE_CHARACTERS, _TRACE_CHARACTERS = 4000, 20_000


def serve(commands: int, replies: int, in_force: tuple[str, ...]) -> None:
    """Report that the judge is ready, and carry out commands."""
    torch.set_num_threads(_THREADS)
    pipes = MessagePipes(commands, replies)
    judge = _Judge(torch.device(os.environ[DEVICE_VARIABLE]))
    versions = {"torch": str(torch.__version__), "python": platform.python_version()}
    pipes.reply(protocol.Ready(id="ready", confinement=in_force, versions=versions))
    pipes.serve(judge.carry_out)


@dataclass(kw_only=True)
class _Place:
    """A prepared case, its kept outputs and snapshots, the memory that its arena is in, and its number of threads."""

    memory: cases.ArenaMemory
    prepared: cases.PreparedCase | None = None
    output_readings: OutputReadings = field(default_factory=OutputReadings)
    taken: CallSnapshots = field(default_factory=CallSnapshots)
    threads: int = _THREADS


class _Judge:
    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._problems: dict[ProblemId, ProblemDefinition] = {}
        self._reference: Reference | None = None
        self._contents = cases.Contents(device)
        self._memory = cases.ArenaMemory(device)
        others = (cases.ArenaMemory(device) for _ in range(1, MOST_PLACES))
        self._places = tuple(_Place(memory=memory) for memory in (self._memory, *others))
        self._place = self._places[0]
        self._explainer = Explainer()
        self._slots = Slots(device, self._problem)
        self._variants = Variants(device, self._memory)
        if device.type != "cpu":
            torch.zeros(1, device=device)  # otherwise the first case would wait for the context

    def carry_out(self, command: protocol.AnyCommand) -> protocol.AnyReply:
        self._place = self._places[command.place if isinstance(command, protocol.CaseCommand) else 0]
        torch.set_num_threads(self._place.threads)
        if self._reference is not None:
            self._reference.allow(_REFERENCE_S)
        try:
            return self._carry_out(command)
        except ReferenceFaultError as error:
            message = str(error)[:_MESSAGE_CHARACTERS]
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.PROBLEM, message=message)
        except MachineBusyError as error:
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.ENGINE, message=str(error))
        except (tensors.TruncatedError, UntrustedFileError) as error:
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.TAMPERED, message=str(error))
        except DeviceMemoryError as error:
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=str(error))
        except Exception as error:  # process boundary: errors of a problem or of the judge are reported to the parent
            message = f"{type(error).__name__}: {error}"[:_MESSAGE_CHARACTERS]
            trace = traceback.format_exc()[-_TRACE_CHARACTERS:]
            broken = is_lost(self._device)
            return protocol.Failed(
                id=command.id, kind=protocol.FailureKind.ENGINE, message=message, trace=trace, broken=broken
            )

    def _carry_out(self, command: protocol.AnyCommand) -> protocol.AnyReply:
        match command:
            case protocol.ShareMemory():
                block = self._memory.block(1)
                return protocol.MemoryShared(id=command.id, handle=block.handle, block_bytes=block.size_bytes)
            case protocol.AttachReference():
                return self._attach(command)
            case protocol.AuditProblem():
                return self._audit(command)
            case protocol.Prepare():
                return self._prepare(command)
            case protocol.Describe():
                return self._describe(command)
            case protocol.Refill():
                self._refill(command, seed=command.seed)
                return protocol.Done(id=command.id)
            case protocol.Compare():
                return self._compare(command)
            case protocol.TakeSnapshot():
                prepared = self._prepared_case()
                self._place.taken.keep(command, prepared, lambda: cases.returned_bytes(prepared, command))
                if command.next_content is not None:
                    self._refill(command.next_content)
                return protocol.Done(id=command.id)
            case protocol.CompareSnapshot():
                return self._compare_snapshot(command)
            case protocol.LayOutVariant():
                return self._variants.vary(self._prepared_case(), command)
            case protocol.PrepareVariant():
                self._variants.prepare_variant(self._prepared_case(), command.variant)
                return protocol.Done(id=command.id)
            case protocol.CountCorrect():
                return protocol.CorrectCounted(id=command.id, outputs=count_correct(self._prepared_case(), command))
            case protocol.CompareReading():
                output_readings = self._place.output_readings
                return protocol.ReadingCompared(
                    id=command.id, outputs=output_readings.compare(self._prepared_case(), command)
                )
            case protocol.MeasurePrecision():
                return protocol.PrecisionMeasured(
                    id=command.id, outputs=measure_precision(self._prepared_case(), command)
                )
            case protocol.Release():
                seed = self._place.prepared.content.seed if self._place.prepared is not None else None
                self._release_call()
                return protocol.Released(id=command.id, seed=seed)
            case (
                protocol.Arrange()
                | protocol.Refresh()
                | protocol.Check()
                | protocol.PrepareBaseline()
                | protocol.TimeBaseline()
                | protocol.MeasurePeaks()
                | protocol.FreeSlots()
            ):
                return self._slots.carry_out(command)
        message = f"a judge does not carry out {type(command).__name__}"
        return protocol.Failed(id=command.id, kind=protocol.FailureKind.ENGINE, message=message)

    def _attach(self, command: protocol.AttachReference) -> protocol.AnyReply:
        """Open a foreign problem in its reference process; the one before is closed."""
        reference = self._with_reference(command, _ATTACHING_S)
        source = cast("ReferenceSource", open_source(command.problem.source))
        try:
            attached = source.attach(command.problem.name, reference, version=command.problem.version)
        except UnsupportedError as error:
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=str(error))
        self._problems[command.problem] = attached.definition
        return protocol.ReferenceAttached(id=command.id, notes=attached.notes, left_out=attached.left_out)

    def _audit(self, command: protocol.AuditProblem) -> protocol.AnyReply:
        """Audit a foreign problem in its reference process."""
        reference = self._with_reference(command, _AUDITING_S)
        source = cast("ReferenceSource", open_source(command.problem.source))
        try:
            found = source.audit(command.problem.name, reference, version=command.problem.version)
        except UnsupportedError as error:
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=str(error))
        return protocol.Audited(id=command.id, weaknesses=found)

    def _with_reference(self, command: protocol.AttachReference | protocol.AuditProblem, allowed_s: float) -> Reference:
        """The reference process of a command in place of the one before, with this time limit."""
        if self._reference is not None:
            self._reference.close()
        self._problems.pop(command.problem, None)
        self._reference = reference_at(Path(command.folder), self._device, pid=command.pid)
        self._reference.allow(allowed_s)
        return self._reference

    def _prepare(self, command: protocol.Prepare) -> protocol.Prepared:
        started = time.perf_counter()
        problem = self._problem(command.problem)
        case = problem.case(command.case)
        draws = Draws(command.draw_seed, problem.name, case.name)
        seed = draws.seed_of("case") if command.seed is None else command.seed
        content = self._contents.of_case(problem, case, seed)
        # Set before anything is computed, so that a case has the same bits whatever case preceded it.
        self._place.threads = 1 if sum(storage.numel() for storage in content.storages) < _FEW_BYTES else _THREADS
        torch.set_num_threads(self._place.threads)
        if command.expects:
            _ = content.expected  # a reference that fails does so before the candidate is called
        idle = cases.is_idle(problem, content)
        self._release_call()
        arena: cases.Arena
        if command.arena_path is None:
            arena = cases.arena_on_device(content, self._place.memory)
        else:
            content = cases.on_host(content)
            arena = cases.arena_in_file(content, Path(command.arena_path))
        self._place.prepared = cases.PreparedCase(
            problem=problem, case=case, arena=arena, base=content, content=content, draws=draws
        )
        cases.fill(self._place.prepared, content, command.poison)
        if command.fresh_ahead:
            self._place.prepared.fresh = self._fresh_content(self._place.prepared)
        return protocol.Prepared(
            id=command.id,
            arguments=content.specs,
            arena=arena.spec,
            elapsed_s=time.perf_counter() - started,
            idle=idle,
        )

    def _describe(self, command: protocol.Describe) -> protocol.Described:
        problem = self._problem(command.problem)
        shapes = tuple(
            self._contents.shape_of(problem, problem.case(name), keeps=command.keeps) for name in command.cases
        )
        return protocol.Described(id=command.id, shapes=shapes)

    def _refill(self, command: protocol.Refill | protocol.NextContent, *, seed: int | None = None) -> None:
        prepared = self._prepared_case()
        content = prepared.base
        if command.fresh:
            if prepared.fresh is None or seed is not None:
                content = self._fresh_content(prepared, seed=seed)
            else:
                content, prepared.fresh = prepared.fresh, None
        if content.specs != prepared.base.specs:
            raise ValueError(f"{prepared.problem.name}: shapes and scalars of {prepared.case.name} depend on the seed")
        cases.fill(prepared, content, command.poison)

    def _fresh_content(self, prepared: cases.PreparedCase, *, seed: int | None = None) -> cases.Content:
        """Another content of a case, from this seed or a new one."""
        # Not derived from the case's own seed: one would reveal the other.
        drawn = prepared.draws.number("fresh") if seed is None else seed
        content = self._contents.make(prepared.problem, prepared.case, drawn)
        return cases.on_host(content) if isinstance(prepared.arena, tensors.ArenaFile) else content

    def _compare_snapshot(self, command: protocol.CompareSnapshot) -> protocol.Compared:
        taken = self._place.taken.give(command.taken)
        current, self._place.prepared = self._place.prepared, taken.prepared
        try:
            with taken.restored():
                seed = taken.prepared.content.seed
                compared = self._compare(taken.compare)
        finally:
            self._place.prepared = current
        if command.ends and current is taken.prepared:
            self._release_call()
        return msgspec.structs.replace(compared, id=command.id, seed=seed if command.ends else None)

    def _compare(self, command: protocol.Compare) -> protocol.Compared:
        prepared = self._prepared_case()
        final = prepared.arena.read()  # copied first: the worker may still be writing
        damage = prepared.arena.damaged(guard=prepared.poison)
        problem, content = prepared.problem, prepared.content
        got = cases.outputs_of(prepared, command, final)
        earlier = tuple(prepared.first_outputs) if content is prepared.base else ()
        repeated = _repeated(prepared, got)
        # An output that was correct and is bitwise equal on the same input is correct again, except for random
        # operators.
        known = prepared.first_reports if repeated and problem.determinism is not Determinism.RANDOM else ()
        is_right = bool(known) and all(report.outcome is Outcome.PASS for report in known)
        reports = known if is_right else _reports(prepared, got, earlier)
        if any(report.outcome is not Outcome.PASS for report in reports):
            with self._device:
                explain = self._explainer.explained if command.explain else left_unexplained
                reports = explain(prepared, got, reports, repeated=repeated)
        if content is prepared.base and not prepared.first_reports:
            prepared.first_reports = reports
        changed = cases.mutated(problem, content.specs, prepared.initial, final)
        if damage is not None:
            changed = cases.overrun(problem, content.specs, damage)
        digests = digests_of(prepared, got) if command.digests else None
        other = command.other_seed
        return protocol.Compared(
            id=command.id, reports=reports, repeated=repeated, mutated=changed, digests=digests,
            outputs_digest=outputs_digest(got) if command.hash_outputs else None,
            passes_own_rule=_passes_own_rule(prepared, got),
            table_bytes=answer_table_bytes(prepared, self._contents) if command.tables else None,
            right_for_other=None if other is None else right_for_other(prepared, self._contents, got, other),
        )  # fmt: skip

    def _problem(self, wanted: ProblemId) -> ProblemDefinition:
        if wanted not in self._problems:
            source = open_source(wanted.source)
            self._problems[wanted] = source.load(wanted.name, version=wanted.version)
        return self._problems[wanted]

    def _release_call(self) -> None:
        if self._place.prepared is not None:
            size_bytes = sum(part.numel() for part in self._place.prepared.content.storages)
            self._place.prepared.arena.close()
            self._place.prepared = None
            if size_bytes >= LARGE_BYTES:
                return_free_memory()

    def _prepared_case(self) -> cases.PreparedCase:
        if self._place.prepared is None:
            raise RuntimeError("no case was prepared")
        return self._place.prepared


def _reports(
    prepared: cases.PreparedCase, got: list[torch.Tensor | OutputReport], earlier: tuple[torch.Tensor, ...]
) -> tuple[OutputReport, ...]:
    """One report for each output of this call."""
    call = cases.finished_call(prepared, got)
    return reports_of(replace(call, earlier=earlier), poison=prepared.poison)


def _passes_own_rule(prepared: cases.PreparedCase, got: list[torch.Tensor | OutputReport]) -> bool | None:
    """Result of the rule of a foreign problem's suite; None for other problems."""
    rule, content = prepared.problem.passes_own_rule, prepared.content
    if rule is None:
        return None
    outputs = tuple(value for value in got if isinstance(value, torch.Tensor))
    if len(outputs) != len(content.expected):
        return False
    return rule(CalledCase(case=prepared.case, arguments=content.inputs, outputs=outputs, expected=content.expected))


def _repeated(prepared: cases.PreparedCase, got: list[torch.Tensor | OutputReport]) -> bool | None:
    """Whether these outputs equal those of the first call bit for bit; None for the first and for other content."""
    if prepared.content is not prepared.base:
        return None
    values = [value for value in got if isinstance(value, torch.Tensor)]
    if not prepared.first_outputs:
        prepared.first_outputs = [value.clone() for value in values]
        return None
    if len(values) != len(prepared.first_outputs):
        return None
    pairs = list(zip(values, prepared.first_outputs, strict=True))
    if all(_same_bits(one, other) for one, other in pairs):
        return True
    masks = left_open(cases.finished_call(prepared, got))
    return len(masks) == len(pairs) and all(
        _same_bits(one, other, free=free) for (one, other), free in zip(pairs, masks, strict=True)
    )


def _same_bits(one: torch.Tensor, other: torch.Tensor, *, free: torch.Tensor | None = None) -> bool:
    """Whether two outputs have the same bits, apart from elements that may hold anything."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if not one.numel():
        return True
    rows, other_rows = bytes_of(one), bytes_of(other)
    if free is None:
        return torch.equal(rows, other_rows)
    counted = ~free.flatten()
    return torch.equal(rows[counted], other_rows[counted])
