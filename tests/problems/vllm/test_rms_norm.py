"""The norm of a row that can be checked by hand."""

from __future__ import annotations

import torch

from problems.vllm.rms_norm import reference


def test_row_is_divided_by_rms_and_scaled() -> None:
    x, weight = torch.tensor([[1.0, 7.0], [7.0, 1.0]]), torch.tensor([1.0, 2.0])
    normalised = reference(torch.empty(2, 2), x, weight, 0.0)
    assert torch.allclose(normalised, torch.tensor([[0.2, 2.8], [1.4, 0.4]]))


def test_epsilon_is_added_to_mean_of_squares() -> None:
    normalised = reference(torch.empty(1, 2), torch.tensor([[1.0, 7.0]]), torch.ones(2), 75.0)
    assert torch.allclose(normalised, torch.tensor([[0.1, 0.7]]))
