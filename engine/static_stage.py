"""The static stage of a run: read the text, tell what it shows, and refuse it where the policy asks for that.

Runs nothing of the candidate, and decides nothing: what a broken rule does is the policy's business.  It reads in a
thread, for a text of 2,000 lines takes longer than whoever shares the event loop may wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from engine.checks import checks, read_statically
from engine.layers import Coverage, Fact, Layer, LayerReport
from engine.model import Finding, Plan, Severity, Stage
from engine.narration import Narrator
from engine.policy import WEIGHTS
from engine.source import Source, sibling_imports
from engine.strict import breaches, unread_import
from engine.verdict import Breach, Stop, refusal


async def read_and_refuse(source: Source, *, folder: Path | None, plan: Plan, told: Narrator) -> Stop | None:
    """Tell every finding; why the file is not run, or None where it is.  Its own imports are looked up in `folder`."""
    began = told.begin(Stage.STATIC)
    found, broken = await asyncio.to_thread(_read, source, folder, plan)
    for finding in (*found, *(breach.finding for breach in broken if breach.finding not in found)):
        told.find(finding)
    told.report(_report(found))
    stop = refusal(plan.policy, broken)
    if stop is None:
        told.end(Stage.STATIC, began)
    else:
        told.end(Stage.STATIC, began, stop.outcome, stop.message, stop.location)
    return stop


def _read(source: Source, folder: Path | None, plan: Plan) -> tuple[tuple[Finding, ...], tuple[Breach, ...]]:
    """What the checks find, and where the policy asks for it the rules that are broken."""
    entry = plan.problem.entry
    found = tuple(read_statically(source.tree, source.text, entry))
    if not WEIGHTS[plan.policy].refuses:
        return found, ()
    unread = sibling_imports(source.tree, folder) if folder is not None else ()
    rules_broken = breaches(source.tree, source.text, entry, found, signature=plan.problem.signature)
    return found, (*rules_broken, *map(unread_import, unread))


def _report(found: Sequence[Finding]) -> LayerReport:
    """How much was read; a NOTE of this stage says what could not be."""
    unread = [finding for finding in found if finding.severity is Severity.NOTE]
    hints = len(found) - len(unread)
    facts = (Fact(name="checks", value=f"{len(checks())}"), Fact(name="patterns of tricks", value=f"{hints}"))
    why = "; ".join(f"{finding.check}: {finding.message}" for finding in unread)
    coverage = Coverage.NOT_CHECKED if why else Coverage.CHECKED
    return LayerReport(layer=Layer.STATIC, by="checks", coverage=coverage, why=why, facts=facts)
