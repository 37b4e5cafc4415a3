# kgtui: op=aten::new_empty_strided expect=pass
"""An allocation with the options of self; its extent is computed here, and the strides are laid over flat memory."""

import torch


def new_empty_strided(self, size, stride, dtype=None):
    extent = 1 + sum((length - 1) * step for length, step in zip(size, stride)) if 0 not in size else 0
    memory = torch.empty(extent, dtype=dtype or self.dtype, device=self.device)
    return memory.as_strided(size, stride)
