import torch


def div(input, other, *, rounding_mode=None, out=None):
    return torch.div(input, other, rounding_mode=rounding_mode, out=out)

##################################################################################################################################################

import os
import sys

sys.path.append(os.path.abspath("utils"))
sys.path.append(os.path.abspath(os.path.join(os.path.dirname(__file__), "../../../utils")))
import torch
from data_utils import rand_tensor


def test_div():
    results = {}
    a = torch.tensor([6.0, -7.0, 8.5], device="cuda")
    b = torch.tensor([2.0, 2.0, -4.0], device="cuda")
    results["plain"] = div(a, b)
    results["floor"] = div(a, b, rounding_mode="floor")
    results["whole"] = div(torch.tensor([7, 8], device="cuda"), 2, rounding_mode="trunc")
    try:
        results["mode"] = div(a, b, rounding_mode="up")
    except Exception as error:
        results["mode"] = str(error)
    return results


test_results = test_div()
