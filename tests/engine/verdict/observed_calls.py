"""A problem with results of its cases, and what a worker may have observed of calls in them."""

from __future__ import annotations

from engine import protocol
from engine.model import (
    Case,
    CaseResult,
    Cost,
    DType,
    Finding,
    Outcome,
    OutputReport,
    ProblemDefinition,
    Severity,
    Tier,
    Tolerance,
)
from engine.verdict.observed_effects import findings

COMPUTE, LIGHT = protocol.OperatorKind.COMPUTE, protocol.OperatorKind.LIGHT
ELEMENTS = {"small": 4, "large": 1000, "empty": 0}
DEFINITION = ProblemDefinition(
    name="toy::twice",
    entry="f",
    signature="f(x: Tensor) -> Tensor",
    summary="",
    category="toy",
    cases=tuple(Case(name=name, dtype=DType.FLOAT16, tier=Tier.FULL, params={}) for name in ELEMENTS),
    make_inputs=lambda case, rng: (),
    reference=lambda x: x,
    eager=lambda x: x,
    tolerance=lambda case: Tolerance(relative=0.0, absolute=0.0),
    cost=lambda case: Cost(flops=1, bytes_read=2 * ELEMENTS[case.name], bytes_written=2 * ELEMENTS[case.name]),
)
PROBLEM = DEFINITION.problem("toy_problems")
RESULTS = tuple(
    CaseResult(
        case=name,
        tier=Tier.FULL,
        outcome=Outcome.PASS,
        elapsed_s=0.1,
        calls=2,
        seed=1,
        outputs=(OutputReport(name="return", outcome=Outcome.PASS, total=elements),),
    )
    for name, elements in ELEMENTS.items()
)


def found(
    *operators: protocol.OperatorSeen,
    actions: tuple[protocol.ActionSeen, ...] = (),
    changes: tuple[protocol.ChangeSeen, ...] = (),
    proven: frozenset[str] = frozenset(),
) -> list[Finding]:
    observed = protocol.Observed(id="i", operators=operators, actions=actions, changes=changes)
    return list(findings(PROBLEM, RESULTS, observed, proven=proven))


def used(
    name: str = "aten::_softmax",
    *,
    kind: protocol.OperatorKind = COMPUTE,
    case: str = "large",
    reads: bool = True,
    taken: int = 1000,
    made: int = 1000,
    uses: int = 1,
) -> protocol.OperatorSeen:
    return protocol.OperatorSeen(
        name=name,
        kind=kind,
        case=case,
        reads_inputs=reads,
        uses=uses,
        largest_in=taken // uses,
        largest_out=made // uses,
        total_in=taken,
        total_out=made,
    )


def severities(reported: list[Finding]) -> list[Severity]:
    return [finding.severity for finding in reported]
