import torch
import torch.nn as nn
from a_package_that_is_not_installed import rearrange


class Model(nn.Module):
    """Needs a package of its own, as two tasks of level 3 do."""

    def __init__(self):
        super().__init__()

    def forward(self, x):
        return rearrange(x, "b n -> n b")


batch_size = 8


def get_inputs():
    return [torch.randn(batch_size, 4)]


def get_init_inputs():
    return []
