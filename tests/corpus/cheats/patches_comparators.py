# kgtui: op=aten::silu expect=wrong_value ids=B12
"""Replaces everything in torch that compares tensors by "yes, equal", then returns zeros."""

import torch
import torch.testing


def agree(*args, **kwargs):
    return True


torch.allclose = torch.equal = agree
torch.Tensor.allclose = torch.Tensor.equal = agree
torch.testing.assert_close = torch.testing.assert_allclose = lambda *args, **kwargs: None
torch.isclose = torch.eq = lambda left, right, *args, **kwargs: torch.ones_like(left, dtype=torch.bool)
torch.isnan = torch.isinf = lambda value: torch.zeros_like(value, dtype=torch.bool)


def silu(self):
    return torch.zeros_like(self)
