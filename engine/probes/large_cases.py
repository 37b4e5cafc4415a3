"""Checks cases that are larger than the verified ones: whether torch computes their answer, and whether it is right.

On the CPU no case for timing is verified, so a candidate that computes with torch above some size, or is wrong there,
would pass.  Here the entry is called on two cases for timing, the largest one and one that is drawn in each run, with
all its launches suppressed, and the operators of torch that it calls are recorded as in a verified call.  On another
that takes about a second, in half of the runs the largest such, its launches are executed, and its outputs are
compared; if all verified cases are proven, the tape of that call is replayed, too.
On a GPU these cases are called when they are timed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

from engine import protocol
from engine.errors import EngineError, WireError
from engine.model import Case, CaseResult, Finding, Outcome, OutputReport, Severity, Tier
from engine.model.layers import Coverage, Fact, Layer, LayerReport
from engine.model.proof import COMPUTED_ELSEWHERE
from engine.probes import Observation
from engine.probes.lab.case_session import CallContent, CallResult, Lab, PassedCase
from engine.protocol.monitoring import LOOKING_UP
from engine.protocol.proof.tape import MOST_TAPE_BYTES, Given, read_tape
from engine.replay.needed import needed_part
from engine.sandbox.untrusted_files import UntrustedFileError, read_untrusted
from engine.verdict.executed_launches import INTERPRETER, stop_of
from engine.verdict.torch_operators import uncompared_findings

LAYER = Layer.BEHAVIOUR
TURN = 3  # last of all: its calls may lose the worker
CATCHES = (
    "computes_the_first_part_of_large_tensors.py", "numpy_above_a_size.py", "reference_above_a_size.py",
    "torch_above_a_size.py",
)  # fmt: skip

_BY = "large_cases"
_MOST_BYTES = 32 << 20  # bytes read and written: the inputs of a larger case would take longer than the other probes
_MOST_EXECUTED = 1 << 24  # operations and bytes of a case whose launches are executed
_POISON = 0  # 0, so that counts that a withheld kernel should have written are not used as sizes
_OTHER_POISON = 0xFF
_TAPED = frozenset({protocol.OperatorKind.COMPUTE, protocol.OperatorKind.LIGHT})
_LOOKING_UP = frozenset(f"aten::{name}" for name in LOOKING_UP)  # a tape has them as steps without a name
_BYTES_FOR_A_READ = 128  # of an answer, for each number that the host reads: far more than numbers have


async def probe(lab: Lab) -> AsyncIterator[Observation]:
    """Observe one call of a drawn case for timing, and compare the outputs of another call."""
    cases = _cases(lab)
    if not lab.process_pool.interpreted:
        yield _not_asked("cases for timing are called when they are timed")
    elif not cases:
        yield _not_asked(f"no case for timing takes at most {_MOST_BYTES >> 20} MiB")
    else:
        facts = []
        for case in _drawn_to_observe(lab, cases):
            found = [finding async for finding in _of_operators(lab, case)]
            for finding in found:
                yield finding
            facts.append(Fact(name="case for timing", value=f"{case.name}, called once with its launches suppressed"))
            if found:  # the other case has probably the same
                break
        executed = _drawn_for_execution(lab, cases)
        if executed is not None:
            wrong = await _compare(lab, executed)
            if wrong is not None:
                yield wrong
            value = f"{executed.name}, {'its output is right' if wrong is None else wrong.message}"
            facts.append(Fact(name="case for timing", value=value))
        yield LayerReport(layer=LAYER, by=_BY, coverage=Coverage.CHECKED, facts=tuple(facts))


async def _of_operators(lab: Lab, case: Case) -> AsyncIterator[Finding]:
    """Findings on the operators of torch in one call without launches."""
    observed, why = await _observe(lab, case)
    for finding in uncompared_findings(lab.problem, case, observed):
        yield replace(finding, check=_BY)
    if why:  # an honest entry may fail without the content that its kernels did not write
        message = f"sizes beyond the verified cases were not checked: {why}"
        yield Finding(check=_BY, severity=Severity.NOTE, message=message, case=case.name)


def _drawn_to_observe(lab: Lab, cases: Sequence[Case]) -> tuple[Case, ...]:
    """The largest case, which is above every size that decides, and one of the others."""
    largest = max(cases, key=lab.size_of)
    others = [case for case in cases if case is not largest]
    return (largest, others[lab.draws.number("case") % len(others)]) if others else (largest,)


def _drawn_for_execution(lab: Lab, cases: Sequence[Case]) -> Case | None:
    """A case whose launches take about a second; None without one, or where Triton's interpreter runs a kernel."""
    if any(finding.check == INTERPRETER for finding in lab.reported):
        return None
    quick = [case for case in cases if lab.size_of(case) <= _MOST_EXECUTED]
    if not quick:
        return None
    drawn = lab.draws.number("executed case") % (2 * len(quick))
    return quick[drawn] if drawn < len(quick) else max(quick, key=lab.size_of)


async def _compare(lab: Lab, case: Case) -> Finding | None:
    """Finding on the outputs of one call with its launches; None if they are right."""
    async with lab.at(case) as session:
        prove = lab.prove if lab.is_proven else None
        tape = session.outputs.with_suffix(".tape") if prove is not None else None
        called = await session.make(poison=_OTHER_POISON, content=CallContent(fresh=False), tape=tape)
        if isinstance(called, CallResult):
            severity = Severity.NOTE if called.lost else Severity.HINT
            return _wrong(case, severity, f"could not be verified: {called.trouble}")
        stop = stop_of(called.executed) if called.executed is not None else None
        if stop is not None:
            return _wrong(case, Severity.SUSPECT, stop.message)
        compared = await session.compare(called.returned)
    if isinstance(compared, str):
        return _wrong(case, Severity.SUSPECT, compared)
    failed = next((report for report in compared.reports if report.outcome is not Outcome.PASS), None)
    message = f"wrong where no verified case is as large: {failed.message}" if failed is not None else compared.mutated
    if message is not None:
        return _wrong(case, Severity.SUSPECT, message)
    if prove is None or tape is None:
        return None
    proof = await prove(_passed(case, compared.reports), tape)
    if proof.gap not in COMPUTED_ELSEWHERE:
        return None
    message = f"not computed by the kernels alone where no verified case is as large: {proof.reason}"
    return _wrong(case, Severity.SUSPECT, message)


def _passed(case: Case, reports: tuple[OutputReport, ...]) -> PassedCase:
    """The case with these outputs of one call."""
    result = CaseResult(
        case=case.name, tier=case.tier, outcome=Outcome.PASS, elapsed_s=0.0, calls=1, seed=None, outputs=reports
    )
    return PassedCase(case=case, result=result, launches=())


async def _observe(lab: Lab, case: Case) -> tuple[tuple[protocol.OperatorSeen, ...], str]:
    """Operators in one call without launches, and why their record is missing or incomplete.

    If all verified cases are proven, those are left out whose results reach no launch and no output by the tape of the
    call: such as a check of the arguments, or a reference for a debugging mode.
    """
    async with lab.at(case) as session:
        tape = session.outputs.with_suffix(".tape") if lab.is_proven else None
        called = await session.make(
            poison=_POISON, content=CallContent(fresh=False), withhold=protocol.Withhold(), observe=True, tape=tape
        )
        used = _reaching_the_answer(lab, case, tape) if tape is not None else None
    why = called.trouble if isinstance(called, CallResult) else ""
    if isinstance(called, CallResult) and called.lost:
        return (), why
    try:
        observed = await lab.ask(protocol.Observe(id=protocol.new_id()))
    except EngineError as error:
        return (), str(error)
    if not isinstance(observed, protocol.Observed):
        return (), f"the candidate answered with {type(observed).__name__} instead of its record"
    operators = tuple(one for one in observed.operators if used is None or one.kind not in _TAPED or one.name in used)
    return operators, "; ".join((*([why] if why else []), *observed.unchecked))


def _reaching_the_answer(lab: Lab, case: Case, recorded: Path) -> frozenset[str] | None:
    """The operators whose results launches or outputs get, by a tape, which is deleted; None if it does not show them.

    Numbers that the host read may be part of a small answer, and memory of unknown origin may have any content.
    """
    try:
        tape = read_tape(read_untrusted(recorded, max_bytes=MOST_TAPE_BYTES))
    except (UntrustedFileError, WireError):
        return None
    finally:
        recorded.unlink(missing_ok=True)
    given = [step for step in needed_part(tape).steps if isinstance(step, Given)]
    carries_numbers = _BYTES_FOR_A_READ * len(tape.reads) > lab.problem.cost(case).bytes_written
    if tape.incomplete or carries_numbers or (tape.reads and not all(step.operator for step in given)):
        return None
    return frozenset((*_LOOKING_UP, *(step.operator for step in given)))


def _cases(lab: Lab) -> list[Case]:
    """Cases for timing whose inputs are made in a fraction of a second."""
    timed = [case for case in lab.problem.cases if case.tier is Tier.BENCH]
    costs = [lab.problem.cost(case) for case in timed]
    bytes_moved = [cost.bytes_read + cost.bytes_written for cost in costs]
    return [case for case, moved in zip(timed, bytes_moved, strict=True) if moved <= _MOST_BYTES]


def _wrong(case: Case, severity: Severity, message: str) -> Finding:
    return Finding(check=_BY, severity=severity, message=message, case=case.name)


def _not_asked(why: str) -> LayerReport:
    return LayerReport(layer=LAYER, by=_BY, coverage=Coverage.NOT_ASKED, why=why)
