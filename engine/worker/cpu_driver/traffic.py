"""The memory traffic of a launch as counted by the machine, with lines of the candidate's file."""

from __future__ import annotations

from engine.machine.reports import line_in
from engine.machine.results import AccessFacts, Execution
from engine.model import AccessTraffic, Traffic, TrafficKind
from engine.protocol.launches import MOST_ACCESSES, MOST_OPERATIONS


def traffic_of(execution: Execution, filename: str) -> Traffic:
    """Work of a launch; lines are those of `filename`.  Accesses beyond a limit are left out."""
    operations = sorted(execution.elements_by_operation.items(), key=lambda item: (-item[1], item[0]))
    return Traffic(
        programs=execution.programs,
        accesses=tuple(_access(facts, filename) for facts in execution.accesses[:MOST_ACCESSES]),
        operations=dict(operations[:MOST_OPERATIONS]),
    )


def _access(facts: AccessFacts, filename: str) -> AccessTraffic:
    return AccessTraffic(
        kind=TrafficKind(facts.kind.value),
        line=line_in(facts.location, filename),
        tensors=facts.storages,
        executions=facts.executions,
        requested_bytes=facts.requested_bytes,
        distinct_bytes=facts.distinct_bytes,
        sectors=facts.sectors,
    )
