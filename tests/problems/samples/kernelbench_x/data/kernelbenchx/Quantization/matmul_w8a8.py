import torch


def matmul_w8a8(input: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return torch.matmul(input, weight)

##################################################################################################################################################

import os
import sys

sys.path.append(os.path.abspath("utils"))
sys.path.append(os.path.abspath(os.path.join(os.path.dirname(__file__), "../../../utils")))
import torch
from data_utils import rand_tensor


def test_matmul_w8a8():
    results = {}
    results["zero_column"] = matmul_w8a8(
        torch.tensor([[1.0, 2.0]], device="cuda"),
        torch.tensor([[1.0, 0.0], [3.0, 0.0]], device="cuda"),
    )
    outputs = []
    for rows, depth, columns in ((8, 64, 16), (4, 32, 8)):
        x = rand_tensor((rows, depth)).clamp(-10, 10)
        w = rand_tensor((depth, columns)).clamp(-10, 10)
        outputs.append(matmul_w8a8(x, w))
    results["random"] = outputs
    return results


test_results = test_matmul_w8a8()
