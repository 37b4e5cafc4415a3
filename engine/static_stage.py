"""The static stage of a run: read the text, tell what it shows, and refuse it where the policy asks for that.

Runs nothing of the candidate, and decides nothing: what a broken rule does is the policy's business.
"""

from __future__ import annotations

from engine.checks import read_statically
from engine.model import Plan, Stage
from engine.narration import Narrator
from engine.policy import WEIGHTS
from engine.source import Source
from engine.strict import breaches
from engine.verdict import Stop, refusal


def read_and_refuse(source: Source, *, plan: Plan, told: Narrator) -> Stop | None:
    """Tell every finding; why the file is not run, or None where it is."""
    began = told.begin(Stage.STATIC)
    entry = plan.problem.entry
    found = tuple(read_statically(source.tree, source.text, entry))
    broken = breaches(source.tree, source.text, entry, found) if WEIGHTS[plan.policy].refuses else ()
    for finding in (*found, *(breach.finding for breach in broken if breach.finding not in found)):
        told.find(finding)
    stop = refusal(plan.policy, broken)
    if stop is None:
        told.end(Stage.STATIC, began)
    else:
        told.end(Stage.STATIC, began, stop.outcome, stop.message, stop.location)
    return stop
