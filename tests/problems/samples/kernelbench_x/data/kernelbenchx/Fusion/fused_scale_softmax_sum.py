import torch


def fused_scale_softmax_sum(input, scale=1.0, dim=-1):
    scaled = input * scale
    weights = torch.softmax(scaled, dim=dim)
    weighted = weights * input
    return weighted.sum(dim=dim)

##################################################################################################################################################

import os
import sys

sys.path.append(os.path.abspath("utils"))
sys.path.append(os.path.abspath(os.path.join(os.path.dirname(__file__), "../../../utils")))
import torch
from data_utils import rand_tensor


def test_fused_scale_softmax_sum():
    results = {}
    results["default"] = fused_scale_softmax_sum(torch.randn(4, 6, device="cuda"))
    for scale in (0.5, 2.0):
        x = rand_tensor((8, 32), mode="standard")
        results[f"scale_{scale}"] = fused_scale_softmax_sum(x, scale=scale, dim=1)
    return results


test_results = test_fused_scale_softmax_sum()
