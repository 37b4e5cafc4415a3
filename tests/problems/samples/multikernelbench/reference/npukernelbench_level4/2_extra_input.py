import json
import os

import torch
import torch.nn as nn


class Model(nn.Module):
    """The rows of its data have one input more than it takes."""

    def forward(self, x):
        return x.abs()


def get_input_groups():
    path = os.path.join(os.path.dirname(__file__), "2_extra_input.json")
    with open(path) as file:
        rows = [json.loads(line) for line in file]
    return [[torch.randn(entry["shape"]) for entry in row["inputs"]] for row in rows]


def get_init_inputs():
    return []
