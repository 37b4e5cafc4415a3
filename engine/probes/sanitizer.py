"""Findings of NVIDIA's compute-sanitizer in one call of the smallest case: memcheck, racecheck, initcheck; on demand.

The call is made in a separate process, on inputs in separate allocations.  Reports come from a process that runs the
candidate: they are evidence against the candidate, and no report clears it; so nothing here changes a verdict.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterator

from engine import protocol
from engine.devices.hardware.targets import NVIDIA_BACKEND, target_named
from engine.errors import ChildDiedError, EngineError
from engine.model import Finding, Severity
from engine.model.layers import Coverage, Fact, Layer, LayerReport
from engine.probes import Observation
from engine.probes.lab.case_session import Lab, PassedCase
from engine.processes.judge_requests import prepared_case
from engine.verdict.sanitizer_report import errors_of, is_complete

LAYER = Layer.BEHAVIOUR
CATCHES = ()
ON_DEMAND = True

CHECK = "sanitizer"
_TOOLS = ("memcheck", "racecheck", "initcheck")
_LIMIT_S = 600.0  # of CPU time for all tools: each starts its own Python and driver, and slows kernels about 100 times
_MOST_BYTES = 60_000  # bytes of one report
_MOST_SHOWN = 10  # findings for each tool
_INSTALL = "compute-sanitizer was not found; install the CUDA toolkit, or set CUDA_HOME"


async def probe(lab: Lab) -> AsyncIterator[Observation]:
    """The errors that the tools report, and whether each of them finished."""
    reason = _missing(lab)
    if reason:
        yield LayerReport(layer=LAYER, by=CHECK, coverage=Coverage.NOT_AVAILABLE, why=reason)
        return
    smallest = min((one for one in lab.passed if one.elements), key=lambda one: lab.size_of(one.case), default=None)
    if smallest is None:
        yield LayerReport(layer=LAYER, by=CHECK, coverage=Coverage.NOT_CHECKED, why="no case has an output element")
        return
    reply = await _sanitized(lab, smallest)
    if not isinstance(reply, protocol.Sanitized):
        answered = f"the process of compute-sanitizer answered with {type(reply).__name__}"
        why = reply.message if isinstance(reply, protocol.Failed) else answered
        yield LayerReport(layer=LAYER, by=CHECK, coverage=Coverage.ENGINE_FAILED, why=why)
        return
    for run in reply.runs:
        for finding in _findings(run, smallest.case.name):
            yield finding
    yield _report(reply)


def _missing(lab: Lab) -> str:
    """Reason why the sanitizer cannot be run here; "" if it can."""
    target = lab.device.target
    if target is None or target_named(target).backend != NVIDIA_BACKEND:
        return f"compute-sanitizer checks kernels on NVIDIA GPUs only, and this is {lab.device.platform}"
    return "" if lab.process_pool.sanitizer else _INSTALL


async def _sanitized(lab: Lab, one: PassedCase) -> protocol.AnyReply:
    """Report of a separate process on a call of this case.

    Raises:
        EngineError: it could not be started, crashed, or timed out.
    """
    process = await lab.process_pool.start_sanitizer()
    arena = process.workspace.shared / f"{secrets.token_hex(8)}.in"
    try:
        prepare = protocol.Prepare(
            id=protocol.new_id(), problem=lab.problem.id, case=one.case.name, poison=0, arena_path=str(arena),
            place=lab.place, draw_seed=lab.draws.seed_of(one.case.name), expects=False,
        )  # fmt: skip
        async with prepared_case(lab.process_pool, prepare) as prepared:
            call = protocol.Call(
                id=protocol.new_id(), case=one.case.name, arguments=prepared.arguments, arena=prepared.arena,
                outputs=str(arena.with_suffix(".out")), max_output_bytes=lab.limits.output_bytes, poison=0,
            )  # fmt: skip
            command = protocol.Sanitize(
                id=protocol.new_id(), sanitizer=lab.process_pool.sanitizer, tools=_TOOLS,
                load=lab.session.load_command(process), call=call, most_bytes=_MOST_BYTES,
                writable=(str(process.workspace.folder), str(process.workspace.shared)),
            )  # fmt: skip
            with lab.profile.span("sanitize"):
                return await process.child.ask(command, deadline_s=_LIMIT_S)
    except ChildDiedError as error:
        raise EngineError(f"the process of compute-sanitizer: {error}") from error
    finally:
        await process.end()


def _findings(run: protocol.SanitizedRun, case: str) -> Iterator[Finding]:
    """The first errors of one tool, and how many more there are."""
    errors = errors_of(run.report)
    for error in errors[:_MOST_SHOWN]:
        message = f"{run.tool}: {error.sentence}"
        yield Finding(check=CHECK, severity=Severity.HINT, message=message, case=case)
    if len(errors) > _MOST_SHOWN:
        message = f"{run.tool}: {len(errors) - _MOST_SHOWN} more kinds of errors"
        yield Finding(check=CHECK, severity=Severity.HINT, message=message, case=case)


def _report(reply: protocol.Sanitized) -> LayerReport:
    """Which tools finished, with their numbers of errors; not checked if one did not."""
    facts = tuple(
        Fact(name=run.tool, value=f"{sum(error.count for error in errors_of(run.report))} errors") for run in reply.runs
    )
    for run in reply.runs:
        if run.left_out_bytes or not is_complete(run.report):
            said = (run.trouble or run.report).strip().splitlines()
            cut = f"its report is longer than {_MOST_BYTES:,} bytes" if run.left_out_bytes else ""
            why = f"{run.tool} did not finish: {cut or (said[-1] if said else f'exit status {run.status}')}"
            return LayerReport(layer=LAYER, by=CHECK, coverage=Coverage.NOT_CHECKED, why=why, facts=facts)
    return LayerReport(layer=LAYER, by=CHECK, coverage=Coverage.CHECKED, facts=facts)
