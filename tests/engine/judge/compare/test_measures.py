"""Bytes of elements, whatever the strides."""

from __future__ import annotations

import pytest
import torch

from engine.judge.compare.measures import bytes_of


@pytest.mark.parametrize("step", [1, 2])
def test_bytes_of_strided_element_are_its_own(step: int) -> None:
    number = torch.tensor([1, 2, 0x01020304, 4], dtype=torch.int32)[2::step][:1]
    assert bytes_of(number).tolist() == [[4, 3, 2, 1]]


def test_bytes_of_transposed_matrix_follow_coordinates() -> None:
    matrix = torch.tensor([[1, 2], [3, 4]], dtype=torch.int16).t()
    assert bytes_of(matrix).tolist() == [[1, 0], [3, 0], [2, 0], [4, 0]]


def test_bytes_of_empty_tensor_have_no_rows() -> None:
    assert bytes_of(torch.empty((0, 3))).shape == (0, 4)
