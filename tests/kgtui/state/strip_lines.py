"""The context of a strip and the record of a run, as the tests of states use them."""

from __future__ import annotations

from engine.model import (
    Candidate,
)
from engine.model.events import (
    RunStarted,
)
from engine.reports.reducer import reduce_all
from engine.reports.run_record import NO_RUN, RunRecord
from kgtui.state.workbench.status import StripContext

CONTEXT = StripContext(operator="aten::softmax", filename="softmax.py", device="cpu", target="sm_90", number=42)


def view_of(events: list[object]) -> RunRecord:
    return reduce_all(NO_RUN, events)


def started(candidate: Candidate) -> RunStarted:
    return RunStarted(
        at_s=0.0,
        problem="aten::softmax",
        digest=candidate.digest,
        device="cpu",
        device_name="Triton interpreter",
        target="sm_90",
        cases=8,
    )
