"""A quarter turn, in both styles of pairing."""

from __future__ import annotations

import pytest
import torch

from problems.vllm.rotary_embedding import reference

NO_TURN, QUARTER_TURN = [1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]
CACHE = torch.tensor([NO_TURN, QUARTER_TURN])
HEAD = torch.tensor([[[1.0, 2.0, 3.0, 4.0]]])


@pytest.mark.parametrize(("is_neox", "turned"), [(True, [-3.0, -4.0, 1.0, 2.0]), (False, [-2.0, 1.0, -4.0, 3.0])])
def test_pairs_are_halves_in_neox_and_neighbours_otherwise(is_neox: bool, turned: list[float]) -> None:
    query, key = reference(torch.tensor([1]), HEAD, 2 * HEAD, 4, CACHE, is_neox)
    assert query.tolist() == [[turned]]
    assert key.tolist() == [[[2 * x for x in turned]]]


def test_each_token_turns_by_its_own_position() -> None:
    (query,) = reference(torch.tensor([0, 1]), HEAD.repeat(2, 1, 1), None, 4, CACHE, True)
    assert query.tolist() == [[[1.0, 2.0, 3.0, 4.0]], [[-3.0, -4.0, 1.0, 2.0]]]


def test_elements_beyond_the_table_stay() -> None:
    short = torch.tensor([[0.0, 1.0]])
    (query,) = reference(torch.tensor([0]), HEAD, None, 4, short, True)
    assert query.tolist() == [[[-2.0, 1.0, 3.0, 4.0]]]
