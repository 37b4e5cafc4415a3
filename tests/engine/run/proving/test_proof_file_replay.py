"""A proof file is replayed by the kernels in it: executed, or compiled for a device and launched there."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from engine import protocol
from engine.errors import UnsupportedError
from engine.model import Case, DType, Limits, Outcome, OutputReport, Tier
from engine.run.proving.proof_file_replay import replay_proof_file
from tests.engine.replay.proofs import proof
from tests.engine.run.proving.test_replayer import BINARY
from tests.engine.toy_problem import toy_problem

ARENA = protocol.ArenaSpec(storages=(protocol.StorageSpec(offset=0, bytes=24),), bytes=24, handle="ab", block_bytes=512)


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


async def test_failing_reference_is_refused_with_reason():
    failed = protocol.Failed(id="i", kind=protocol.FailureKind.UNSUPPORTED, message="it needs a GPU")
    with pytest.raises(UnsupportedError, match="the reference of suite::task cannot be run here: it needs a GPU"):
        await replayed(References(failed), proof().cases)


class Machine:
    """The judge, a replayer and compilers; `asked` are the commands about kernels and tapes."""

    def __init__(self, employ, *, right=True):
        self.asked = []
        self.right = right
        _, self.pool = employ(self.reply, target="sm_90")

    def reply(self, kind, command):
        match command:
            case protocol.Prepare():
                return protocol.Prepared(id=command.id, arguments=(), arena=ARENA, elapsed_s=0.0)
            case protocol.HoldKernel() | protocol.HoldBinary():
                assert kind == "replayer"
                self.asked.append(type(command).__name__)
            case protocol.BuildBinary():
                assert kind == "compiler"
                self.asked.append(f"BuildBinary {command.request.target}")
                return protocol.BinaryBuilt(id=command.id, binary=BINARY)
            case protocol.ReplayTape():
                self.asked.append("ReplayTape")
                return protocol.TapeReplayed(id=command.id, returned=(), moved_bytes=0, by_kernels=True)
            case protocol.Compare():
                outcome = Outcome.PASS if self.right else Outcome.WRONG_VALUE
                report = OutputReport(name="output", outcome=outcome, message="" if self.right else "off by one")
                digests = proof().cases[0].digests
                return protocol.Compared(
                    id=command.id, reports=(report,), repeated=None, mutated=None, digests=digests
                )  # fmt: skip
        return protocol.Done(id=command.id)

    async def replayed(self):
        case = Case(name="1000 f32", dtype=DType.FLOAT32, tier=Tier.SMOKE, params={})
        cases = replay_proof_file(proof(), toy_problem(case), process_pool=self.pool, limits=Limits(), target="sm_90")
        return [one async for one in cases]


async def test_device_proof_launches_kernels_compiled_for_device(employ):
    machine = Machine(employ)
    (case,) = await machine.replayed()
    assert case.proof.proven
    assert (case.same_inputs, case.same_expected, case.same_outputs) == (True, True, True)
    assert sorted(machine.asked) == ["BuildBinary sm_90", "HoldBinary", "HoldKernel", "ReplayTape", "ReplayTape"]
    assert machine.asked[-3:] == ["HoldBinary", "ReplayTape", "ReplayTape"]


async def test_proof_wrong_on_a_device_is_not_proven(employ):
    (case,) = await Machine(employ, right=False).replayed()
    assert (case.proof.proven, case.proof.reason) == (
        False,
        "the recorded launches and moves do not give the answer: off by one",
    )
