"""Foreign problems in a run: opens the reference before the candidate is loaded, and reports the suite's own rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine import protocol
from engine.model import Outcome, Plan, SuiteOrigin
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
    plan: Plan, process_pool: ProcessPool, emitter: EventEmitter, profile: Profile
) -> Plan | Stop:
    """Have the judge open the problem in a reference process; the plan without the cases that do not fit into memory.

    A Stop is why no candidate can be verified.

    Raises:
        EngineError: no process could be started, or the judge did not reply.
    """
    problem = plan.problem
    if problem.suite is None:
        return plan
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
    return _without(plan, reply.left_out)


def _without(plan: Plan, left_out: Sequence[str]) -> Plan | Stop:
    """The plan without these cases; a Stop if that leaves none to verify."""
    cases = tuple(case for case in plan.cases if case.name not in left_out)
    if plan.cases and not cases:
        message = f"{plan.problem.name}: this machine has too little memory for the selected cases; select smaller ones"
        return Stop(outcome=Outcome.UNSUPPORTED, message=message)
    benchmark = plan.benchmark
    if benchmark is not None:
        benchmark = replace(benchmark, cases=tuple(case for case in benchmark.cases if case.name not in left_out))
    return replace(plan, cases=cases, benchmark=benchmark)


def own_rule_note(suite: SuiteOrigin, count: OwnRuleCount) -> str:
    """Result of the suite's own rule for the compared calls, as a note."""
    return f"{suite.suite}'s own rule: {count.passed}/{count.calls} calls pass ({suite.own_rule})"
