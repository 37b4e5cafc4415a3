"""`kgtui check --stages`: what is changed, what is refused, and the first stage that differs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.devices import detect_all
from engine.errors import UsageError
from engine.model import CaseResult, Outcome, OutputReport, Policy, Tier
from engine.reports.run_record import NO_RUN
from kgtui.cli.choices import KernelFile
from kgtui.cli.runs.run_command import Request
from kgtui.cli.runs.stages import Stages, stage_lines, staged
from problems.index import open_index
from problems.suites.source import suite_at

SAMPLE = Path(__file__).parents[3] / "problems" / "samples" / "kernelbench_x"
FUSION = "kernelbenchx::Fusion/fused_scale_softmax_sum"
CANDIDATE = b"""def fused_scale_softmax_sum(input, scale=1.0, dim=-1):
    weights = scaled = input
    weights = kernel(input)
    scaled = kernel(input)
    return input
"""


def request(name: str, content: bytes = CANDIDATE) -> Request:
    problem = open_index(suites=(suite_at(SAMPLE),)).find(name)
    file = KernelFile(path=Path("/k.py"), shown="k.py", content=content, directives={})
    device = next(device for device in detect_all() if device.platform == "cpu")
    return Request(
        label="check", file=file, problem=problem, device=device, target=None, tiers=(Tier.SMOKE,),
        policy=Policy.DEFAULT, is_kept=True, is_plain=True, document=None,
    )  # fmt: skip


def case(*outcomes: Outcome) -> CaseResult:
    outputs = tuple(
        OutputReport(name=f"return[{place}]", outcome=outcome, message=f"return[{place}]: 3 of 4 wrong")
        for place, outcome in enumerate(outcomes)
    )
    return CaseResult(
        case="line 23", tier=Tier.SMOKE, outcome=Outcome.WRONG_VALUE, elapsed_s=0.1, calls=1, seed=1, outputs=outputs
    )


def test_shared_stages_returned_and_nothing_saved():
    content = CANDIDATE.replace(b"    weights = scaled = input\n", b"")
    changed, found = staged(request(FUSION, content))
    assert found.names == ("scaled", "weights")
    assert found.not_compared == ("weighted: bound once in the reference, not here",)
    assert changed.file.content.endswith(b"return (scaled, weights, (input))\n")
    assert (changed.is_kept, changed.problem.name) == (False, FUSION)
    assert changed.problem.version != request(FUSION).problem.version
    assert changed.problem.suite.notes[0] == "compared in this order: scaled, weights, result"


def test_stage_bound_twice_is_not_compared():
    with pytest.raises(UsageError, match="binds none of the reference's intermediates"):
        staged(request(FUSION))


def test_stages_of_catalogue_refused():
    with pytest.raises(UsageError, match="--suite PATH"):
        staged(request("aten::softmax"))


def test_first_stage_that_differs_is_named():
    right, wrong = Outcome.PASS, Outcome.WRONG_VALUE
    run = replace(NO_RUN, cases=(case(right, wrong, wrong), case(right, right, wrong)))
    assert stage_lines(run, Stages(names=("scaled", "weights"), not_compared=("x: bound once",))) == [
        "  scaled                   2/2 cases correct",
        "  weights                  1/2 cases correct; line 23: 3 of 4 wrong",
        "  result                   0/2 cases correct; line 23: 3 of 4 wrong",
        "  not compared: x: bound once",
        "first stage that differs: weights",
    ]


def test_no_outputs_means_nothing_was_compared():
    assert stage_lines(NO_RUN, Stages(names=("scaled",))) == ["stages: nothing was compared"]
