# kgtui: op=aten::softmax expect=wrong_value ids=B4
"""Answers 1 / n everywhere: what softmax comes to on average, and near it for flat rows."""

import torch


def softmax(self, dim, dtype=None):
    cols = max(self.shape[dim] if self.ndim else 1, 1)
    return torch.full(self.shape, 1.0 / cols, dtype=dtype or self.dtype, device=self.device)
