"""Planted defects of KernelBench tasks, each found by the audit; the reference runs in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch

from engine.errors import ReferenceFaultError
from engine.model import Precision
from engine.model.problems.health import Defect
from engine.problem_source import OpenedReference, ReferenceUnavailableError
from engine.reference.harness import UnavailableError
from problems.suites.harness.kernelbench import ModelTask, open_task
from problems.suites.settings import SuiteChoice
from problems.suites.source import suite_at

if TYPE_CHECKING:
    from engine.model import Arguments

HEAD = "import torch\nimport torch.nn as nn\n\nN = 8\n\n\nclass Model(nn.Module):\n"
TAIL = "\n\ndef get_inputs():\n    return [torch.randn(N, 16)]\n\n\ndef get_init_inputs():\n    return []\n"
LAYERS = "    def __init__(self):\n        super().__init__()\n        self.linear = nn.Linear(16, 32)\n\n"


@dataclass
class InThisProcess:
    """The reference process of a task, without a process."""

    folder: Path
    task: ModelTask | None = None

    def open(self, *, harness: str, file: str, files: Mapping[str, str], details: Mapping[str, str]) -> OpenedReference:
        (self.folder / file).write_text(files[file])
        self.task = open_task(self.folder / file, details, torch.device("cpu"))
        return OpenedReference(notes=(), needed_bytes=None)

    def draw(self, *, seed: int, weight_seed: int, case: str = "") -> Arguments:
        assert self.task is not None
        return self.task.draw(seed=seed, weight_seed=weight_seed, case=case)

    def expected(
        self, arguments: Arguments, precision: Precision, *, dtypes: Sequence[torch.dtype] = ()
    ) -> tuple[torch.Tensor, ...]:
        assert self.task is not None
        with torch.no_grad():
            try:
                outputs = self.task.expected(arguments, precision)
                return tuple(map(torch.Tensor.to, outputs, dtypes)) if dtypes else outputs
            except UnavailableError as error:
                raise ReferenceUnavailableError(str(error)) from error
            except RuntimeError as error:
                raise ReferenceFaultError(f"the problem's reference failed: {error}") from error

    def passes_own_rule(self, arguments: Arguments, outputs: tuple[torch.Tensor, ...]) -> bool:
        raise AssertionError("these tasks have no rule of their own")


@pytest.fixture
def found(tmp_path):
    def found_in(forward: str, *, layers: str = LAYERS, arguments: str = "x", tail: str = TAIL) -> dict[Defect, str]:
        """The text of each defect of a task with this forward, the last one of each kind."""
        file = tmp_path / "1_Planted.py"
        file.write_text(f"{HEAD}{layers}    def forward(self, {arguments}):\n        return {forward}\n{tail}")
        source = suite_at(file, choice=SuiteChoice(path=file, format="", cap=64))
        (tmp_path / "room").mkdir()
        (name,) = source.names()
        return {one.defect: one.text for one in source.audit(name, InThisProcess(tmp_path / "room"))}

    return found_in


def test_healthy_task_has_no_weakness(found):
    assert found("torch.relu(self.linear(x))") == {}


def test_scalar_answer_has_no_small_spread(found):
    assert found("self.linear(x).square().sum()") == {}


@pytest.mark.parametrize(
    ("forward", "defect"),
    [
        ("torch.relu(-self.linear(x).square())", Defect.ALL_ZERO),
        ("torch.softmax(self.linear(x).sum(1, keepdim=True), dim=1)", Defect.CONSTANT),
        ("torch.zeros_like(x)", Defect.ZEROS_PASS),
        ("torch.linspace(0, 1, 16) + 0 * x", Defect.INPUT_INDEPENDENT),
        ("1e7 + x.sigmoid()", Defect.SMALL_SPREAD),
        ("1e-6 * x.sigmoid()", Defect.LOOSE_OWN_RULE),
        ("x + torch.rand_like(x)", Defect.UNSEEDED),
        ("x @ x", Defect.REFERENCE_FAILS),
    ],
)
def test_planted_defect_found(found, forward, defect):
    assert defect in found(forward)


def test_unseeded_inputs_are_a_defect(found):
    unseeded = "torch.tensor(list(__import__('os').urandom(16 * N))).float().view(N, 16)"
    tail = TAIL.replace("torch.randn(N, 16)", unseeded)
    assert "the same seed gives different inputs" in found("torch.relu(self.linear(x))", tail=tail)[Defect.UNSEEDED]


def test_same_inputs_in_every_draw_are_the_cause(found):
    tail = TAIL.replace("torch.randn(N, 16)", "torch.randn(N, 16, generator=torch.Generator().manual_seed(0))")
    text = found("torch.relu(x)", layers="", tail=tail)[Defect.INPUT_INDEPENDENT]
    assert text == "every draw has the same inputs, so a stored answer passes in every case"


def test_tensors_in_dict_are_audited(found):
    tail = TAIL.replace("torch.randn(N, 16)", '{"x": torch.randn(N, 16), "mask": torch.randn(N)}')
    text = found('torch.relu(given["x"])', layers="", arguments="given", tail=tail)
    assert text == {Defect.SHORT_CUT: "given['mask'] has no influence on the answer: a kernel that ignores it passes"}


def test_bias_before_normalisation_is_short_cut(found):
    text = found("torch.nn.functional.layer_norm(self.linear(x).T, (N,))")[Defect.SHORT_CUT]
    assert text == "linear.bias has no influence on the answer: a kernel that ignores it passes"


def test_sum_of_product_is_short_cut(found):
    layers = LAYERS.replace("nn.Linear(16, 32)", "nn.Linear(16, 32, bias=False)")
    text = found("self.linear(x).sum(dim=1, keepdim=True)", layers=layers)[Defect.SHORT_CUT]
    assert text.startswith("only the mean of linear.weight over dimension 0 has influence on the answer")


def test_unused_input_is_short_cut(found):
    tail = TAIL.replace("[torch.randn(N, 16)]", "[torch.randn(N, 16), torch.randn(N)]")
    text = found("torch.relu(x)", layers="", arguments="x, mask", tail=tail)[Defect.SHORT_CUT]
    assert text == "mask has no influence on the answer: a kernel that ignores it passes"
