"""Requests for the runs of generated candidates and batches."""

from __future__ import annotations

import pytest

from engine.model import BenchmarkPlan
from kgtui.generation.verifying import QueuedVerifier, RunConditions, RunListener
from kgtui.ports.requests import RunRequest
from kgtui.runner.run_queue import Ticket
from tests.operators import find


class SubmittedError(Exception):
    """A request came; it is not run."""


@pytest.mark.parametrize(
    ("benchmark", "one_worker"), [(None, True), (BenchmarkPlan(cases=()), False)], ids=["untimed", "timed"]
)
async def test_untimed_candidate_is_run_with_one_worker(benchmark: BenchmarkPlan | None, one_worker: bool) -> None:
    requests: list[RunRequest] = []

    def submit(request: RunRequest, audience: RunListener) -> Ticket:
        requests.append(request)
        raise SubmittedError

    conditions = RunConditions(device="cuda", target="sm_90", benchmark=lambda problem: benchmark)
    verifier = QueuedVerifier(submit, conditions, trouble=lambda message: None, drop=lambda ticket: None)
    with pytest.raises(SubmittedError):
        await verifier.verify(find("aten::silu"), b"", name="model")
    [request] = requests
    assert request.plan(()).one_worker is one_worker
