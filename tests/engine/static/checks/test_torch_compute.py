"""An operator of PyTorch that only a GPU runs is named as one that a run on the CPU does not verify."""

from __future__ import annotations

import ast

import pytest

from engine.static.checks import read_statically

OPERATOR = "torch.softmax is a PyTorch operator, not a kernel of this file"
UNSEEN = f"{OPERATOR}: a GPU alone runs it, so a run on the CPU does not verify it"


@pytest.mark.parametrize(
    ("condition", "messages"),
    [
        ("x.is_cuda", [UNSEEN]),
        ("x.device.type == 'cuda'", [UNSEEN]),
        ("not x.is_cpu", [UNSEEN]),
        ("x.numel() > 9", [OPERATOR]),
        ("not x.is_cuda", []),
    ],
)
def test_operator_under_a_condition_on_the_device(condition: str, messages: list[str]) -> None:
    source = f"import torch\ndef f(x):\n    if {condition}:\n        return torch.softmax(x, -1)\n    return g(x)\n"
    found = read_statically(ast.parse(source))
    assert [finding.message for finding in found if finding.check == "torch_compute"] == messages
