"""Kernels of the corpus on the machine: right, and without a finding."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
import torch

from engine.model import Tier
from tests.engine.machine.launching import launching
from tests.operators import definition

HONEST = Path(__file__).parents[2] / "corpus" / "honest"
FILES = {
    "aten::add": "add",
    "aten::cumsum": "cumsum_look_back",
    "aten::embedding": "embedding",
    "aten::gather": "gather",
    "aten::mm": "mm_descriptor_cache",
    "aten::silu": "silu_libdevice",
    "aten::softmax": "softmax_three_passes",
    "aten::sum": "sum_last_program",
}


@pytest.mark.parametrize("operator", FILES)
def test_honest_kernel_is_right_without_findings(operator):
    problem = definition(operator)
    path = HONEST / f"{FILES[operator]}.py"
    spec = importlib.util.spec_from_file_location(f"machine_{path.stem}", path)
    candidate = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = candidate
    case = next(case for case in problem.cases if case.tier is Tier.SMOKE)
    arguments = problem.make_inputs(case, torch.Generator().manual_seed(1))
    expected = problem.reference(*arguments)
    with launching() as launched:
        spec.loader.exec_module(candidate)
        output = getattr(candidate, problem.entry)(*arguments)
    torch.testing.assert_close(output, expected, rtol=1e-4, atol=1e-4)
    assert launched.executions
    assert [finding.message for execution in launched.executions for finding in execution.findings] == []
