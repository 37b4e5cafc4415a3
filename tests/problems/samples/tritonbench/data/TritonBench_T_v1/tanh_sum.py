import torch


def tanh_sum(input: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """
    Example:
        >>> from tanh_sum import tanh_sum
    """
    squashed = torch.tanh(input)
    return squashed.sum(dim=dim)

##################################################################################################################################################


import torch
from tanh_sum import tanh_sum


def test_tanh_sum():
    results = {}

    input1 = torch.randn(5, 3, device='cuda')
    results["test_case_1"] = tanh_sum(input1)

    input2 = torch.randn(2, 4, device='cuda')
    results["test_case_2"] = tanh_sum(input2, dim=0)

    return results

test_results = test_tanh_sum()
