"""Kernels lowered beside the first cases are what the worker runs, and no proof relies on them."""

from __future__ import annotations

import asyncio
import re

import pytest

from engine.model import Outcome, Tier, events, specialisation
from engine.run import pipeline
from engine.run.ahead import lowering
from engine.run.ahead.lowering import LoweringAhead
from engine.run.proving.kernels import LoweredKernels
from engine.run.stages import load_stage
from tests.engine.end_to_end.conftest import COPY_KERNEL, Evaluate

pytestmark = pytest.mark.asyncio(loop_scope="session")
WRONG_KERNEL = COPY_KERNEL.replace("(1 + tl.exp(-v))", "(1 - tl.exp(-v))")


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[str, str]]:
    """What to replace in each module before it is published; all are published before the candidate is loaded."""
    replaced: dict[str, tuple[str, str]] = {}
    done = asyncio.Event()
    run, publish, load = LoweringAhead.run, lowering.publish, load_stage.load

    async def run_first(ahead):
        try:
            await run(ahead)
        finally:
            done.set()

    def publish_other(folder, key, text):
        for pattern, other in replaced.values():
            text, count = re.subn(pattern, other, text)
            assert count > 0
        publish(folder, key, text)

    async def load_late(*arguments, **named):
        await done.wait()
        return await load(*arguments, **named)

    monkeypatch.setattr(lowering, "is_useful", lambda plan, cores: True)
    monkeypatch.setattr(LoweringAhead, "run", run_first)
    monkeypatch.setattr(LoweringAhead, "_is_withheld", lambda ahead, launch: False)
    monkeypatch.setattr(lowering, "publish", publish_other)
    monkeypatch.setattr(pipeline, "load", load_late)
    return replaced


async def test_worker_runs_the_published_module(evaluate: Evaluate, published: dict[str, tuple[str, str]]) -> None:
    published["sum"] = (r"arith\.addf", "arith.subf")
    judged = await evaluate(COPY_KERNEL)
    assert judged.verdict.outcome is Outcome.WRONG_VALUE


async def test_published_modules_are_those_of_the_source(
    evaluate: Evaluate, published: dict[str, tuple[str, str]]
) -> None:
    judged = await evaluate(COPY_KERNEL, tiers=(Tier.SMOKE, Tier.FULL))
    assert judged.verdict.outcome is Outcome.PASS
    assert judged.verdict.proven == judged.verdict.total


@pytest.mark.usefixtures("published")
async def test_proof_has_the_kernels_that_were_lowered_ahead(
    evaluate: Evaluate, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares: list[str] = []
    ask = LoweredKernels._ask

    async def counted(kernels, launch, **options):
        shares.append(options.get("shares", ""))
        return await ask(kernels, launch, **options)

    monkeypatch.setattr(LoweredKernels, "_ask", counted)
    judged = await evaluate(COPY_KERNEL, tiers=(Tier.SMOKE, Tier.FULL))
    assert judged.verdict.proven == judged.verdict.total
    kernels = {specialisation(launch) for launches in judged.launches.values() for launch in launches}
    assert list(map(bool, shares)) == [True] * len(kernels)


async def test_no_case_is_proven_by_a_false_module(evaluate: Evaluate, published: dict[str, tuple[str, str]]) -> None:
    published["difference"] = (r"arith\.subf", "arith.addf")
    judged = await evaluate(WRONG_KERNEL)
    proofs = [event.proof for event in judged.events if isinstance(event, events.CaseProven)]
    assert [result.outcome for result in judged.cases] == [Outcome.PASS] * len(judged.cases)
    assert [proof.proven for proof in proofs] == [False] * len(judged.cases)


CHANGES = """

def silu(self):
    global silu_of, HALF
    HALF = tl.constexpr(0.0)
    silu_of, module.silu_of = copied, copied
    silu_kernel._src = silu_kernel._src.replace("1.0 *", "0.0 *")
    return apply(self)
"""
KERNEL = COPY_KERNEL.replace("def silu(self)", "def apply(self)")


@pytest.mark.parametrize(
    "candidate",
    [
        pytest.param(KERNEL.replace("v / (1", "HALF * 2 * v / (1"), id="constant"),
        pytest.param(KERNEL.replace("v / (1 + tl.exp(-v))", "silu_of(v)"), id="function"),
        pytest.param(KERNEL.replace("v / (1 + tl.exp(-v))", "module.silu_of(v)"), id="attribute"),
        pytest.param(KERNEL.replace("v / (1", "1.0 * v / (1") + "\nsilu_kernel.cache_key\n", id="text"),
    ],
)
@pytest.mark.usefixtures("published")
async def test_kernel_that_the_entry_changes_is_lowered_by_the_worker(evaluate: Evaluate, candidate: str) -> None:
    functions = """
import types

HALF = tl.constexpr(0.5)


@triton.jit
def silu_of(v):
    return v / (1 + tl.exp(-v))


@triton.jit
def copied(v):
    return v


module = types.ModuleType("module")
module.silu_of = silu_of
"""
    head, kernel = candidate.split("@triton.jit", 1)
    judged = await evaluate(f"{head}{functions}\n\n@triton.jit{kernel}{CHANGES}")
    assert judged.verdict.outcome is Outcome.WRONG_VALUE


@pytest.mark.usefixtures("published")
async def test_compiler_with_another_parser_shares_nothing(evaluate: Evaluate) -> None:
    replaced = """
import ast
from pathlib import Path

from triton.runtime.jit import JITFunction

if "compiler" in Path("/proc/self/comm").read_text():
    JITFunction.parse = lambda kernel: ast.parse(kernel._src.replace("1 - tl", "1 + tl"))
"""
    judged = await evaluate(WRONG_KERNEL + replaced)
    assert judged.verdict.outcome is Outcome.WRONG_VALUE
