"""Candidates of foreign suites in a real engine: each way of calling one, and a wrong answer to each."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.model import Candidate, Outcome, Plan, Problem, Tier
from problems.suites.source import suite_at
from tests.candidates import DRAW_SEED
from tests.engine.end_to_end.conftest import SMALL, Evaluated

pytestmark = pytest.mark.asyncio(loop_scope="session")

TESTS = Path(__file__).parents[2]
SAMPLES, CANDIDATES = TESTS / "problems" / "samples", TESTS / "corpus" / "suites"
HONEST = [
    ("relu.py", "kernelbench_x", "Activation/relu", "tl.maximum(x, 0.0)", "tl.maximum(x, 0.001)"),
    ("matmul_w8a8.py", "kernelbench_x", "Quantization/matmul_w8a8", "acc.to(tl.float32)", "1.06 * acc.to(tl.float32)"),
    ("add.py", "tritonbench", "T/add", "alpha * y", "y"),
    ("histogram.py", "gpu_mode", "pmpp/histogram_py", "v == b", "v <= b"),
    ("npu_add.py", "multikernelbench", "npukernelbench_level1/3_add", "alpha * y", "y"),
    ("rms_norm.py", "flashinfer_trace", "rmsnorm/rmsnorm_h32", "+ eps", "- eps"),
]


def problem_of(suite: str, task: str) -> Problem:
    source = suite_at(SAMPLES / suite)
    return source.problem(f"{source.format.id}::{task}")


async def judged(engine: Engine, source: str, problem: Problem) -> Evaluated:
    assert problem.suite is not None
    candidate = Candidate(
        source=source.encode(), problem=problem.name, filename="candidate.py", modules=problem.suite.modules
    )
    plan = Plan.for_tiers(problem, tiers=(Tier.SMOKE, Tier.FULL), device="cpu", target=None, limits=SMALL)
    plan = replace(plan, draw_seed=DRAW_SEED)
    async with aclosing(engine.evaluate(candidate, plan)) as running:
        return Evaluated(events=tuple([event async for event in running]))


@pytest.mark.parametrize(("file", "suite", "task", "right", "wrong"), HONEST, ids=[one[2] for one in HONEST])
async def test_honest_candidate_passes_every_case(
    engine: Engine, file: str, suite: str, task: str, right: str, wrong: str
) -> None:
    problem = problem_of(suite, task)
    found = await judged(engine, (CANDIDATES / file).read_text(), problem)

    assert found.verdict.outcome is Outcome.PASS, found.verdict.sentence
    timed = [case.name for case in problem.cases if case.tier is Tier.BENCH]
    assert [case.case for case in found.cases] == [case.name for case in problem.cases if case.name not in timed]


@pytest.mark.parametrize(
    ("file", "suite", "task", "right", "wrong"),
    [HONEST[1], HONEST[2], HONEST[3]],
    ids=["quantised", "call", "submission"],
)
async def test_wrong_candidate_fails(engine: Engine, file: str, suite: str, task: str, right: str, wrong: str) -> None:
    source = (CANDIDATES / file).read_text()
    assert right in source
    found = await judged(engine, source.replace(right, wrong), problem_of(suite, task))

    assert found.verdict.outcome is Outcome.WRONG_VALUE


async def test_own_check_of_task_beside_verdict(engine: Engine) -> None:
    found = await judged(engine, (CANDIDATES / "histogram.py").read_text(), problem_of("gpu_mode", "pmpp/histogram_py"))
    reported = [finding.message for finding in found.findings if "own rule" in finding.message]

    assert reported and all(
        "calls pass (the task's own check_implementation(data, output))" in text for text in reported
    )


async def test_gold_kernel_without_gpu_unsupported(engine: Engine) -> None:
    found = await judged(
        engine, "def double_add(x, y):\n    return 2 * x + y\n", problem_of("tritonbench", "G/double_add")
    )

    assert found.verdict.outcome is Outcome.UNSUPPORTED
    assert "a Triton kernel, which runs on a GPU only" in found.verdict.sentence


async def test_task_with_module_as_argument_unsupported(engine: Engine) -> None:
    problem = problem_of("kernelbench_x", "Optimizer/SGD")
    found = await judged(engine, "def SGD(model, input, target, loss_fn, lr=0.1):\n    return input\n", problem)

    assert found.verdict.outcome is Outcome.UNSUPPORTED


TASK = """
files:
  - {"name": "submission.py", "source": "@SUBMISSION@"}
  - {"name": "reference.py", "source": "reference.py"}
lang: "py"
description: "A row times weights"
config:
  main: "eval.py"
tests:
  - {"n": 100, "seed": 1}
"""
REFERENCE = """
from dataclasses import dataclass
from typing import NamedTuple

import torch

class Range(NamedTuple):
    low: float
    high: float

@dataclass(frozen=True)
class Config:
    factor: float
    limits: Range
    mask: torch.Tensor

def generate_input(n, seed):
    gen = torch.Generator(device="cuda")
    gen.manual_seed(seed)
    weights = {"scale": torch.randn(n, generator=gen, device="cuda"), "shift": torch.ones(n, device="cuda")}
    config = Config(0.5, Range(-1.0, 1.0), torch.randn(n, generator=gen, device="cuda"))
    return torch.randn(n, generator=gen, device="cuda"), weights, config

def ref_kernel(data):
    x, weights, config = data
    assert isinstance(config, Config) and isinstance(config.limits, Range)
    return (x * weights["scale"] * config.factor).clamp(*config.limits) * config.mask + weights["shift"]

def check_implementation(data, output):
    return True, ""
"""
SUBMISSION = """
import torch
import triton
import triton.language as tl

@triton.jit
def kernel(x, scale, shift, mask, out, n, factor, low, high, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < n
    value = tl.load(x + at, mask=inside) * tl.load(scale + at, mask=inside) * factor
    value = tl.minimum(tl.maximum(value, low), high) * tl.load(mask + at, mask=inside)
    tl.store(out + at, value + tl.load(shift + at, mask=inside), mask=inside)

def custom_kernel(data):
    x, weights, config = data
    out = torch.empty_like(x)
    assert type(config).__name__ == "Config"
    low, high = config.limits
    shift, factor = weights["shift"], config.factor
    kernel[(1,)](x, weights["scale"], shift, config.mask, out, x.numel(), factor, low, config.limits.high, BLOCK=128)
    return out
"""


async def test_input_with_dicts_and_objects_reaches_submission(engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "problems" / "bioml" / "weighted_py"
    folder.mkdir(parents=True)
    (folder / "task.yml").write_text(TASK)
    (folder / "reference.py").write_text(REFERENCE)
    source = suite_at(tmp_path)
    problem = source.problem("gpumode::bioml/weighted_py")

    right = await judged(engine, SUBMISSION, problem)
    wrong = await judged(engine, SUBMISSION.replace("* factor\n", "* 2 * factor\n"), problem)

    assert (right.verdict.outcome, right.verdict.passed, right.verdict.proven) == (Outcome.PASS, 1, 1)
    assert wrong.verdict.outcome is Outcome.WRONG_VALUE
