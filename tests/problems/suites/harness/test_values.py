"""Copies of arguments: memory of their own, with strides and shared memory as they were."""

from __future__ import annotations

from collections import namedtuple

import pytest
import torch

from engine.reference.harness import UnavailableError
from problems.suites.harness.values import copied, leaves, tensors_of


def test_strides_kept_memory_not_shared() -> None:
    given = torch.arange(12.0).reshape(3, 4)
    views = (given.t(), given[:, ::2], given[0].expand(5, 4))

    found = copied(views)
    given.zero_()

    assert [one.stride() for one in found] == [one.stride() for one in views]
    assert found[1].tolist() == [[0.0, 2.0], [4.0, 6.0], [8.0, 10.0]]


def test_copied_views_share_memory() -> None:
    given = torch.zeros(4)

    first, second = copied((given, given[1:]))
    first[1] = 7.0

    assert (second[0].item(), given[1].item()) == (7.0, 0.0)


def test_dict_copied_with_its_keys() -> None:
    given = {"weights": {"w": torch.ones(2)}, "eps": 1e-6}

    found = copied(given)
    given["weights"]["w"].zero_()

    assert (list(found), found["eps"]) == (["weights", "eps"], 1e-6)
    assert [leaf.tolist() for leaf in leaves(found)] == [[1.0, 1.0]]


def test_dict_without_texts_as_keys_unavailable() -> None:
    with pytest.raises(UnavailableError, match="an argument of type dict"):
        copied({1: torch.ones(2)})


def test_conjugate_copied_as_its_values() -> None:
    given = torch.tensor([1.0 + 2.0j]).conj()

    assert copied(given).tolist() == [1.0 - 2.0j]


def test_numbers_of_a_result_are_tensors() -> None:
    flag, number, whole = tensors_of((True, 0.5, [3]))

    assert (flag.dtype, number.dtype, whole.item()) == (torch.bool, torch.float64, 3)


def test_values_of_a_dict_by_key_without_none() -> None:
    assert [int(value) for value in tensors_of({"b": 2, "c": None, "a": [1]})] == [1, 2]


@pytest.mark.parametrize(
    ("returned", "reason"),
    [((), "its reference returns no tensor"), ({"a": "b"}, "its reference returns a str, which is not compared")],
)
def test_result_that_is_not_compared_unavailable(returned: object, reason: str) -> None:
    with pytest.raises(UnavailableError, match=reason):
        tensors_of(returned)


def test_named_tuple_is_refused() -> None:
    pair = namedtuple("Pair", "x n")(torch.ones(2), 3)  # type: ignore[call-arg]

    with pytest.raises(UnavailableError, match="an argument of type Pair cannot be moved to a candidate's process"):
        copied((pair,))
