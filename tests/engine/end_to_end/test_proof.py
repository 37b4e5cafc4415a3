"""Passing cases are proven by a replay, or the reason is named."""

from __future__ import annotations

import pytest

from engine.model import Outcome, events
from engine.model.proof import Gap
from tests.candidates import candidates, cheat, stated
from tests.engine.end_to_end.conftest import COPY_KERNEL

pytestmark = pytest.mark.asyncio(loop_scope="session")


def proofs_of(judged):
    return [event.proof for event in judged.events if isinstance(event, events.CaseProven)]


async def test_an_honest_kernel_is_proven_in_every_case(judging):
    judged = await judging(COPY_KERNEL)
    proofs = proofs_of(judged)
    assert [proof.case for proof in proofs] == [case.case for case in judged.cases]
    assert all(proof.proven for proof in proofs)
    verdict = judged.verdict
    assert (verdict.proven, verdict.flagged) == (len(proofs), False)
    assert verdict.sentence == f"{len(proofs)}/{len(proofs)} cases passed, {len(proofs)} proven"


async def test_an_answer_of_torch_beside_a_decoy_flags(judging):
    path = cheat("decoy_launch")
    judged = await judging(path, problem=stated(path).op)
    assert {(proof.gap, proof.reason) for proof in proofs_of(judged)} == {
        (Gap.TORCH, "torch computes: aten::_softmax (line 23)")
    }
    assert "proof" in {finding.check for finding in judged.findings}
    assert (judged.verdict.outcome, judged.verdict.flagged, judged.verdict.proven) == (Outcome.PASS, True, 0)


async def test_a_sum_by_torch_is_shown_and_does_not_flag(judging):
    (path,) = (one for one in candidates("honest") if one.stem == "rms_norm_torch_adds_parts")
    judged = await judging(path, problem=stated(path).op)
    assert {(proof.gap, proof.reason) for proof in proofs_of(judged)} == {
        (Gap.TORCH_LIGHT, "torch computes: aten::sum (line 39)")
    }
    assert (judged.verdict.flagged, judged.verdict.proven) == (False, 0)
