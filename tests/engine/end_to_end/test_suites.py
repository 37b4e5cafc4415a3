"""Problems of a foreign suite in a real engine: ModelNew, its weights, and references that fail."""

from __future__ import annotations

import json
import shutil
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.model import Candidate, Outcome, Plan, Tier
from problems.suites.settings import SuiteChoice
from problems.suites.source import suite_at
from tests.candidates import DRAW_SEED
from tests.engine.end_to_end.conftest import SMALL, Evaluated

pytestmark = pytest.mark.asyncio(loop_scope="session")

SAMPLE = Path(__file__).parents[2] / "problems" / "samples" / "kernelbench"
REQUANTISE = Path(__file__).parents[2] / "corpus" / "suites" / "requantise.py"
RELU = Path(__file__).parents[2] / "corpus" / "suites" / "relu.py"
SOFTMAX = SAMPLE / "KernelBench" / "level1" / "23_Softmax.py"
TRITON_NORM = "solutions/example/rmsnorm/rmsnorm_h32/triton_norm.json"
LINEAR = """
import torch
import triton
import triton.language as tl


@triton.jit
def linear_kernel(x, w, b, y, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        left = tl.load(x + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        right = tl.load(w + n[None, :] * K + k[:, None], mask=(n[None, :] < N) & (k[:, None] < K), other=0.0)
        acc += tl.dot(left, right, input_precision="ieee")
    acc += tl.load(b + n, mask=n < N, other=0.0)[None, :]
    tl.store(y + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


class ModelNew(torch.nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.bias = torch.nn.Parameter(torch.zeros(out_features))  # in another order than the reference
        self.weight = torch.nn.Parameter(torch.zeros(out_features, in_features))

    def forward(self, x):
        y = torch.empty((x.shape[0], self.weight.shape[0]), device=x.device, dtype=x.dtype)
        grid = (triton.cdiv(y.shape[0], 16), triton.cdiv(y.shape[1], 16))
        linear_kernel[grid](x, self.weight, self.bias, y, *y.shape, x.shape[1], BM=16, BN=16, BK=32)
        return y
"""


async def judged(engine: Engine, text: str, path: Path, name: str, *, cap: int | None = None) -> Evaluated:
    """A run on all draws of the problem called `name` of the suite at `path`."""
    source = suite_at(path, choice=SuiteChoice(path=path, format="", cap=cap))
    problem = source.problem(f"kernelbench::{name}")
    plan = Plan.for_tiers(problem, tiers=(Tier.SMOKE, Tier.FULL), device="cpu", target=None, limits=SMALL)
    plan = replace(plan, draw_seed=DRAW_SEED)
    candidate = Candidate(source=text.encode(), problem=problem.name)
    async with aclosing(engine.evaluate(candidate, plan)) as running:
        return Evaluated(events=tuple([event async for event in running]))


async def test_module_gets_weights_by_name_and_is_proven(engine: Engine) -> None:
    run = await judged(engine, LINEAR, SAMPLE, "level2/2_Two_weights")

    assert (run.verdict.outcome, run.verdict.passed, run.verdict.proven) == (Outcome.PASS, 5, 5)
    (rule,) = (finding.message for finding in run.findings if finding.check == "suite rule")
    assert rule.startswith("KernelBench's own rule: 11/11 calls pass")


async def test_error_within_suite_tolerance_fails_ours(engine: Engine) -> None:
    off = LINEAR.replace("    tl.store(y", "    acc += 8e-5\n    tl.store(y")

    run = await judged(engine, off, SAMPLE, "level2/2_Two_weights")

    assert run.verdict.outcome is Outcome.WRONG_VALUE
    (rule,) = (finding.message for finding in run.findings if finding.check == "suite rule")
    assert rule.startswith("KernelBench's own rule: 5/5 calls pass")


async def test_native_size_refused_before_allocation(engine: Engine) -> None:
    run = await judged(engine, LINEAR, SAMPLE, "level1/23_Softmax", cap=None)

    if run.verdict.outcome is not Outcome.UNSUPPORTED:
        pytest.skip("this machine has room for 100 GB")
    assert "12,884,901,888 bytes of inputs, weights and outputs" in run.verdict.sentence
    assert "--cap N" in run.verdict.sentence


@pytest.mark.parametrize(
    ("was", "becomes", "outcome", "said"),
    [
        ("", "", Outcome.PASS, "2/2 cases passed, 2 proven"),
        ("octets & 15) * scale, _value(octets >> 4)", "octets >> 4) * scale, _value(octets & 15)",
         Outcome.WRONG_VALUE, "values: "),
        ("_code(low * 0.7) | (_code(high * 0.7) << 4)", "_code(high * 0.7) | (_code(low * 0.7) << 4)",
         Outcome.WRONG_VALUE, "values are more than a step off"),
        ("tl.abs(value), ", "tl.abs(value) * 0.8, ", Outcome.WRONG_VALUE, "values are a step off, at most 6.0% may be"),
    ],
    ids=["honest", "halves of input swapped", "halves of output swapped", "wrong rounding"],
)  # fmt: skip
async def test_fp4_bytes_are_compared_by_their_values(
    engine: Engine, was: str, becomes: str, outcome: Outcome, said: str
) -> None:
    problem = suite_at(SAMPLE.parent / "flashinfer_trace").problem("flashinfer::quantise/requantise_h32")
    text = REQUANTISE.read_text().replace(was, becomes) if was else REQUANTISE.read_text()
    plan = Plan.for_tiers(problem, tiers=(Tier.SMOKE, Tier.FULL), device="cpu", target=None, limits=SMALL)

    async with aclosing(engine.evaluate(Candidate(source=text.encode(), problem=problem.name), plan)) as running:
        run = Evaluated(events=tuple([event async for event in running]))

    assert run.verdict.outcome is outcome
    assert said in run.verdict.sentence


async def test_workload_beyond_memory_is_left_out(engine: Engine, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    shutil.copytree(SAMPLE.parent / "flashinfer_trace", trace)
    workloads = trace / "workloads" / "rmsnorm" / "rmsnorm_h32.jsonl"
    first, second = workloads.read_text().splitlines()
    large = first.replace('"batch_size": 4', '"batch_size": 100000000000')
    workloads.write_text(f"{large}\n{second}\n")
    problem = suite_at(trace).problem("flashinfer::rmsnorm/rmsnorm_h32")
    source = json.loads((trace / TRITON_NORM).read_text())["sources"][0]["content"] + "\nrun = norm\n"
    plan = Plan.for_tiers(problem, tiers=(Tier.SMOKE, Tier.FULL), device="cpu", target=None, limits=SMALL)

    async with aclosing(engine.evaluate(Candidate(source=source.encode(), problem=problem.name), plan)) as running:
        run = Evaluated(events=tuple([event async for event in running]))

    assert (run.verdict.outcome, run.verdict.passed, run.verdict.total) == (Outcome.PASS, 1, 1)
    [note] = [finding.message for finding in run.findings if "is left out" in finding.message]
    assert note.startswith("workload 4b7f0d02 is left out: it has 12,800,000,000,068 bytes of inputs and outputs")


@pytest.mark.parametrize(
    ("was", "becomes", "said"),
    [
        ("import torch.nn as nn", "raise OSError('no')", "failed while it was opened: OSError: no"),
        ("    return [x]", "    import os; os._exit(0) if x.device.type == 'cpu' else None; return [x]", "it ended"),
        ("        return torch.softmax(x, dim=1)", "        return 'text'", "returns a str, which is not compared"),
    ],
    ids=["raises", "ends", "no tensor"],
)
async def test_failing_reference_is_problem_fault(
    engine: Engine, tmp_path: Path, was: str, becomes: str, said: str
) -> None:
    file = tmp_path / "1_Fault.py"
    file.write_text(SOFTMAX.read_text().replace(was, becomes, 1).replace("nn.Module", "torch.nn.Module"))

    run = await judged(engine, LINEAR, file, "1_Fault", cap=16)

    assert run.verdict.outcome is Outcome.PROBLEM_ERROR
    assert said in run.verdict.sentence


async def test_pretrained_model_refused_with_reason(engine: Engine) -> None:
    run = await judged(engine, LINEAR, SAMPLE, "level4/1_pretrained_model")

    assert run.verdict.outcome is Outcome.UNSUPPORTED
    assert "downloads a pretrained model" in run.verdict.sentence


async def test_right_result_in_place_never_written_fails(engine: Engine) -> None:
    source = suite_at(SAMPLE.parent / "kernelbench_x")
    problem = source.problem("kernelbenchx::Activation/relu")
    honest = RELU.read_text()
    forgets = honest.replace("out = input if inplace else torch", "out = torch")
    outcomes = []
    for text in (honest, forgets):
        plan = Plan(problem=problem, cases=(problem.case("line 21"),), device="cpu", target=None, limits=SMALL)
        candidate = Candidate(source=text.encode(), problem=problem.name)
        async with aclosing(engine.evaluate(candidate, plan)) as running:
            outcomes.append(Evaluated(events=tuple([event async for event in running])).verdict)

    assert [verdict.outcome for verdict in outcomes] == [Outcome.PASS, Outcome.WRONG_VALUE]
    assert "written[0]: 1 of 2 wrong" in outcomes[1].sentence


async def test_audit_finds_planted_short_cut(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "1_Planted.py"
    text = SOFTMAX.read_text().replace("return torch.softmax(x, dim=1)", "return torch.softmax(x.mean(1), dim=0) * 0")
    file.write_text(text)
    source = suite_at(file, choice=SuiteChoice(path=file, format="", cap=16))

    found = await engine.audit(source.problem("kernelbench::1_Planted"))

    assert [str(one.defect) for one in found][:2] == ["all-zero outputs", "zeros pass"]
