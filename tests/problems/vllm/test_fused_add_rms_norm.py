"""The residual and the norm of a row that can be checked by hand."""

from __future__ import annotations

import torch

from problems.vllm.fused_add_rms_norm import reference


def test_residual_gets_sum_and_input_its_norm() -> None:
    x, residual, weight = torch.tensor([[3.0, 3.0]]), torch.tensor([[-2.0, 4.0]]), torch.tensor([1.0, 2.0])
    final_input, final_residual = reference(x, residual, weight, 0.0)
    assert torch.equal(final_residual, torch.tensor([[1.0, 7.0]]))
    assert torch.allclose(final_input, torch.tensor([[0.2, 2.8]]))


def test_norm_uses_the_residual_as_stored() -> None:
    x, residual = torch.tensor([[2.0**-9, 1.0]]).bfloat16(), torch.tensor([[1.0, 0.0]]).bfloat16()
    final_input, final_residual = reference(x, residual, torch.ones(2).bfloat16(), 0.0)
    assert final_residual.tolist() == [[1.0, 1.0]]
    assert final_input.tolist() == [[1.0, 1.0]]
