"""Changes of the tables by one event, as statements to run in one transaction.

The event itself is always kept whole; the other tables are there to be asked across runs.  Only
builds statements: it never touches a connection, so what an event means is tested without a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.model import CaseResult, CompiledKernel, Finding, Location, Outcome, OutputReport
from engine.model.events import (
    BenchmarkSummarised,
    CaseBenchmarked,
    CaseFinished,
    Event,
    FindingRaised,
    KernelCompiled,
    KernelPorted,
    ProofStored,
    RunFinished,
    RunStarted,
    StageFinished,
    SuiteRuleApplied,
    to_json,
)
from sessions.database import Values
from sessions.writing.recording_benchmarks import KEEP_BASELINES, Statement, benchmark_statements, summary_statements

_INSERT_EVENT = "insert into events (run, seq, at_s, kind, body) values (:run, :seq, :at_s, :kind, :body)"
# Until the verdict: disassembly may follow long after it and is not part of the duration.
_MOVE_CLOCK = "update runs set elapsed_s = max(elapsed_s, :at_s) where id = :run and outcome is null"
_START_RUN = """
update runs set device = :device, device_name = :device_name, target = :target, total = :total, policy = :policy
where id = :run"""
_FINISH_RUN = """
update runs set outcome = :outcome, sentence = :sentence, passed = :passed, total = :total, flagged = :flagged,
    proven = :proven
where id = :run"""
_APPLY_RULE = "update runs set rule_calls = :calls, rule_passed = :passed where id = :run"
_INSERT_TIMING = """
insert into timings (run, seq, name, case_name, value) values (:run, :seq, :name, :case_name, :value)"""
# A case that is judged again in the same run replaces its row; both events stay.
_INSERT_CASE = """
insert or replace into cases (
    run, name, seq, tier, outcome, elapsed_s, calls, seed, message, line, output, mismatched, elements, nonfinite,
    max_absolute_error, max_relative_error, max_ulp_error, worst_index, worst_expected, worst_got
) values (
    :run, :name, :seq, :tier, :outcome, :elapsed_s, :calls, :seed, :message, :line, :output, :mismatched, :elements,
    :nonfinite, :max_absolute_error, :max_relative_error, :max_ulp_error, :worst_index, :worst_expected, :worst_got
)"""
_NO_OUTPUT: Values = dict.fromkeys(
    (
        "output",
        "mismatched",
        "elements",
        "nonfinite",
        "max_absolute_error",
        "max_relative_error",
        "max_ulp_error",
        "worst_index",
        "worst_expected",
        "worst_got",
    )
)
_COUNT_PASSED = """
update runs set
    passed = (select count(*) from cases where run = :run and outcome = 'pass'),
    total = :total
where id = :run"""
_INSERT_FINDING = """
insert into findings (run, seq, check_name, severity, message, line, case_name)
values (:run, :seq, :check_name, :severity, :message, :line, :case_name)"""
_INSERT_KERNEL = """
insert into kernels (
    run, seq, name, target, outcome, message, line, elapsed_s, num_warps, num_stages, registers, spill_bytes,
    shared_bytes
) values (
    :run, :seq, :name, :target, :outcome, :message, :line, :elapsed_s, :num_warps, :num_stages, :registers,
    :spill_bytes, :shared_bytes
)"""
_INSERT_ARTEFACT = """
insert or replace into artefacts (run, seq, kind, digest, bytes) values (:run, :seq, :kind, :digest, :bytes)"""

_INSERT_PROOF = """
insert or replace into proofs (run, seq, digest, bytes, cases) values (:run, :seq, :digest, :bytes, :cases)"""


def statements(event: Event, *, run_id: int, seq: int) -> Iterator[Statement]:
    """All statements for event number `seq` of the run, the event first."""
    place: Values = {"run": run_id, "seq": seq}
    kind = type(event).__name__
    yield _INSERT_EVENT, {**place, "at_s": event.at_s, "kind": kind, "body": to_json(event)}
    yield _MOVE_CLOCK, {"run": run_id, "at_s": event.at_s}
    match event:
        case RunStarted():
            yield (
                _START_RUN,
                {
                    "run": run_id,
                    "device": event.device,
                    "device_name": event.device_name,
                    "target": event.target,
                    "total": event.cases,
                    "policy": event.policy,
                },
            )
        case StageFinished():
            yield _INSERT_TIMING, {**place, "name": f"{event.stage}_s", "case_name": None, "value": event.elapsed_s}
        case CaseFinished():
            yield _INSERT_CASE, {**place, **_case_values(event.result)}
        case FindingRaised():
            yield _INSERT_FINDING, {**place, **_finding_values(event.finding)}
        case KernelCompiled() | KernelPorted():
            yield from _kernel_statements(event.kernel, place=place)
        case ProofStored():
            stored = event.artefact
            values = {**place, "digest": stored.digest, "bytes": stored.bytes, "cases": event.cases}
            yield _INSERT_PROOF, values
        case SuiteRuleApplied():
            yield _APPLY_RULE, {"run": run_id, "calls": event.calls, "passed": event.passed}
        case CaseBenchmarked():
            yield from benchmark_statements(event.benchmark, place=place)
        case BenchmarkSummarised():
            yield from summary_statements(event.summaries, run_id=run_id)
        case RunFinished():
            verdict = event.verdict
            yield (
                _FINISH_RUN,
                {
                    "run": run_id,
                    "outcome": verdict.outcome,
                    "sentence": verdict.sentence,
                    "passed": verdict.passed,
                    "total": verdict.total,
                    "flagged": verdict.flagged,
                    "proven": verdict.proven,
                },
            )
            yield KEEP_BASELINES, {"run": run_id}


def tally(events: Sequence[Event], *, run_id: int) -> Iterator[Statement]:
    """Statements for these events together: the number of passed cases, counted once however many there are."""
    totals = [event.total for event in events if isinstance(event, CaseFinished)]
    finished = any(isinstance(event, RunFinished) for event in events)
    if totals and not finished:
        yield _COUNT_PASSED, {"run": run_id, "total": totals[-1]}


def _case_values(result: CaseResult) -> Values:
    return {
        "name": result.case,
        "tier": result.tier,
        "outcome": result.outcome,
        "elapsed_s": result.elapsed_s,
        "calls": result.calls,
        "seed": None if result.seed is None else str(result.seed),
        "message": result.message,
        "line": _line(result.location),
        **_output_values(_first_wrong_output(result)),
    }


def _output_values(output: OutputReport | None) -> Values:
    if output is None:
        return _NO_OUTPUT
    worst = output.worst
    return {
        "output": output.name,
        "mismatched": output.mismatched,
        "elements": output.total,
        "nonfinite": output.nonfinite_got,
        "max_absolute_error": output.max_absolute_error,
        "max_relative_error": output.max_relative_error,
        "max_ulp_error": output.max_ulp_error,
        "worst_index": None if worst is None else ",".join(map(str, worst.index)),
        "worst_expected": None if worst is None else worst.expected,
        "worst_got": None if worst is None else worst.got,
    }


def _first_wrong_output(result: CaseResult) -> OutputReport | None:
    """The first output that is wrong, or the first of all; None when the case got to no output."""
    wrong = (output for output in result.outputs if output.outcome is not Outcome.PASS)
    return next(wrong, result.outputs[0] if result.outputs else None)


def _finding_values(finding: Finding) -> Values:
    return {
        "check_name": finding.check,
        "severity": finding.severity,
        "message": finding.message,
        "line": _line(finding.location),
        "case_name": finding.case,
    }


def _kernel_statements(kernel: CompiledKernel, *, place: Values) -> Iterator[Statement]:
    yield (
        _INSERT_KERNEL,
        {
            **place,
            "name": kernel.launch.kernel,
            "target": kernel.target,
            "outcome": kernel.outcome,
            "message": kernel.message,
            "line": _line(kernel.location),
            "elapsed_s": kernel.elapsed_s,
            "num_warps": kernel.launch.num_warps,
            "num_stages": kernel.launch.num_stages,
            "registers": kernel.registers,
            "spill_bytes": kernel.spill_bytes,
            "shared_bytes": kernel.shared_bytes,
        },
    )
    for artefact in kernel.artefacts:
        yield (
            _INSERT_ARTEFACT,
            {**place, "kind": artefact.kind, "digest": artefact.digest, "bytes": artefact.bytes},
        )


def _line(location: Location | None) -> int | None:
    return location.line if location else None
