"""Foreign problems in a run: opens the reference before the candidate is loaded, and reports the suite's own rule."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine import protocol
from engine.model import Outcome, Problem, SuiteOrigin
from engine.processes.process_pool import ProcessPool
from engine.profile import Profile
from engine.run.event_stream import EventEmitter
from engine.verdict import outcome_mapping
from engine.verdict.decide import Stop

_CHECK = "reference"


@dataclass(kw_only=True)
class OwnRuleCount:
    """Number of compared calls of a foreign problem, and of those that pass its suite's own rule."""

    calls: int = 0
    passed: int = 0

    def count(self, passes: bool | None) -> None:
        """Count one call; calls of a problem without such a rule are not counted."""
        if passes is not None:
            self.calls += 1
            self.passed += passes


async def attach_reference(
    problem: Problem, process_pool: ProcessPool, emitter: EventEmitter, profile: Profile
) -> Stop | None:
    """Have the judge open the problem in a reference process; None, or why no candidate can be verified.

    Raises:
        EngineError: no process could be started, or the judge did not reply.
    """
    if problem.suite is None:
        return None
    if problem.suite.refusal:
        return Stop(outcome=Outcome.UNSUPPORTED, message=f"{problem.name} cannot be run: {problem.suite.refusal}")
    with profile.span("reference"):
        reply = await process_pool.references.attach(problem.id)
    if not isinstance(reply, protocol.ReferenceAttached):
        if isinstance(reply, protocol.Failed) and reply.kind is protocol.FailureKind.UNSUPPORTED:
            return Stop(outcome=Outcome.UNSUPPORTED, message=reply.message)
        stop = outcome_mapping.of_trusted(reply, "while the reference was opened")
        return replace(stop, message="; ".join((stop.message, *problem.suite.changes)))
    for note in (*problem.suite.changes, *problem.suite.notes, *reply.notes):
        emitter.note(_CHECK, note)
    return None


def own_rule_note(suite: SuiteOrigin, count: OwnRuleCount) -> str:
    """Result of the suite's own rule for the compared calls, as a note."""
    return f"{suite.suite}'s own rule: {count.passed}/{count.calls} calls pass ({suite.own_rule})"
