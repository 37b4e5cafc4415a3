"""A run on a device executes its proven launches on the machine, too; tested on the CPU, treated as a device."""

from __future__ import annotations

import pytest

from engine.model import events
from engine.model.layers import Coverage, Fact
from engine.run.pipeline import Run
from engine.run.stages.probe_stage import ProbingStage
from tests.engine.end_to_end.conftest import COPY_KERNEL

pytestmark = pytest.mark.asyncio(loop_scope="session")


def memory_report(judged):
    """The report on memory accesses; None if there is none."""
    reports = [event.report for event in judged.events if isinstance(event, events.LayerChecked)]
    return next((report for report in reports if report.by == "memory"), None)


async def test_launches_of_verified_calls_on_the_cpu_are_not_executed_again(evaluate):
    assert memory_report(await evaluate(COPY_KERNEL)) is None


async def test_each_specialisation_of_a_run_on_a_device_is_executed(evaluate, monkeypatch):
    async def nothing(stage: ProbingStage) -> None:
        """Probes on the CPU would use the place of the check in the judge."""

    monkeypatch.setattr(ProbingStage, "run", nothing)
    monkeypatch.setattr(Run, "_launches_on_device", True)
    judged = await evaluate(COPY_KERNEL)
    report = memory_report(judged)
    count = sum(map(len, judged.launches.values()))
    assert count > 1
    facts = (
        Fact(name="cases on the machine", value=f"{count} cases"),
        Fact(name="specialisations", value=f"{count} of {count}"),
    )
    assert (report.coverage, report.facts, judged.findings) == (Coverage.CHECKED, facts, [])
