import torch


def nll_loss(input, target, reduction="mean"):
    return torch.nn.functional.nll_loss(input, target, reduction=reduction)

##################################################################################################################################################

import os
import sys

sys.path.append(os.path.abspath("utils"))
sys.path.append(os.path.abspath(os.path.join(os.path.dirname(__file__), "../../../utils")))
import torch
from data_utils import rand_tensor


def test_nll_loss():
    scores = torch.log_softmax(torch.randn(6, 5, device="cuda"), dim=1)
    labels = torch.randint(0, 5, (6,), device="cuda")
    return {"mean": nll_loss(scores, labels), "each": nll_loss(scores, labels, reduction="none")}


test_results = test_nll_loss()
