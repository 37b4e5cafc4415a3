import torch
import torch.nn.functional as F


def fused_linear_dropout(input, weight, p=0.5, training=True):
    product = F.linear(input, weight)
    return F.dropout(product, p=p, training=training)

##################################################################################################################################################

import os
import sys

sys.path.append(os.path.abspath("utils"))
sys.path.append(os.path.abspath(os.path.join(os.path.dirname(__file__), "../../../utils")))
import torch
from data_utils import rand_tensor


def test_fused_linear_dropout():
    outputs = [fused_linear_dropout(torch.randn(4, 8, device="cuda"), torch.randn(3, 8, device="cuda"))]
    outputs.append(fused_linear_dropout(torch.randn(4, 8).cuda(), torch.randn(3, 8).cuda(), training=False))
    return outputs


test_results = test_fused_linear_dropout()
