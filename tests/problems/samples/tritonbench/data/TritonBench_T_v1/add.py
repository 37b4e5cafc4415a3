import torch


def add(input, other, *, alpha=1, out=None):
    return torch.add(input, other, alpha=alpha, out=out)

##################################################################################################################################################


import torch

def test_add():
    results = {}
    results["numbers"] = add(torch.tensor([1., 2.], device='cuda'), torch.tensor([3., 4.], device='cuda'))
    results["number"] = add(torch.tensor([1., 2.], device='cuda'), 4)
    results["alpha"] = add(torch.tensor([1, 2], device='cuda'), torch.tensor([3, 4], device='cuda'), alpha=2)
    return results

test_results = test_add()
