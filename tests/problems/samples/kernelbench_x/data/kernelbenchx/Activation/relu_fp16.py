import torch


def relu_fp16(input):
    return torch.relu(input)

##################################################################################################################################################

import os
import sys

sys.path.append(os.path.abspath("utils"))
sys.path.append(os.path.abspath(os.path.join(os.path.dirname(__file__), "../../../utils")))
import torch
from data_utils import rand_tensor


def test_relu_fp16():
    return {"random": relu_fp16(torch.randn(8, device="cuda", dtype=torch.float16))}


test_results = test_relu_fp16()
