"""GGML blocks written byte by byte, and what they decode to."""

from __future__ import annotations

import struct

import torch

from problems.kit.inference.ggml import decoded, quantised_activations, row_bytes


def values_of(block: bytes, quant_type: int) -> list[float]:
    return decoded(torch.tensor(list(block), dtype=torch.uint8), quant_type, torch.float64).tolist()


def test_q8_0_is_a_scale_and_signed_bytes():
    block = struct.pack("<e32b", 0.5, *range(-16, 16))
    assert values_of(block, 8) == [code / 2 for code in range(-16, 16)]


def test_q4_0_stores_values_in_two_halves():
    codes = bytes(low | 15 - low << 4 for low in range(16))
    block = struct.pack("<e", 2.0) + codes
    assert values_of(block, 2) == [2.0 * (code - 8) for code in (*range(16), *reversed(range(16)))]


def test_q4_1_adds_an_offset():
    block = struct.pack("<ee", 0.25, -1.0) + bytes([0x21] * 16)
    assert values_of(block, 3) == [0.25 - 1.0] * 16 + [0.5 - 1.0] * 16


def test_q5_0_takes_fifth_bits_from_four_bytes():
    block = struct.pack("<eI", 1.0, 1 << 0 | 1 << 31) + bytes([0x53] * 16)
    assert values_of(block, 6) == [3.0, *[-13.0] * 15, *[-11.0] * 15, 5.0]


def test_q5_1_has_offset_and_fifth_bits():
    block = struct.pack("<eeI", 1.0, 0.5, 1 << 1) + bytes([0x10] * 16)
    assert values_of(block, 7) == [0.5, 16.5, *[0.5] * 14, *[1.5] * 16]


def test_row_bytes_count_the_blocks():
    assert {kind: row_bytes(kind, 64) for kind in (2, 3, 6, 7, 8)} == {2: 36, 3: 40, 6: 44, 7: 48, 8: 68}


def test_activations_are_rounded_by_127ths_of_their_largest():
    x = torch.zeros(1, 32)
    x[0, :3] = torch.tensor([127.0, 1.4, -2.6])
    assert quantised_activations(x)[0, :4].tolist() == [127.0, 1.0, -3.0, 0.0]
