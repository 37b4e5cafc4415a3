"""`kgtui generate --suite` and `compare --suite` over sample tasks, a loopback provider and a prepared engine."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from engine.errors import UsageError
from kgtui.cli.command_line import parse
from kgtui.cli.commands import generate
from sessions import open_store
from tests.kgtui.generation.wire_server import Reply, serving

SAMPLES = Path(__file__).parents[3] / "problems" / "samples"
KERNELBENCH, NPU = SAMPLES / "kernelbench", SAMPLES / "multikernelbench"
MODULE = Reply(pieces=("```python\n", "import torch\nclass ModelNew(torch.nn.Module): ...\n", "```\n"))
ADD, SOFTMAX = "kernelbench::level1/1_Scaled_add", "kernelbench::level1/23_Softmax"


@pytest.fixture
def answered(console, engine):
    """Type `kgtui generate` with a model that a loopback server answers for; what the server got."""

    def run(*arguments, replies=(MODULE,)):
        with serving(*replies) as server:
            model = f"openai:m@{server.url}/v1"
            options = parse(["generate", *map(str, arguments), "--model", model, "--device", "cpu"]).options
            keyed = replace(console, environment={**console.environment, "OPENAI_API_KEY": "sk-test-0123456789"})
            assert generate.run(options, keyed, engine_factory=engine) == 0
            return [message["content"] for one in server.received for message in one.body["messages"]]

    return run


def stored(home):
    with open_store(home / "sessions.db", read_only=True) as store:
        return store.generations.of_every_session()


def test_task_is_generated_and_run_with_its_suite(answered, engine, home):
    answered("level1/1_Scaled_add", "--suite", KERNELBENCH, "--cap", "64")
    (row,) = stored(home)
    assert (row.problem, row.run.outcome) == (ADD, "pass")
    (plan,) = engine.plans
    assert json.loads(plan.problem.source.removeprefix("problems.suites.source:"))["cap"] == 64


def test_the_prompt_shows_the_reference_and_the_form(answered):
    _, prompt = answered("level1/1_Scaled_add", "--suite", KERNELBENCH, "--cap", "64")
    assert "`class ModelNew(torch.nn.Module)`" in prompt
    assert "return x + self.scale * y" in prompt
    assert "batch_size = 64\ndim = 64\n" in prompt
    assert "sizes changed from the suite's: dim 16384 -> 64" in prompt


def test_suite_alone_means_all_verifiable_tasks(answered, console, home):
    answered("--suite", NPU)
    assert {row.problem for row in stored(home)} == {
        "multikernelbench::activation/swish",
        "multikernelbench::npukernelbench_level1/3_add",
        "multikernelbench::npukernelbench_level4/2_extra_input",
    }
    assert "7_swiglu is left out, it cannot be verified: its reference imports torch_npu" in console.err.getvalue()


def test_a_task_that_cannot_be_verified_is_refused(answered):
    with pytest.raises(UsageError, match=r"no task can be verified; .*7_swiglu: its reference imports torch_npu"):
        answered("npukernelbench_level1/7_swiglu", "--suite", NPU)


def test_missing_operator_and_suite_is_refused(answered):
    with pytest.raises(UsageError, match="which operator"):
        answered()


def test_other_sizes_are_another_batch(answered, home):
    answered("level1/1_Scaled_add", "--suite", KERNELBENCH, "--cap", "64")
    with pytest.raises(UsageError, match="no unfinished batch has these arguments"):
        answered("level1/1_Scaled_add", "--suite", KERNELBENCH, "--cap", "32", "--resume")


def test_models_are_compared_over_a_suite(answered, typed, console):
    answered("level1/*", "--suite", KERNELBENCH, "--cap", "64")
    console.out.truncate(0)
    console.out.seek(0)
    ended = typed("compare", "--suite", KERNELBENCH, "--models", "all", "--json")
    found = json.loads(ended.out)
    assert {cell["operator"] for cell in found["cells"]} >= {ADD, SOFTMAX}
    assert json.loads(typed("compare", "--suite", NPU, "--models", "all", "--json").out)["cells"] == []
