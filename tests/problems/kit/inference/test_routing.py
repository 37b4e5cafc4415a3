"""Pairs by expert, and lists whose order inside of an expert is free."""

from __future__ import annotations

import torch

from problems.kit.inference.routing import aligned, block_bounds, out_of_place


def test_pairs_are_listed_by_expert_and_padded():
    listed, owners = aligned(torch.tensor([[2, 0], [2, 2], [5, 0]]), 3, 2)
    assert listed.tolist() == [1, 5, 0, 2, 3, 6]
    assert owners.tolist() == [0, 2, 2]


def test_bounds_join_the_blocks_of_an_expert():
    assert block_bounds(torch.tensor([0, 2, 2, 7]), 4) == [(0, 4), (4, 12), (12, 16)]


def test_order_is_free_inside_of_bounds_only():
    wanted = torch.tensor([1, 5, 0, 2, 3, 6])
    assert not out_of_place(torch.tensor([5, 1, 3, 6, 0, 2]), wanted, [(0, 2), (2, 6)]).any()
    assert out_of_place(torch.tensor([0, 5, 1, 2, 3, 6]), wanted, [(0, 2), (2, 6)]).sum() == 2
    assert not out_of_place(torch.tensor([1, 5, 9, 9, 9, 9]), wanted, [(0, 2)]).any()
