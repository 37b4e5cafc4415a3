"""Requests for the runs of generated candidates and batches."""

from __future__ import annotations

import asyncio
import contextlib

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


async def test_cancelled_verification_leaves_no_unread_error() -> None:
    """The run ends after its caller, and asyncio would print its error on the terminal."""
    listeners: list[RunListener] = []
    began = asyncio.Event()

    def submit(request: RunRequest, audience: RunListener) -> Ticket:
        listeners.append(audience)
        began.set()
        return Ticket(request=request, audience=audience, slot=None, place=0)

    conditions = RunConditions(device="cuda", target="sm_90", benchmark=lambda problem: None)
    verifier = QueuedVerifier(submit, conditions, trouble=lambda message: None, drop=lambda ticket: None)
    verifying = asyncio.create_task(verifier.verify(find("aten::silu"), b"", name="model"))
    await began.wait()
    verifying.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await verifying
    assert listeners[0].finished.cancelled()
