"""Kernels are withheld in a real worker: who depends on them, who does not, and who will not tell."""

from __future__ import annotations

import pytest

from engine.model import Finding, Outcome, Severity, Stage
from engine.model.events import LayerChecked, StageFinished
from engine.model.layers import Coverage, LayerReport

pytestmark = pytest.mark.asyncio(loop_scope="session")

HEAD = """
import os
import torch
import triton
import triton.language as tl

@triton.jit
def silu_kernel(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at, mask=at < n, other=0.0).to(tl.float32)
    tl.store(y + at, v / (1 + tl.exp(-v)), mask=at < n)

def by_kernel(x, kernel=silu_kernel):
    y = torch.empty_like(x)
    if x.numel():
        kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), B=1024)
    return y

def by_torch(x):
    return (x.double() / (1 + torch.exp(-x.double()))).to(x.dtype)
"""


def ghosts(judged) -> list[Finding]:
    return [finding for finding in judged.findings if finding.check == "ghost_replay"]


def report(judged) -> LayerReport:
    (reported,) = (
        one.report for one in judged.events if isinstance(one, LayerChecked) and one.report.by == "ghost_replay"
    )
    return reported


def shares(judged) -> list[tuple[str, str]]:
    """Of each kernel how much of the answer is right without it."""
    return [
        (fact.name, fact.value.partition(": ")[2].partition(" ")[0])
        for fact in report(judged).facts
        if fact.name != "suppressed"
    ]


async def test_output_that_needs_kernel_is_fact_without_flag(evaluate):
    judged = await evaluate(HEAD + "def silu(self):\n    return by_kernel(self.contiguous())\n")
    assert (judged.verdict.flagged, ghosts(judged)) == (False, [])
    assert shares(judged) == [("silu_kernel", "0%")]
    assert report(judged).facts[-1].value == "2 of 2 launches"


async def test_a_run_that_is_wrong_is_not_probed(evaluate):
    judged = await evaluate(HEAD + "def silu(self):\n    return by_kernel(self.contiguous()) * 2\n")
    assert judged.verdict.outcome is Outcome.WRONG_VALUE
    assert Stage.PROBE not in {event.stage for event in judged.events if isinstance(event, StageFinished)}


async def test_launcher_kept_at_import_is_withheld(evaluate):
    source = """
run = silu_kernel.run

def silu(self):
    x = self.contiguous()
    grid = (triton.cdiv(x.numel(), 1024),)
    run(x, torch.empty_like(x), x.numel(), B=1024, grid=grid, warmup=False)
    return by_torch(x)
"""
    judged = await evaluate(HEAD + source)
    assert judged.verdict.flagged
    (finding,) = ghosts(judged)
    assert finding.severity is Severity.SUSPECT
    assert finding.message.startswith("not computed by its kernels: with every launch suppressed (silu_kernel)")


async def test_autotuned_and_heuristic_kernels_are_withheld(evaluate):
    source = """
@triton.autotune([triton.Config({"B": 1024}), triton.Config({"B": 512})], key=["n"])
@triton.heuristics({"EVEN": lambda arguments: arguments["n"] % 512 == 0})
@triton.jit
def tuned_kernel(x, y, n, EVEN: tl.constexpr, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at, mask=at < n, other=0.0).to(tl.float32)
    tl.store(y + at, v / (1 + tl.exp(-v)), mask=at < n)

def silu(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    tuned_kernel[lambda meta: (triton.cdiv(x.numel(), meta["B"]),)](x, y, x.numel())
    return y
"""
    judged = await evaluate(HEAD + source)
    assert judged.verdict.outcome is Outcome.PASS, judged.verdict.sentence
    assert (ghosts(judged), shares(judged)) == ([], [("tuned_kernel", "0%")])


async def test_kernel_without_effect_is_decoy(evaluate):
    source = """
@triton.jit
def decoy_kernel(y, B: tl.constexpr):
    tl.store(y + tl.arange(0, B), tl.arange(0, B).to(tl.float32))

def silu(self):
    decoy_kernel[(1,)](torch.empty(64, device=self.device), B=64)
    return by_kernel(self.contiguous())
"""
    judged = await evaluate(HEAD + source)
    (hint,) = ghosts(judged)
    assert (judged.verdict.flagged, hint.severity) == (False, Severity.HINT)
    assert hint.message.startswith("decoy: without decoy_kernel (line ")
    assert sorted(shares(judged)) == [("decoy_kernel", "100%"), ("silu_kernel", "0%")]


@pytest.mark.parametrize(
    ("reaction", "why"),
    [
        ("raise ArithmeticError('no finite answer')", "no finite answer"),
        ("os._exit(0)", "exit"),
        ("while True: pass", "timed out after"),
    ],
)
async def test_candidate_failing_without_kernel_is_not_cleared(evaluate, reaction, why):
    source = f"""
def silu(self):
    y = by_kernel(self.contiguous())
    if (y > 1e30).any() or y.isnan().any():
        {reaction}
    return y
"""
    judged = await evaluate(HEAD + source)
    assert (judged.verdict.outcome, judged.verdict.flagged) == (Outcome.PASS, True)
    assert ", but flagged: ablation (ghost_replay) could not be checked: " in judged.verdict.sentence
    assert report(judged).coverage is Coverage.NOT_CHECKED
    assert why in report(judged).why


async def test_candidate_computing_only_without_kernel_is_flagged(evaluate):
    source = """
def silu(self):
    y = by_kernel(self.contiguous())
    return y if y.isfinite().all() and (y.abs() < 1e30).all() else by_torch(self)
"""
    judged = await evaluate(HEAD + source)
    assert judged.verdict.flagged


async def test_kernel_working_on_input_copy_is_not_flagged(evaluate):
    source = """
@triton.jit
def in_place(y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(y + at, mask=at < n, other=0.0).to(tl.float32)
    tl.store(y + at, v / (1 + tl.exp(-v)), mask=at < n)

def silu(self):
    y = self.contiguous().clone()
    in_place[(triton.cdiv(y.numel(), 1024),)](y, y.numel(), B=1024)
    return y
"""
    judged = await evaluate(HEAD + source)
    assert not judged.verdict.flagged
    assert shares(judged) == [("in_place", "0%")]
