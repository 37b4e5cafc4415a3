"""A proof of a foreign task is replayed only where its reference runs."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from engine import protocol
from engine.errors import UnsupportedError
from engine.model import Limits
from engine.run.proving.proof_file_replay import replay_proof_file
from tests.engine.replay.proofs import proof


class References:
    """Attaches nothing and remembers the problems that it was asked for."""

    def __init__(self, reply):
        self.reply = reply
        self.asked = []

    async def attach(self, problem):
        self.asked.append(problem)
        return self.reply


def foreign(references):
    """A problem of a suite, and processes of which only references are there."""
    return SimpleNamespace(name="suite::task", id="the id", suite="a suite"), SimpleNamespace(references=references)


async def replayed(references, cases):
    problem, process_pool = foreign(references)
    content = SimpleNamespace(cases=cases)
    return [case async for case in replay_proof_file(content, problem, process_pool=process_pool, limits=Limits())]


async def test_the_reference_is_attached_before_the_cases():
    references = References(protocol.ReferenceAttached(id="i"))
    assert await replayed(references, ()) == []
    assert references.asked == ["the id"]


async def test_reference_that_does_not_run_is_refused_with_reason():
    failed = protocol.Failed(id="i", kind=protocol.FailureKind.UNSUPPORTED, message="it needs a GPU")
    with pytest.raises(UnsupportedError, match="the reference of suite::task cannot be run here: it needs a GPU"):
        await replayed(References(failed), proof().cases)
