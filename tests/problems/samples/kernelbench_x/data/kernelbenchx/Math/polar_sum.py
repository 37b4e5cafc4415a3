import torch


def polar_sum(input):
    total = input.sum(dim=-1)
    return total.abs(), total

##################################################################################################################################################

import os
import sys

sys.path.append(os.path.abspath("utils"))
sys.path.append(os.path.abspath(os.path.join(os.path.dirname(__file__), "../../../utils")))
import torch
from data_utils import rand_tensor


def test_polar_sum():
    real = torch.randn(4, 8, device="cuda")
    return {"complex": polar_sum(torch.complex(real, -real)), "real": polar_sum(real)}


test_results = test_polar_sum()
