"""A launch that stores only values that it was given moved them; one new value means that it computed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from engine.worker.launches.moves import before, only_moved

Launch = Callable[[torch.Tensor, torch.Tensor], object]


def moved(launch: Launch, x: torch.Tensor, y: torch.Tensor) -> bool:
    look = before((x, y, 3, None))
    launch(x, y)
    return only_moved(look)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_a_copy_to_any_type_only_moves(dtype: torch.dtype) -> None:
    assert moved(lambda x, y: y.copy_(x), torch.randn(20), torch.zeros(20, dtype=dtype))


def test_a_copy_of_part_only_moves() -> None:
    assert moved(lambda x, y: y[3:9].copy_(x[3:9]), torch.randn(20), torch.zeros(20))


def test_copy_to_other_shape_and_layout_only_moves() -> None:
    x = torch.randn(5, 4).t()
    assert moved(lambda x, y: y.copy_(x.reshape(-1)), x, torch.zeros(20))


def test_copy_of_case_memory_is_not_a_move() -> None:
    x, y = torch.randn(20), torch.zeros(9)
    look = before((x[3:12], y), case=[x.view(torch.uint8)])
    y.copy_(x[3:12])
    assert not only_moved(look)


def test_copy_between_tensors_of_tuple_only_moves() -> None:
    x, y = torch.randn(20), torch.zeros(20)
    look = before(((x, 3), (y,)))
    y.copy_(x)
    assert only_moved(look)


@pytest.mark.parametrize(("numbers", "reported"), [((0.1, 2.5), True), ((0.1,), False), ((), False), ((2,), False)])
def test_storing_a_given_number_only_moves(numbers: tuple[float, ...], reported: bool) -> None:
    y = torch.zeros(20)
    look = before((y, numbers))
    y[7] = 2.5 if reported else 2.0
    assert only_moved(look) is reported


@pytest.mark.parametrize("number", [0.0, 1.0])
def test_empty_product_is_not_a_given_number(number: float) -> None:
    y = torch.full((20,), 7.0)
    look = before((y, number))
    y.fill_(number)
    assert not only_moved(look)


def test_nonfinite_numbers_are_moved_like_others() -> None:
    x = torch.tensor([float("nan"), float("inf"), -float("inf"), 1.0])
    assert moved(lambda x, y: y.copy_(x), x, torch.zeros(4))


@pytest.mark.parametrize(
    "launch",
    [
        lambda x, y: y.copy_(2 * x),
        lambda x, y: y.copy_(x.sin()),
        lambda x, y: y.copy_(x.flip(0)),
        lambda x, y: (y.copy_(x), y[7].add_(0.001)),
    ],
)
def test_regenerated_or_other_storage_is_not_move(launch: Launch) -> None:
    assert not moved(launch, torch.randn(20), torch.zeros(20))


def test_launch_without_visible_change_is_not_move() -> None:
    assert not moved(lambda x, y: None, torch.randn(20), torch.zeros(20))


def test_of_several_outputs_each_has_to_be_moved() -> None:
    x, y, z = torch.randn(20), torch.zeros(20), torch.zeros(20)
    look = before((x, y, z))
    y.copy_(x)
    z.copy_(x.exp())
    assert not only_moved(look)


def test_integers_match_only_when_equal() -> None:
    x = torch.arange(1 << 40, (1 << 40) + 20)
    assert moved(lambda x, y: y.copy_(x), x, torch.zeros_like(x))
    assert not moved(lambda x, y: y.copy_(x + 1), x, torch.zeros_like(x))


def test_packed_words_of_equal_count_are_not_move() -> None:
    words = torch.randint(1 << 20, 1 << 30, (20,), dtype=torch.int32)  # infinities in float16
    assert not moved(lambda x, y: y.copy_(torch.randn(20)), words, torch.zeros(20, dtype=torch.float16))
