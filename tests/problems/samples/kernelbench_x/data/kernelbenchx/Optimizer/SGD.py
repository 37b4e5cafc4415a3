import torch


def SGD(model, input, target, loss_fn, lr=0.1):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    optimizer.zero_grad()
    loss = loss_fn(model(input), target)
    loss.backward()
    optimizer.step()
    return loss

##################################################################################################################################################

import os
import sys

sys.path.append(os.path.abspath("utils"))
sys.path.append(os.path.abspath(os.path.join(os.path.dirname(__file__), "../../../utils")))
import torch
from data_utils import rand_tensor


def test_SGD():
    model = torch.nn.Linear(4, 1).cuda()
    loss = SGD(model, torch.randn(5, 4).cuda(), torch.randn(5, 1).cuda(), torch.nn.MSELoss())
    return {"loss": loss.item()}


test_results = test_SGD()
