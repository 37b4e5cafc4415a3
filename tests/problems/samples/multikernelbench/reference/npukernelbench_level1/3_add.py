import json
import os

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, y, alpha=1.0):
        return torch.add(x, y, alpha=alpha)


def get_input_groups():
    path = os.path.join(os.path.dirname(__file__), "3_add.json")
    with open(path) as file:
        cases = [json.loads(line) for line in file if line.strip()]
    groups = []
    for case in cases:
        x, y, alpha = case["inputs"]
        groups.append(
            [
                torch.randn(x["shape"], dtype=getattr(torch, x["dtype"])),
                torch.randn(y["shape"], dtype=getattr(torch, y["dtype"])),
                alpha["value"],
            ]
        )
    return groups


def get_init_inputs():
    return []
