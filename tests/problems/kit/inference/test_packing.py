"""Packed words, worked out by hand and unpacked again."""

from __future__ import annotations

import pytest
import torch

from problems.kit.inference.packing import EVEN_BEFORE_ODD, pack, unpack

ONE_TO_EIGHT = torch.arange(1, 9).unsqueeze(0)


def test_gptq_word_holds_neighbours_from_lowest_bits():
    assert pack(ONE_TO_EIGHT, 4).item() == 0x87654321 - 2**32
    assert pack(torch.tensor([[1, 2, 3, 4]]), 8).item() == 0x04030201


def test_awq_word_holds_even_before_odd_neighbours():
    assert pack(ONE_TO_EIGHT, 4, order=EVEN_BEFORE_ODD).item() == 0x86427531 - 2**32


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("order", [None, EVEN_BEFORE_ODD])
def test_unpack_returns_packed_values(bits, dim, order):
    values = torch.randint(0, 2**bits, (16, 24), generator=torch.Generator().manual_seed(1))
    order = order[: 32 // bits] if order and bits == 4 else None
    assert unpack(pack(values, bits, dim=dim, order=order), bits, dim=dim, order=order).equal(values)
