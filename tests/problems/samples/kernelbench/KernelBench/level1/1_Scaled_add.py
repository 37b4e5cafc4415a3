import torch
import torch.nn as nn


class Model(nn.Module):
    """Adds a scaled tensor."""

    def __init__(self, scale: float):
        super().__init__()
        self.scale = scale

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + self.scale * y


batch_size = 64
dim = 1024 * 16


def get_inputs():
    return [torch.rand(batch_size, dim), torch.rand(batch_size, dim)]


def get_init_inputs():
    return [0.5]
