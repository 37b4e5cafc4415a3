import json
import os

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x.abs()


def get_input_groups():
    path = os.path.join(os.path.dirname(__file__), "9_no_data.json")
    with open(path) as file:
        return [[torch.randn(json.loads(line)["shape"])] for line in file]


def get_init_inputs():
    return []
