"""The static stage of a run: report the findings in the text, and refuse it if the policy requires that.

Runs nothing of the candidate, and decides nothing: the policy determines the effect of a broken rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.model import Finding, Plan, Severity, Stage
from engine.model.layers import Coverage, Fact, Layer, LayerReport
from engine.model.native import Extension
from engine.run.event_stream import EventEmitter
from engine.run.static_reading import Parsed, read_parsed
from engine.static.checks import checks
from engine.verdict.decide import Stop, refusal, uncheckable


async def report_and_decide(
    parsed: Parsed,
    *,
    plan: Plan,
    emitter: EventEmitter,
    on_native: Callable[[Sequence[Extension]], None] = lambda _: None,
) -> Stop | None:
    """Report every finding, and pass native code to `on_native`; None, or the reason why the file is not run."""
    began = emitter.begin(Stage.STATIC)
    read = await read_parsed(parsed)
    found, broken = read.findings, read.breaches
    for finding in (*found, *(breach.finding for breach in broken if breach.finding not in found)):
        emitter.find(finding)
    emitter.report(_report(found, failed=read.failed))
    stop = uncheckable(plan.policy, read.failed) or refusal(plan.policy, broken)
    if stop is None:
        emitter.end(Stage.STATIC, began)
    else:
        emitter.end(Stage.STATIC, began, stop.outcome, stop.message, stop.location)
    if stop is None:
        on_native(read.extensions)
    return stop


def _report(found: Sequence[Finding], *, failed: str) -> LayerReport:
    """Number of checks and findings; a NOTE names what could not be checked, `failed` a check that raised an error."""
    unread = [finding for finding in found if finding.severity is Severity.NOTE]
    hints = len(found) - len(unread)
    facts = (Fact(name="checks", value=f"{len(checks())}"), Fact(name="suspicious patterns", value=f"{hints}"))
    why = "; ".join(f"{finding.check}: {finding.message}" for finding in unread)
    coverage = Coverage.NOT_CHECKED if why else Coverage.CHECKED
    if failed:
        coverage, why = Coverage.ENGINE_FAILED, why or failed
    return LayerReport(layer=Layer.STATIC, by="checks", coverage=coverage, why=why, facts=facts)
