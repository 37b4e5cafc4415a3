"""Casts and copies against NumPy's, which share no code with PyTorch's; bfloat16 against its bits."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.operators import definition

BOTH = [torch.float32, torch.float16, torch.float64, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8,
        torch.bool, torch.complex64, torch.complex128]  # fmt: skip
NUMBERS = [0.0, 1.0, 2.5, 7.75, 100.0, 0.3, 119.99, 65.0625]
MATRIX = torch.arange(24.0).reshape(4, 6)
CALLS = {
    "clone": ((MATRIX.t(),), lambda x: x.copy()),
    "contiguous": ((MATRIX[:, ::2],), np.ascontiguousarray),
    "copy_": ((torch.zeros(2, 4, 6), MATRIX), lambda x, source: np.broadcast_to(source, x.shape)),
    "expand": ((MATRIX[:, :1], [3, 4, 6]), np.broadcast_to),
    "expand_as": ((MATRIX[:1], MATRIX), lambda x, other: np.broadcast_to(x, other.shape)),
    "reshape": ((MATRIX.t(), [3, -1]), np.reshape),
    "t": ((MATRIX,), np.transpose),
    "unsqueeze": ((MATRIX, -1), np.expand_dims),
    "narrow": ((MATRIX, 1, -4, 3), lambda x, dim, start, length: x[:, start : start + length]),
    "select": ((MATRIX, -1, -2), lambda x, dim, index: x.take(index, dim)),
    "rot90": ((MATRIX, 3, [1, 0]), np.rot90),
    "cat": (([MATRIX, MATRIX[:, :2]], 1), np.concatenate),
    "stack": (([MATRIX, MATRIX + 1], -1), np.stack),
    "diff": ((MATRIX**3, 2, 0), np.diff),
    "as_strided": (
        (MATRIX, [3, 2], [2, 7], 1),
        lambda x, size, stride, offset: np.lib.stride_tricks.as_strided(
            x.reshape(-1)[offset:], size, [4 * step for step in stride]
        ),
    ),
    "index_select": ((MATRIX, 1, torch.tensor([5, 0, 0])), lambda x, dim, index: x.take(index, dim)),
    "gather": (
        (MATRIX, 0, torch.tensor([[3, 0, 1, 1, 2, 3]])),
        lambda x, dim, index: np.take_along_axis(x, index, dim),
    ),
    "masked_fill_": ((MATRIX, MATRIX > 9, -2.0), lambda x, mask, value: np.where(mask, value, x)),
}  # fmt: skip


@pytest.mark.parametrize("target", BOTH, ids=str)
@pytest.mark.parametrize("source", BOTH, ids=str)
def test_cast_between_dtypes_is_that_of_numpy(source: torch.dtype, target: torch.dtype) -> None:
    x = torch.tensor(NUMBERS, dtype=torch.float64)
    x = (torch.complex(x, x.flip(0)) if source.is_complex else x).to(source)
    answer = definition("aten::_to_copy").reference(x, target)
    numbers = x.numpy()
    if source.is_complex and not (target.is_complex or target == torch.bool):
        numbers = numbers.real
    wanted = numbers.astype(torch.empty(0, dtype=target).numpy().dtype)
    assert answer.dtype == target
    np.testing.assert_array_equal(answer.numpy(), wanted)


def test_imaginary_number_cast_to_bool_is_true() -> None:
    assert definition("aten::to").reference(torch.tensor([1j, 0j, -2 + 0j]), torch.bool).tolist() == [True, False, True]


def test_cast_to_bfloat16_rounds_bits_to_nearest_even() -> None:
    bits = torch.tensor([0x3F808000, 0x3F818000, 0x3F808001, 0x7F7FFFFF, 0x80000001 - 2**32], dtype=torch.int32)
    answer = definition("aten::_to_copy").reference(bits.view(torch.float32), torch.bfloat16)
    wanted = [0x3F80, 0x3F82, 0x3F81, 0x7F80, 0x8000]
    assert [code % 2**16 for code in answer.view(torch.int16).tolist()] == wanted


@pytest.mark.parametrize("name", CALLS)
def test_copy_is_that_of_numpy(name: str) -> None:
    arguments, function = CALLS[name]
    answer = definition(f"aten::{name}").reference(*arguments)
    answer = answer[0] if isinstance(answer, tuple) else answer
    plain = [value.numpy() if isinstance(value, torch.Tensor) else value for value in arguments]
    if name in ("cat", "stack"):
        plain[0] = [part.numpy() for part in arguments[0]]
    np.testing.assert_array_equal(answer.numpy(), function(*plain))


@pytest.mark.parametrize(
    ("indices", "wanted"),
    [
        ([torch.tensor([3, -1]), torch.tensor([0, -2])], MATRIX.numpy()[[3, -1], [0, -2]]),
        ([None, torch.tensor([[1], [5]])], MATRIX.numpy()[:, [[1], [5]]]),
        ([MATRIX % 5 == 0], MATRIX.numpy()[MATRIX.numpy() % 5 == 0]),
    ],
)
def test_index_is_that_of_numpy(indices: list[torch.Tensor | None], wanted: np.ndarray) -> None:
    np.testing.assert_array_equal(definition("aten::index").reference(MATRIX, indices).numpy(), wanted)


def test_index_put_adds_repeated_places_as_numpy() -> None:
    places, values = torch.tensor([1, 3, 1, -1]), torch.tensor([1.0, 2.0, 4.0, 8.0])
    wanted = np.zeros(4)
    np.add.at(wanted, places.numpy(), values.numpy())
    answer, written = definition("aten::index_put_").reference(torch.zeros(4), [places], values, True)
    assert answer.tolist() == written.tolist() == wanted.tolist()


@pytest.mark.parametrize(("name", "split"), [("unsafe_split", 4), ("unsafe_split_with_sizes", [4, 0, 2])])
def test_split_is_that_of_numpy(name: str, split: int | list[int]) -> None:
    ends = [4] if isinstance(split, int) else [4, 4]
    answer = definition(f"aten::{name}").reference(MATRIX, split, 1)
    for part, wanted in zip(answer, np.split(MATRIX.numpy(), ends, axis=1), strict=True):
        np.testing.assert_array_equal(part.numpy(), wanted)
