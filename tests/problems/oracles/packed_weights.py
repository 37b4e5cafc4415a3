"""Products with packed weights and changes of their layout, value by value from the layouts that vLLM documents."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

NEIGHBOURS = {4: (0, 1, 2, 3, 4, 5, 6, 7), 8: (0, 1, 2, 3)}
EVEN_FIRST = {4: (0, 2, 4, 6, 1, 3, 5, 7), 8: (0, 2, 1, 3)}
BITS_OF_TYPE = {"uint4b8": 4, "uint8b128": 8}
_ALLSPARK_ZERO = 128


def unpacked(words: Array, bits: int, order: Sequence[int]) -> Array:
    """(..., W) words -> (..., W * 32 / bits) values; place i of a word is its neighbour order[i]."""
    values = np.zeros((*words.shape[:-1], words.shape[-1] * len(order)), dtype=np.int64)
    for place, neighbour in enumerate(order):
        values[..., neighbour :: len(order)] = (words.astype(np.int64) & 0xFFFFFFFF) >> bits * place & (1 << bits) - 1
    return values


def packed(values: Array, bits: int, order: Sequence[int]) -> Array:
    """The words that `unpacked` takes apart."""
    words = np.zeros((*values.shape[:-1], values.shape[-1] // len(order)), dtype=np.uint32)
    for place, neighbour in enumerate(order):
        words |= values[..., neighbour :: len(order)].astype(np.uint32) << np.uint32(bits * place)
    return words.view(np.int32)


def of_groups(rows: Array, count: int) -> Array:
    """(groups, N) -> (count, N): each row for its share of `count` neighbours along K."""
    return np.repeat(rows, count // len(rows), axis=0)


def awq_gemm(x: Array, words: Array, scales: Array, zeros: Array, *_: Any) -> Array:
    q, z = unpacked(words, 4, EVEN_FIRST[4]), unpacked(zeros, 4, EVEN_FIRST[4])
    return x @ ((q - of_groups(z, len(q))) * of_groups(scales, len(q)))


def gptq_gemm(
    x: Array, words: Array, zeros: Array, scales: Array, index: Array, exllama: bool, v2: bool, bits: int
) -> Array:
    q = unpacked(words.T, bits, EVEN_FIRST[4] if exllama and bits == 4 else NEIGHBOURS[bits]).T
    z = unpacked(zeros, bits, NEIGHBOURS[bits]) + (0 if v2 else 1)
    by_position = np.arange(len(q)) // (len(q) // len(scales))
    groups, rows = (by_position, index if len(index) else np.arange(len(q))) if exllama else (index, np.arange(len(q)))
    return x[:, rows] @ ((q - z[groups]) * scales[groups])


def lane_places(rows: int, columns: int) -> Iterator[tuple[int, int]]:
    """Row and column of each weight in the order of Marlin's tiles, lane by lane as mma.m16n8k16 reads an operand."""
    for top in range(0, rows, 16):
        for left in range(0, columns, 64):
            for lane in range(32):
                for tile in range(4):
                    for half in (0, 8):
                        for step in (0, 1, 8, 9):
                            yield top + 2 * (lane % 4) + step, left + 16 * tile + lane // 4 + half


def to_marlin(q: Array, bits: int) -> Array:
    ordered = np.array([q[place] for place in lane_places(*q.shape)]).reshape(len(q) // 16, -1)
    return packed(ordered, bits, EVEN_FIRST[bits])


def from_marlin(words: Array, bits: int, columns: int) -> Array:
    q = np.zeros((16 * len(words), columns), dtype=np.int64)
    for place, value in zip(lane_places(*q.shape), unpacked(words, bits, EVEN_FIRST[bits]).flat, strict=True):
        q[place] = value
    return q


def awq_marlin_moe_repack(words: Array, perm: Array, k: int, n: int, bits: int, *_: Any) -> Array:
    return np.stack([to_marlin(unpacked(one, bits, EVEN_FIRST[bits]), bits) for one in words])


def gptq_marlin_moe_repack(words: Array, perm: Array, k: int, n: int, bits: int, *_: Any) -> Array:
    plain = [unpacked(one.T, bits, NEIGHBOURS[bits]).T for one in words]
    return np.stack([to_marlin(q[p] if len(p) else q, bits) for q, p in zip(plain, perm, strict=True)])


def gptq_marlin_gemm(*arguments: Any) -> Array:
    x, words, stored, index, perm = (arguments[place] for place in (0, 2, 4, 8, 9))
    bits, columns, rows = BITS_OF_TYPE[arguments[11]], arguments[13], arguments[14]
    if len(stored) == 1:
        order = [2 * row + column for row in range(4) for column in (0, 1, 8, 9, 16, 17, 24, 25)]
    else:
        order = [row + 8 * column for row in range(8) for column in range(8)]
    scales = np.zeros_like(stored)
    for place in range(columns):
        scales[:, place // len(order) * len(order) + order[place % len(order)]] = stored[:, place]
    groups = index if len(index) else np.arange(rows) // (rows // len(scales))
    weights = (from_marlin(words, bits, columns) - 2 ** (bits - 1)) * scales[groups]
    return (x[:, perm] if len(perm) else x) @ weights


def gptq_shuffle(words: Array, perm: Array, bits: int) -> Array:
    q = unpacked(words.T, bits, NEIGHBOURS[bits]).T
    order = EVEN_FIRST[4] if bits == 4 else NEIGHBOURS[8]
    return packed((q[perm] if len(perm) else q).T, bits, order).T


def marlin_int4_fp8_preprocess(words: Array, zeros: Array | None, is_in_place: bool) -> tuple[Array, Array]:
    q = unpacked(words, 4, NEIGHBOURS[4])
    z = np.full_like(q, 8) if zeros is None else of_groups(unpacked(zeros, 4, NEIGHBOURS[4]), len(q))
    answer = packed(np.where(q >= z, q - z, 15 - q), 4, NEIGHBOURS[4])
    return answer, answer if is_in_place else words


def allspark_w8a16_gemm(x: Array, words: Array, scales: Array, zeros: Array | None, n: int, *_: Any) -> Array:
    rows = x.shape[1]
    stored, weights = words.reshape(len(words) // 4, 4 * rows), np.zeros((rows, n))
    for j in range(n):
        place = 32 * (j // 32) + 4 * (j % 8) + j % 32 // 8
        zero = _ALLSPARK_ZERO + (zeros[0, place] if zeros is not None else 0)
        for k in range(rows):
            tile = 64 * (k // 16) + 16 * (k % 8 // 2) + 2 * (k % 16 // 8) + k % 2
            column = tile + 8 * (j % 32 // 16) + 4 * (j % 16 // 8)
            weights[k, j] = (float(stored[8 * (j // 32) + j % 8, column]) - zero) * scales[0, place]
    return x @ weights


def block_values(block: bytes, kind: int) -> list[float]:
    """The 32 values of a GGML block, as the C functions dequantize_row_q4_0 and so on compute them."""
    (scale,) = struct.unpack_from("<e", block)
    if kind == 8:
        return [scale * code for code in struct.unpack_from("<32b", block, 2)]
    has_offset, has_fifth_bit = kind in (3, 7), kind in (6, 7)
    offset = struct.unpack_from("<e", block, 2)[0] if has_offset else 0.0
    first = 4 if has_offset else 2
    fifth = struct.unpack_from("<I", block, first)[0] if has_fifth_bit else 0
    codes = block[first + 4 * has_fifth_bit :]
    middle = 0 if has_offset else 16 if has_fifth_bit else 8
    halves = [code & 15 for code in codes] + [code >> 4 for code in codes]
    return [scale * (code + 16 * (fifth >> j & 1) - middle) + offset for j, code in enumerate(halves)]


def ggml_weights(w: Array, kind: int) -> Array:
    """(rows, bytes) -> (rows, columns)."""
    size = {2: 18, 3: 20, 6: 22, 7: 24, 8: 34}[kind]
    return np.array(
        [
            [
                value
                for start in range(0, len(row), size)
                for value in block_values(bytes(row[start : start + size]), kind)
            ]
            for row in w
        ]
    )


def ggml_dequantize(w: Array, kind: int, *_: Any) -> Array:
    return ggml_weights(w, kind)


def ggml_mul_mat_a8(w: Array, x: Array, kind: int, row: int) -> Array:
    return x @ ggml_weights(w, kind).T


def ggml_moe_a8_vec(x: Array, w: Array, chosen: Array, top_k: int, kind: int, row: int, tokens: int) -> Array:
    weights = [ggml_weights(one, kind) for one in w]
    return np.array([weights[expert] @ x[token] for token in range(tokens) for expert in chosen[token]])


def ggml_moe_a8(
    x: Array, w: Array, listed: Array, experts: Array, total: Array, kind: int, row: int, top_k: int, tokens: int
) -> Array:
    answer, block = np.zeros((tokens * top_k, row)), len(listed) // len(experts)
    weights = [ggml_weights(one, kind) for one in w]
    for place, pair in enumerate(listed[: int(total[0])]):
        if pair < tokens * top_k:
            answer[pair] = weights[experts[place // block]] @ x[pair // top_k]
    return answer


ORACLES = {
    "awq_gemm": awq_gemm,
    "gptq_gemm": gptq_gemm,
    "awq_marlin_moe_repack": awq_marlin_moe_repack,
    "gptq_marlin_moe_repack": gptq_marlin_moe_repack,
    "gptq_marlin_gemm": gptq_marlin_gemm,
    "gptq_shuffle": gptq_shuffle,
    "marlin_int4_fp8_preprocess": marlin_int4_fp8_preprocess,
    "allspark_w8a16_gemm": allspark_w8a16_gemm,
    "ggml_dequantize": ggml_dequantize,
    "ggml_mul_mat_a8": ggml_mul_mat_a8,
    "ggml_mul_mat_vec_a8": ggml_mul_mat_a8,
    "ggml_moe_a8": ggml_moe_a8,
    "ggml_moe_a8_vec": ggml_moe_a8_vec,
}
