"""Losses, gradients and reductions against PyTorch's own operators in float64, which their references do not use."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.operators import definition

ROWS = torch.tensor([[-2.5, 0.25, 3.0, 0.75], [1.5, -0.125, -40.0, 0.0]], dtype=torch.float64)
OTHER = torch.tensor([[0.5, 0.25, -1.0, 0.125], [2.0, 0.875, 0.5, -3.0]], dtype=torch.float64)
SHARE = OTHER.sigmoid()
SIGNS = torch.tensor([[1.0, -1.0, -1.0, 1.0], [1.0, 1.0, -1.0, -1.0]], dtype=torch.float64)
ops = torch.ops.aten
CALLS: dict[str, tuple[Callable[..., torch.Tensor], list[tuple[Any, ...]]]] = {
    "huber_loss": (ops.huber_loss, [(ROWS, OTHER, r, delta) for r in range(3) for delta in (0.5, 2.0)]),
    "soft_margin_loss": (ops.soft_margin_loss, [(ROWS, SIGNS, r) for r in range(3)]),
    "margin_ranking_loss": (ops.margin_ranking_loss, [(ROWS, OTHER, SIGNS, 0.5, r) for r in range(3)]),
    "binary_cross_entropy_with_logits": (
        ops.binary_cross_entropy_with_logits,
        [(ROWS, SHARE, w, positive, r) for r in range(3) for w in (None, SHARE[0]) for positive in (None, SHARE)],
    ),
    "mish_backward": (ops.mish_backward, [(OTHER, ROWS)]),
    "softplus_backward": (ops.softplus_backward, [(OTHER, ROWS, 2.0, 5.0), (OTHER, ROWS, 0.5, 20.0)]),
    "log_sigmoid_backward": (ops.log_sigmoid_backward, [(OTHER, ROWS, torch.exp(-ROWS.abs()))]),
    "smooth_l1_loss_backward": (
        ops.smooth_l1_loss_backward,
        [(OTHER, ROWS, SHARE, 0, 0.5), (OTHER[0, 0], ROWS, SHARE, 1, 2.0), (OTHER[0, 0], ROWS, SHARE, 2, 1.0)],
    ),
    "prelu": (torch.prelu, [(ROWS, OTHER[0]), (ROWS, OTHER[0, :1])]),
    "_softmax": (ops._softmax, [(ROWS, dim, False) for dim in (0, 1, -1)]),
    "renorm": (torch.renorm, [(ROWS, p, dim, 1.5) for p in (1.0, 2.0, 3.0) for dim in (0, 1)]),
    "amin": (torch.amin, [(ROWS, dims, kept) for dims in ([], [0], [-1], [0, 1]) for kept in (False, True)]),
    "argmax": (torch.argmax, [(ROWS, dim, kept) for dim in (None, 0, 1) for kept in (False, True)]),
    "mean": (torch.mean, [(ROWS, dims, kept) for dims in ([0], [-1], [0, 1]) for kept in (False, True)]),
    "pairwise_distance": (
        torch.nn.functional.pairwise_distance,
        [(ROWS, OTHER, p, 0.25, kept) for p in (1.0, 2.0, 3.0, math.inf) for kept in (False, True)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_reference_is_that_of_pytorch_in_float64(name: str) -> None:
    function, calls = CALLS[name]
    for arguments in calls:
        got = definition(f"aten::{name}").reference(*arguments)
        assert torch.allclose(got.double(), function(*arguments).double(), rtol=1e-12, atol=1e-15), arguments[1:]


@pytest.mark.parametrize(
    ("name", "forward"),
    [
        ("mish_backward", torch.nn.functional.mish),
        ("log_sigmoid_backward", torch.nn.functional.logsigmoid),
    ],
)
def test_gradient_is_that_of_automatic_differentiation(
    name: str, forward: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    x = ROWS.clone().requires_grad_()
    (wanted,) = torch.autograd.grad(forward(x), x, OTHER)
    arguments = (OTHER, ROWS) if name == "mish_backward" else (OTHER, ROWS, torch.exp(-ROWS.abs()))
    assert torch.allclose(definition(f"aten::{name}").reference(*arguments), wanted, rtol=1e-12, atol=1e-15)


def test_minimum_and_argmax_return_first_nan() -> None:
    x = torch.tensor([[1.0, math.nan, math.inf, math.nan], [2.0, 2.0, -1.0, 2.0]])
    assert definition("aten::amin").reference(x, [1]).isnan().tolist() == [True, False]
    assert definition("aten::argmax").reference(x, 1).tolist() == [1, 0]


def test_index_of_maximum_is_in_row_major_order() -> None:
    x = torch.tensor([[1, 5], [5, 2]]).t()
    assert definition("aten::argmax").reference(x).item() == 1
