"""A small proof file for tests: one case of one kernel."""

from __future__ import annotations

from engine.protocol.proof.proof_file import ProofFile, ProvenCase, ProvenKernel, ProvenRun
from engine.protocol.proof.replaying import kernel_name
from engine.protocol.verifying import ContentDigests
from tests.engine.replay.tapes import DOUBLE, launched, tape, vector

_ARGUMENTS = ("x", "y", "n")
_NAME = kernel_name(DOUBLE, _ARGUMENTS)


def proof(*, problem: str = "aten::silu", case: str = "1000 f32", version: str = "") -> ProofFile:
    """A proof of one case that one launch of `double` computes."""
    run = ProvenRun(
        problem=problem,
        problem_version=version,
        candidate="d" * 64,
        device="cpu",
        target="sm_90",
        versions={"kgtui": "0.1.0", "torch": "2.0.0"},
        unproven={"65537 f32": "torch computes: aten::sum (line 9)"},
    )
    recorded = ProvenCase(
        case=case,
        seed=7,
        digests=ContentDigests(inputs="1" * 64, expected="2" * 64, outputs="3" * 64),
        kernels=(_NAME,),
        without=(),
        tape=tape(launched(vector(0), vector(1))),
    )
    return ProofFile(run=run, kernels=(ProvenKernel(name=_NAME, ttir=DOUBLE, arguments=_ARGUMENTS),), cases=(recorded,))
