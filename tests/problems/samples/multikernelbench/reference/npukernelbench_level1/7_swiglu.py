import torch
import torch.nn as nn
import torch_npu


class Model(nn.Module):
    def forward(self, x):
        return torch_npu.npu_swiglu(x)


def get_input_groups():
    return [[torch.randn(8, 16)]]


def get_init_inputs():
    return []
