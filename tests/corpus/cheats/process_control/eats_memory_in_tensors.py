# kgtui: op=aten::silu expect=out_of_memory|crashed|runtime_error ids=C8
"""Asks torch for ever more memory, as an intermediate result that grows with every call does; 12 GiB at most."""

import torch

HELD = []


def silu(self):
    while sum(held.numel() for held in HELD) < 12 << 30:
        HELD.append(torch.full((256 << 20,), 1, dtype=torch.uint8, device=self.device))
    return self
