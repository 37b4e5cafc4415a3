"""Outputs of few elements, which may be near zero by chance: an honest answer is right on every draw."""

from __future__ import annotations

import pytest
import torch

from engine.judge.inputs.outputs import eager_outputs, expected_outputs
from problems.rules.trial import within
from tests.operators import definition

NEAR_ZERO = [
    ("aten::bmm", "1x1x32x1 f32", 51),
    ("aten::diff", "16 n 15 dim -1 f32", 269),
    ("aten::linear", "1x33 to 1 f32 bias false", 256),
    ("aten::logit", "scalar f32", 82),
    ("aten::mean", "1x20001 dims -1 f32", 130),
    ("aten::mean", "13x65 f32 expanded", 228),
    ("aten::mish_backward", "scalar f32", 238),
    ("aten::upsample_nearest2d_backward", "1x1x1x1 from 3x5 f32", 19),
    ("cublas::cublasSgeam", "1x1 NN", 220),
    ("cublas::cublasSgemvBatched", "3x 3x1025 N inc 1 1 beta 0.5", 104),
    ("cublas::cublasSger_v2", "1x1 inc 1 1", 140),
    ("vllm::ggml_mul_mat_a8", "2x512x1 type 2 f16 normal", 174),
    ("vllm::ggml_mul_mat_vec_a8", "1x32x1 type 2 f16 normal", 80),
    ("vllm::merge_attn_states", "1x1x32 f32", 246),
]
"""Draws of an output so near zero that its own size allows less than one rounding of what it is made of."""


@pytest.mark.parametrize(("name", "case_name", "seed"), NEAR_ZERO)
def test_correct_output_near_zero_passes(name: str, case_name: str, seed: int) -> None:
    problem = definition(name)
    case = next(case for case in problem.cases if case.name == case_name)
    inputs = problem.make_inputs(case, torch.Generator().manual_seed(seed))
    expected, got = expected_outputs(problem, inputs), eager_outputs(problem, inputs)
    tolerance = problem.tolerance(case)
    assert all(within(tolerance, *pair) for pair in zip(got, expected, strict=True))
