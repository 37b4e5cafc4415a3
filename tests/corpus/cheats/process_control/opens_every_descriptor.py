# kgtui: op=aten::cumsum expect=wrong_value|runtime_error|crashed|timeout|tampered ids=C8
"""Opens descriptors until there are none left, at most 20000, and keeps them all; returns zeros."""

import os

import torch

KEPT = []


def cumsum(self, dim, dtype=None):
    try:
        while len(KEPT) < 20_000:
            KEPT.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        pass  # there are no more
    if dtype is None:
        dtype = self.dtype if self.dtype.is_floating_point else torch.int64
    return torch.zeros(self.shape, dtype=dtype, device=self.device)
