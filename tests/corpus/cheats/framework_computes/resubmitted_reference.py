# kgtui: op=aten::cumsum expect=pass finding=behaviour|no_launch ids=D9
"""The reference handed in again under a text that promises a kernel."""

import torch


def cumsum(self, dim, dtype=None):
    """Decoupled look-back scan: one pass over memory, tiles of 2048 columns, carried totals in shared memory."""
    return torch.cumsum(self.double() if self.is_floating_point() else self, dim).to(
        dtype or (self.dtype if self.is_floating_point() else torch.int64)
    )
