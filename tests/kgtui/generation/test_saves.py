"""Saves of an agent that works: verified as they come, the newest instead of the one before."""

from __future__ import annotations

import asyncio

from kgtui.generation.events import CandidateSaved, RunAdvanced, SaveVerified, Spot
from kgtui.generation.saves import SaveVerifier
from tests.kgtui.fakes import softmax_problem
from tests.kgtui.generation.fakes import finished

SPOT = Spot(problem="aten::softmax", model="agent:fake", place="sample-1")


class GatedVerifier:
    """Each run waits for the event of its source, then has its verdict."""

    def __init__(self) -> None:
        self.gates = {b"first": asyncio.Event(), b"wrong": asyncio.Event()}

    async def verify(self, problem, source, *, name, watch):
        watch(1, ())
        await self.gates[source].wait()
        return finished(problem.name, source.decode(), number=1)


def unstored(generation, run):
    """No operation: the test is about events."""


async def test_newest_save_replaces_running_one():
    events, verifier, verified = [], GatedVerifier(), asyncio.Event()

    def emit(event):
        events.append(event)
        if isinstance(event, SaveVerified):
            verified.set()

    saves = SaveVerifier(softmax_problem(), SPOT, verifier=verifier, add_save=unstored, emit=emit)
    saves(7, b"first")
    saves(7, b"wrong")
    for gate in verifier.gates.values():
        gate.set()
    await verified.wait()
    await saves.aclose()
    assert [event.save for event in events if isinstance(event, CandidateSaved)] == [1, 2]
    assert [(event.save, event.outcome.value) for event in events if isinstance(event, SaveVerified)] == [
        (2, "wrong_value")
    ]


async def test_running_save_ends_with_the_answer():
    events = []
    saves = SaveVerifier(softmax_problem(), SPOT, verifier=GatedVerifier(), add_save=unstored, emit=events.append)
    saves(7, b"first")
    await saves.aclose()
    assert not any(isinstance(event, SaveVerified) for event in events)


async def test_cancelled_run_of_a_save_is_stored():
    stored, began = [], asyncio.Event()

    def emit(event):
        if isinstance(event, RunAdvanced):
            began.set()

    def add_save(generation, run):
        stored.append((generation, run))

    saves = SaveVerifier(softmax_problem(), SPOT, verifier=GatedVerifier(), add_save=add_save, emit=emit)
    saves(7, b"first")
    await began.wait()
    await saves.aclose()
    assert stored == [(7, 1)]
