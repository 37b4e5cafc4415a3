"""A run as text: plain lines for people and scripts, and one JSON document.

Plain lines are made event by event, the document from the record of the run.  They print nothing, colour nothing and
decide nothing: the verdict is the one in the events.

The JSON document is "kgtui.check/1"; `kgtui schema check` describes its keys.  Names and meanings stay as they are: an
addition is a new name, a change of meaning a new number.  What is not finite or was not measured is null.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import msgspec

from engine.devices.hardware.occupancy import occupancy
from engine.model import (
    Finding,
    Location,
    Outcome,
    Policy,
    Stage,
)
from engine.model.benchmark import Holder, Summary
from engine.model.counts import counted
from engine.model.events import (
    CaseBenchmarked,
    CaseFinished,
    CaseProven,
    DeviceAwaited,
    Event,
    FindingRaised,
    KernelCompiled,
    KernelPorted,
    LayerChecked,
    LogWritten,
    RunFinished,
    RunStarted,
    StageFinished,
    StageStarted,
    TierFinished,
)
from engine.model.layers import Coverage
from engine.reports.bench import case_text, without_wrong_times
from engine.reports.output import output_lines
from engine.reports.plain_lines import FINDING, KERNEL, PROOF, JoinedLines, PlainLine
from engine.reports.printable import printable
from engine.reports.reducer import record_of
from engine.reports.run_record import RunRecord, StageRecord
from engine.reports.table import bench_lines
from engine.reports.targets import plain_target
from engine.reports.verdict_words import word_of

JSON_SCHEMA = "kgtui.check/1"

STARTED = "started"
BUSY = "busy"
TIMING = "timing"
FAILED = "failed"
UNCHECKED = "unchecked"
UNPROVEN = "unproven"

_KEPT_WIDTH = 80
_LINE_NUMBER = re.compile(r"(?<=\.py:)\d+|(?<=\bline )\d+")

Plain: TypeAlias = dict[str, Any]  # Any: JSON values of every shape


LOG = "log"


def as_plain(events: Sequence[Event], *, file: str, number: int | None = None) -> str:
    """Every state change of a run, a line each, and below them the table of timed cases."""
    joined = JoinedLines()
    every = (line for event in events for line in plain_lines(event, file=file, number=number))
    lines = [str(one) for line in every for one in joined.add(line)] + [str(one) for one in joined.end()]
    benchmarks = record_of(events).benchmark_report
    if benchmarks.cases:
        lines += ["", *map(printable, bench_lines(benchmarks, width=_KEPT_WIDTH))]
    return "".join(f"{line}\n" for line in lines)


def plain_lines(event: Event, *, file: str, number: int | None = None) -> Iterator[PlainLine]:
    """Plain lines of one event; none for an event that another one repeats in full.

    The labels are run, the names of the stages, case, proof, tier, timing, finding, layer, kernel, device, log and
    verdict.  The states are started, the outcomes, failed, unproven, flagged, busy, unchecked, the severities of
    findings and, for a log, the stream.  Control characters in text that a candidate may have written are escaped for
    terminals.
    """
    match event:
        case RunStarted():
            text = f"{event.problem} {file}{numbered(number)} on {event.device} ({event.device_name})"
            target = f", compiled for {event.target}" if event.target else ", not compiled"
            policy = f", {event.policy} policy" if event.policy is not Policy.DEFAULT else ""
            planned = counted(event.cases, "case")
            yield PlainLine(label="run", state=STARTED, text=printable(f"{text}, {planned}{target}{policy}"))
        case StageStarted():
            has_cases = event.stage in (Stage.VERIFY, Stage.BENCHMARK)
            text = counted(event.total, "case") if has_cases and event.total is not None else ""
            yield PlainLine(label=event.stage, state=STARTED, text=text)
        case StageFinished():
            text = f"{event.elapsed_s:.3f} s{_explained(event.message, event.location, file=file)}"
            yield PlainLine(label=event.stage, state=event.outcome, text=text)
        case CaseFinished():
            yield _case_line(event, file=file)
        case CaseProven(proof=proof) if not proof.proven:
            yield PlainLine(
                label=PROOF,
                state=UNPROVEN,
                text=printable(f"{event.number}/{event.total} {proof.case}: {proof.reason}"),
                message=proof.reason,
                of=printable(proof.case),
            )
        case TierFinished():
            state = Outcome.PASS if event.passed == event.total else FAILED
            text = f"{event.tier}: {event.passed}/{event.total} cases passed, after {event.at_s:.2f} s"
            yield PlainLine(label="tier", state=state, text=text)
        case FindingRaised():
            yield _finding_line(event.finding, file=file)
        case LayerChecked(report=report) if report.coverage in (Coverage.NOT_CHECKED, Coverage.ENGINE_FAILED):
            text = printable(f"{report.layer} ({report.by}) could not be checked: {report.why}")
            yield PlainLine(label="layer", state=UNCHECKED, text=text)
        case KernelCompiled() | KernelPorted():
            yield _kernel_line(event, file=file)
        case DeviceAwaited():
            yield PlainLine(label="device", state=BUSY, text=printable(_waiting(event.holder)))
        case CaseBenchmarked():
            text = f"{event.number}/{event.total} {case_text(without_wrong_times(event.benchmark))}"
            yield PlainLine(label=TIMING, state=event.benchmark.outcome, text=printable(text))
        case LogWritten():
            for line in event.text.splitlines():
                yield PlainLine(label=LOG, state=event.stream, text=printable(line))
        case RunFinished():
            verdict = event.verdict
            text = printable(f"{located(verdict.sentence, verdict.location, file=file)}, in {event.at_s:.2f} s")
            yield PlainLine(label="verdict", state=word_of(verdict), text=text, continued=tuple(_seed_lines(event)))


def as_json(run: RunRecord) -> str:
    """The document "kgtui.check/1".

    Raises:
        ValueError: the run has not ended.
    """
    verdict, benchmarks = run.final, run.benchmark_report
    document: Plain = {
        "schema": JSON_SCHEMA,
        "run": run.number,
        "problem": run.problem,
        "file": run.file,
        "digest": run.digest,
        "device": {"platform": run.device, "name": run.device_name},
        "target": run.target,
        "policy": run.policy,
        "draw_seed": None if run.draw_seed is None else str(run.draw_seed),
        "seed_given": run.seed_given,
        "elapsed_s": run.finished_s,
        "verdict": msgspec.to_builtins(verdict),
        "stages": [_plain_stage(stage) for stage in run.finished_stages],
        "cases": [{**msgspec.to_builtins(case), "seed": str(case.seed)} for case in run.cases],
        "proof": plain_proofs(run),
        "findings": msgspec.to_builtins(run.findings),
        "layers": msgspec.to_builtins(run.layers),
        "kernels": [
            {**msgspec.to_builtins(kernel), "occupancy": msgspec.to_builtins(occupancy(kernel))}
            for kernel in run.kernels
        ],
        "targets": [plain_target(report) for report in run.ports.reports],
        "costs": [{"case": name, **msgspec.to_builtins(cost)} for name, cost in run.costs.items()],
        "benchmarks": msgspec.to_builtins(benchmarks.cases),
        "summaries": [plain_summary(summary) for summary in benchmarks.summaries],
        "profile": msgspec.to_builtins(run.profile),
        "log": [{"stream": event.stream, "text": event.text} for event in run.log],
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def _seed_lines(event: RunFinished) -> Iterator[str]:
    """How to draw the same inputs again, for a run that did not pass, or is flagged."""
    is_accepted = event.verdict.outcome is Outcome.PASS and not event.verdict.flagged
    if event.draw_seed is not None and not is_accepted:
        yield f"to draw the same inputs again: kgtui check FILE --seed {event.draw_seed}"


def numbered(number: int | None) -> str:
    """A suffix with the number of a recorded run, " run #3"; "" without a number."""
    return f" run #{number}" if number is not None else ""


def plain_proofs(run: RunRecord) -> list[Plain]:
    """A row for each case whose proof was tried, as JSON-ready values."""
    return [
        {
            "case": proof.case,
            "proven": proof.proven,
            "reason": proof.reason,
            "moved_bytes": proof.moved_bytes,
            "constants": proof.constants,
        }
        for proof in run.proofs
    ]


def plain_summary(summary: Summary) -> Plain:
    """A summary as JSON-ready values; msgspec does not support its read-only mapping."""
    return {
        "baseline": summary.baseline,
        "speedup": msgspec.to_builtins(summary.speedup),
        "cases": summary.cases,
        "planned": summary.planned,
        "fast": dict(summary.fast),
    }


def _plain_stage(stage: StageRecord) -> Plain:
    return {
        "stage": stage.stage,
        "outcome": stage.outcome,
        "elapsed_s": stage.elapsed_s,
        "message": stage.message,
        "location": msgspec.to_builtins(stage.location),
    }


def located(message: str, location: Location | None, *, file: str) -> str:
    """A message after its location, if it has one, in the form of editors: file:line:column."""
    if location is None:
        return message
    column = f":{location.column}" if location.column is not None else ""
    return f"{file}:{location.line}{column}: {message}"


def _explained(message: str, location: Location | None, *, file: str) -> str:
    return printable(f" {located(message, location, file=file)}") if message else ""


def _waiting(holder: Holder | None) -> str:
    """Current holder of the device, in words."""
    if holder is None:
        return "waiting for the device: an unknown process holds it"
    return f"waiting for the device: process {holder.pid} ({holder.command}) has held it since {holder.since}"


def _case_line(event: CaseFinished, *, file: str) -> PlainLine:
    result = event.result
    text = f"{event.number}/{event.total} {result.case} {result.elapsed_s:.3f} s"
    wrong = (output for output in result.outputs if output.outcome is not Outcome.PASS)
    return PlainLine(
        label="case",
        state=result.outcome,
        text=printable(text) + _explained(result.message, result.location, file=file),
        continued=tuple(printable(line) for output in wrong for line in output_lines(output)),
    )


def _finding_line(finding: Finding, *, file: str) -> PlainLine:
    case = f" ({finding.case})" if finding.case else ""
    text = f"{finding.check}{_explained(finding.message, finding.location, file=file)}{printable(case)}"
    name, _, rest = finding.message.partition(" ")  # a finding about a kernel begins with its name
    place = f" in line {finding.location.line}" if finding.location else case
    return PlainLine(
        label=FINDING,
        state=finding.severity,
        text=text,
        message=f"{finding.check} {_LINE_NUMBER.sub('', rest)}",
        of=printable(f"{name}{place}"),
    )


def _kernel_line(event: KernelCompiled | KernelPorted, *, file: str) -> PlainLine:
    kernel = event.kernel
    resources = {
        "registers": kernel.registers,
        "spilled bytes": kernel.spill_bytes,
        "shared bytes": kernel.shared_bytes,
    }
    amounts = [f"{value} {name}" for name, value in resources.items() if value is not None]
    text = f"{event.number}/{event.total} {kernel.launch.kernel} for {kernel.target} {kernel.elapsed_s:.3f} s"
    return PlainLine(
        label=KERNEL,
        state=kernel.outcome,
        text=printable(", ".join((text, *amounts))) + _explained(kernel.message, kernel.location, file=file),
        message=kernel.message,
        of=printable(kernel.launch.kernel),
    )
