"""The static stage of a run: report the findings in the text, and refuse it if the policy requires that.

Runs nothing of the candidate, and decides nothing: the policy determines the effect of a broken rule.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from engine.model import Finding, Plan, Severity, Stage
from engine.model.layers import Coverage, Fact, Layer, LayerReport
from engine.model.native import Extension
from engine.run.event_stream import EventEmitter
from engine.run.static_reading import Parsed, read_parsed
from engine.static.checks import REFUTED_AT_LINES, REFUTED_BY_PROOF, checks, grouped
from engine.verdict.decide import Stop, refusal, uncheckable


class StaticFindings:
    """Reports the findings in the text of a run; those that a proof may refute, and the layer with them, later."""

    def __init__(self, emitter: EventEmitter) -> None:
        self._emitter = emitter
        self._reported: tuple[Finding, ...] = ()
        self._held: tuple[Finding, ...] | None = None  # None when all is reported
        self._failed = ""

    def report(self, found: Sequence[Finding], *, failed: str, holds: bool) -> None:
        """Report findings, and hold back those that a proof may refute; `failed` is a check that raised an error."""
        self._held = tuple(one for one in found if holds and one.check in REFUTED_BY_PROOF)
        self._reported = tuple(one for one in found if one not in self._held)
        self._failed = failed
        for finding in self._reported:
            self._emitter.find(finding)
        if not self._held:
            self.release()

    def release(self, proven_lines: Collection[int] | None = None) -> None:
        """Report what was held back, without what a proof refutes; does nothing a second time.

        `proven_lines` are those at which torch computed in calls that are all proven, None without such a proof.
        """
        if self._held is None:
            return
        found = tuple(grouped(one for one in self._held if not _is_refuted(one, proven_lines)))
        self._held = None
        for finding in found:
            self._emitter.find(finding)
        self._emitter.report(_report((*self._reported, *found), failed=self._failed))


def _is_refuted(finding: Finding, proven_lines: Collection[int] | None) -> bool:
    if proven_lines is None:
        return False
    if finding.check not in REFUTED_AT_LINES:
        return True
    return finding.location is not None and finding.location.line in proven_lines


async def report_and_decide(
    parsed: Parsed,
    *,
    plan: Plan,
    emitter: EventEmitter,
    findings: StaticFindings,
    on_native: Callable[[Sequence[Extension]], None] = lambda _: None,
) -> Stop | None:
    """Report the findings, and pass native code to `on_native`; None, or the reason why the file is not run."""
    began = emitter.begin(Stage.STATIC)
    read = await read_parsed(parsed)
    found, broken = read.findings, read.breaches
    stop = uncheckable(plan.policy, read.failed) or refusal(plan.policy, broken)
    for breach in broken:
        if breach.finding not in found:
            emitter.find(breach.finding)
    findings.report(found, failed=read.failed, holds=stop is None)
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
