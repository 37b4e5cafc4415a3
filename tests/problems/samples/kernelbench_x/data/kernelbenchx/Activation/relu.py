import torch


def relu(input, inplace=False):
    return torch.nn.functional.relu(input, inplace=inplace)

##################################################################################################################################################

import os
import sys

sys.path.append(os.path.abspath("utils"))
sys.path.append(os.path.abspath(os.path.join(os.path.dirname(__file__), "../../../utils")))
import torch
from data_utils import rand_tensor


def test_relu():
    results = {}
    results["negative"] = relu(torch.tensor([-1.0, 0.0, 2.0], device="cuda"))
    results["in_place"] = relu(torch.tensor([[-3.0], [4.0]]).cuda(), inplace=True)
    for mode in ("standard", "outlier"):
        outputs = []
        for shape in ((8, 16), (4, 5, 6)):
            x = rand_tensor(shape, dtype=torch.float32, mode=mode, outlier_prob=0.1)
            outputs.append(relu(x))
        results[f"random_{mode}"] = outputs
    return results


test_results = test_relu()
