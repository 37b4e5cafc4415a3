"""Passing cases are proven by a replay, or the reason is named."""

from __future__ import annotations

from textwrap import indent

import pytest
from msgspec.structs import replace

from engine.model import Outcome, events
from engine.model.proof import Gap
from engine.protocol.proof.proof_file import read_proof, unpacked
from engine.protocol.proof.replaying import kernel_name
from tests.candidates import candidates, cheat, stated
from tests.engine.end_to_end.conftest import COPY_KERNEL
from tests.operators import find

pytestmark = pytest.mark.asyncio(loop_scope="session")
JOIN = '''"""Torch joins the tensors, and one kernel copies the answer."""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count)
    tl.store(y_ptr + offset, x, mask=offset < count)


def cat(tensors, dim=0):
    joined = torch.cat(tensors, dim)
    y = torch.empty_like(joined)
    if y.numel():
        copy_kernel[(triton.cdiv(y.numel(), 1024),)](joined, y, y.numel(), BLOCK=1024)
    return y
'''


READS_ITS_FIRST = COPY_KERNEL.replace("(x, y, n, B", "(x, y, n, first, B").replace(
    "(x, y, x.numel(), B", "(x, y, x.numel(), x.flatten()[0].item(), B"
)


CHANGES_LAST_BITS = (
    COPY_KERNEL.replace("    return y\n", "        np.asarray(Bytes(y))[:: y.element_size()] ^= 1\n    return y\n")
    + """

import numpy as np


class Bytes:
    def __init__(self, tensor):
        size = tensor.numel() * tensor.element_size()
        self.__array_interface__ = dict(data=(tensor.data_ptr(), False), shape=(size,), typestr="|u1", version=3)
"""
)


GENERATES = f"""
import importlib.util
from pathlib import Path
import torch

SOURCE = '''{COPY_KERNEL}'''


def generated():
    path = Path.home() / ".cache" / "pointwise.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("pointwise", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def silu(self):
    return generated().silu(self)
"""


def made_in_the_call(source):
    """The source, whose kernel is made by each call instead."""
    before, _, rest = source.partition("@triton.jit\n")
    kernel, _, entry = rest.partition("\n\n\n")
    maker = indent(f"@triton.jit\n{kernel}\nreturn silu_kernel\n", "    ")
    return f"{before}def made():\n{maker}\n\n{entry.replace('silu_kernel[', 'made()[')}"


def proofs_of(judged):
    return [event.proof for event in judged.events if isinstance(event, events.CaseProven)]


async def test_honest_kernel_is_proven_in_every_case(evaluate):
    judged = await evaluate(COPY_KERNEL)
    proofs = proofs_of(judged)
    assert [proof.case for proof in proofs] == [case.case for case in judged.cases]
    assert all(proof.proven for proof in proofs)
    verdict = judged.verdict
    assert (verdict.proven, verdict.flagged) == (len(proofs), False)
    assert verdict.sentence == f"{len(proofs)}/{len(proofs)} cases passed, {len(proofs)} proven"


async def test_kernel_generated_in_call_is_proven(evaluate):
    judged = await evaluate(GENERATES, target="sm_90", sass=False)
    assert {kernel.outcome for kernel in judged.kernels} == {Outcome.PASS}
    verdict = judged.verdict
    assert (verdict.outcome, verdict.flagged, verdict.proven) == (Outcome.PASS, False, len(judged.cases))


async def stored_proof(evaluate, artefacts, source):
    """The proof file that a run of this source stored."""
    judged = await evaluate(source)
    (stored,) = (event for event in judged.events if isinstance(event, events.ProofStored))
    return read_proof(unpacked(artefacts.read(stored.artefact.digest)))


async def test_a_stored_proof_is_replayed_without_the_source(engine, evaluate, artefacts):
    proof = await stored_proof(evaluate, artefacts, COPY_KERNEL)
    cases = [case async for case in engine.replay(proof, find("aten::silu"))]
    assert [case.proof.case for case in cases] == [case.case for case in proof.cases]
    assert all(case.proof.proven and case.same_inputs and case.same_outputs for case in cases)


async def test_proofs_of_two_folders_are_the_same_bytes(evaluate, tmp_path):
    digests = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        judged = await evaluate(COPY_KERNEL, folder=tmp_path / name, draw_seed=7)
        digests += [event.artefact.digest for event in judged.events if isinstance(event, events.ProofStored)]
    assert len(digests) == 2
    assert digests[0] == digests[1]


async def test_stored_proof_with_another_kernel_is_not_proven(engine, evaluate, artefacts):
    proof = await stored_proof(evaluate, artefacts, COPY_KERNEL)
    kernels = {
        kernel.name: replace(kernel, ttir=kernel.ttir.replace("arith.divf", "arith.mulf")) for kernel in proof.kernels
    }
    named = {old: replace(new, name=kernel_name(new.ttir, new.arguments)) for old, new in kernels.items()}
    cases = tuple(replace(case, kernels=tuple(named[name].name for name in case.kernels)) for case in proof.cases)
    changed = replace(proof, kernels=tuple(named.values()), cases=cases[:1])
    (case,) = [case async for case in engine.replay(changed, find("aten::silu"))]
    assert (case.proof.gap, case.same_inputs, case.same_outputs) == (Gap.NOT_REPRODUCED, True, False)


async def test_outputs_that_the_host_changes_in_their_last_bits_are_flagged(evaluate):
    judged = await evaluate(CHANGES_LAST_BITS)
    assert {proof.gap for proof in proofs_of(judged)} == {Gap.MEMORY}
    assert all(proof.reason.startswith("memory of unknown origin: ") for proof in proofs_of(judged))
    assert (judged.verdict.outcome, judged.verdict.flagged, judged.verdict.proven) == (Outcome.PASS, True, 0)


async def test_an_answer_of_torch_beside_a_decoy_flags(evaluate):
    path = cheat("decoy_launch")
    judged = await evaluate(path, problem=stated(path).op)
    assert {(proof.gap, proof.reason) for proof in proofs_of(judged)} == {
        (Gap.TORCH, "torch computes: aten::_softmax (line 23)")
    }
    assert "proof" in {finding.check for finding in judged.findings}
    assert (judged.verdict.outcome, judged.verdict.flagged, judged.verdict.proven) == (Outcome.PASS, True, 0)


async def test_sum_by_torch_is_reported_without_flag(evaluate):
    (path,) = (one for one in candidates("honest") if one.stem == "rms_norm_torch_adds_parts")
    judged = await evaluate(path, problem=stated(path).op)
    assert {(proof.gap, proof.reason) for proof in proofs_of(judged)} == {
        (Gap.TORCH_LIGHT, "torch computes: aten::sum (line 39)")
    }
    assert (judged.verdict.flagged, judged.verdict.proven) == (False, 0)


async def test_honest_host_scalar_is_reported_without_flag(evaluate):
    judged = await evaluate(READS_ITS_FIRST)
    assert {(proof.gap, proof.reason) for proof in proofs_of(judged)} == {
        (Gap.SCALAR, "a scalar that depends on the data: argument first of kernel silu_kernel")
    }
    assert (judged.verdict.flagged, judged.verdict.proven) == (False, 0)


async def test_honest_kernel_made_in_call_passes(evaluate):
    judged = await evaluate(made_in_the_call(COPY_KERNEL))
    assert {(proof.gap, proof.reason) for proof in proofs_of(judged)} == {
        (Gap.UNSUPPORTED, "silu_kernel is defined only when the entry runs, so it cannot be compiled separately")
    }
    assert (judged.verdict.outcome, judged.verdict.flagged, judged.verdict.proven) == (Outcome.PASS, False, 0)


async def test_empty_kernel_made_in_call_is_flagged(evaluate):
    path = cheat("kernel_made_in_the_call")
    judged = await evaluate(path, problem=stated(path).op)
    assert {proof.gap for proof in proofs_of(judged)} == {Gap.MEMORY}
    assert (judged.verdict.flagged, judged.verdict.proven) == (True, 0)


async def test_lookup_by_torch_after_copying_kernel_is_flagged(evaluate):
    path = cheat("looks_rows_up_by_torch")
    judged = await evaluate(path, problem=stated(path).op)
    assert {(proof.gap, proof.reason) for proof in proofs_of(judged)} == {
        (Gap.TORCH, "the answer is a rearrangement, and a look-up by torch made it")
    }
    assert (judged.verdict.flagged, judged.verdict.proven) == (True, 0)


async def test_torch_join_after_copy_kernel_is_unproven(evaluate):
    judged = await evaluate(JOIN, problem="aten::cat")
    assert {(proof.gap, proof.reason) for proof in proofs_of(judged)} == {
        (Gap.TORCH_LIGHT, "the answer is a rearrangement, and a copy by torch may have made it")
    }
    assert (judged.verdict.flagged, judged.verdict.proven) == (False, 0)


async def test_lookup_by_torch_before_computing_kernel_is_proven(evaluate):
    (path,) = (one for one in candidates("honest") if one.stem == "rotary_embedding_looked_up")
    judged = await evaluate(path, problem=stated(path).op)
    assert (judged.verdict.flagged, judged.verdict.proven) == (False, len(judged.cases))
