"""Norms, rotations, quantisation, attention and scans of vLLM, in loops and NumPy from the definitions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from scipy import linalg, special

from tests.problems.oracles.float8 import LARGEST, codes_of, rounded, values_of

Array = np.ndarray[Any, Any]
_LEAST_FP8_SCALE = 1 / (LARGEST * 512)


def normed(x: Array, weight: Array, epsilon: float) -> Array:
    return x / np.sqrt(np.mean(np.square(x), axis=-1, keepdims=True) + epsilon) * weight


def rms_norm(out: Array, x: Array, weight: Array, epsilon: float) -> Array:
    return normed(x, weight, epsilon)


def turned(head: Array, row: Array, is_neox: bool) -> Array:
    """One head turned by a row of cosines and sines, pair by pair as complex numbers."""
    half = len(row) // 2
    answer = head.copy()
    for i in range(half):
        first, second = (i, i + half) if is_neox else (2 * i, 2 * i + 1)
        product = complex(head[first], head[second]) * complex(row[i], row[half + i])
        answer[first], answer[second] = product.real, product.imag
    return answer


def rotary_embedding(
    positions: Array, query: Array, key: Array | None, size: int, table: Array, is_neox: bool
) -> list[Array]:
    given = [heads for heads in (query, key) if heads is not None]
    for heads in given:
        for token, head in np.ndindex(heads.shape[:2]):
            heads[token, head] = turned(heads[token, head], table[positions[token]], is_neox)
    return given


def fused_qk_norm_rope(
    qkv: Array, queries: int, keys: int, values: int, size: int, eps: float, q_weight: Array, k_weight: Array,
    table: Array, is_neox: bool, positions: Array,
) -> Array:  # fmt: skip
    for token, head in np.ndindex(len(qkv), queries + keys):
        part = slice(head * size, (head + 1) * size)
        own = normed(qkv[token, part], q_weight if head < queries else k_weight, eps)
        qkv[token, part] = turned(own, table[positions[token]], is_neox)
    return qkv


def apply_repetition_penalties_cuda(logits: Array, prompt: Array, output: Array, penalties: Array) -> Array:
    for b, v in np.ndindex(logits.shape):
        if prompt[b, v] or output[b, v]:
            logits[b, v] = logits[b, v] / penalties[b] if logits[b, v] > 0 else logits[b, v] * penalties[b]
    return logits


def moe_sum(x: Array, out: Array) -> Array:
    return np.array([[math.fsum(x[t, :, h]) for h in range(x.shape[2])] for t in range(len(x))])


def hadacore_transform(x: Array, is_in_place: bool) -> tuple[Array, Array]:
    answer = x @ linalg.hadamard(x.shape[1]) / math.sqrt(x.shape[1])
    return answer, answer if is_in_place else x


def merge_attn_states(
    out: Array, prefix: Array, prefix_lse: Array, suffix: Array, suffix_lse: Array, out_lse: Array | None = None
) -> list[Array]:
    lse = np.logaddexp(prefix_lse, suffix_lse)
    shares = (np.exp(one - lse).T[..., None] for one in (prefix_lse, suffix_lse))
    answer = sum(share * part for share, part in zip(shares, (prefix, suffix), strict=True))
    return [np.asarray(answer), *([lse] if out_lse is not None else [])]


def cutlass_pack_scale_fp8(scales: Array) -> Array:
    return rounded(np.array([scale * (j - 8) for scale in scales.flat for j in range(8)]))


def convert_fp8(out: Array, x: Array, scale: float, kind: str) -> Array:
    return codes_of(x / scale)


def cutlass_scaled_mm(a: Array, b: Array, scale_a: Array, scale_b: Array, dtype: Any, bias: Array | None) -> Array:
    return scale_a * scale_b * (a.astype(np.float64) @ b.astype(np.float64)) + (bias if bias is not None else 0)


def cutlass_scaled_mm_azp(
    a: Array, b: Array, scale_a: Array, scale_b: Array, dtype: Any, adjustment: Array, azp: Array | None,
    bias: Array | None,
) -> Array:  # fmt: skip
    product = a.astype(np.int64) @ b.astype(np.int64)
    product = product - np.outer(azp if azp is not None else np.ones(len(a), dtype=np.int64), adjustment)
    return scale_a * scale_b * product + (bias if bias is not None else 0)


def scaled_fp8_quant(
    x: Array, scale: Array | None, padded: int | None, bound: Array | None, by_token: bool, *_: Any
) -> tuple[Array, Array]:
    if scale is not None:
        return rounded(x / scale.item()), scale
    if not by_token:
        largest = np.abs(x).max() / LARGEST
        return rounded(x / largest), largest.reshape(1)
    tops = np.abs(x).max(axis=1, keepdims=True)
    scales = np.maximum((np.minimum(tops, bound) if bound is not None else tops) / LARGEST, _LEAST_FP8_SCALE)
    return rounded(x / scales), scales


def scaled_int8_quant(x: Array, scale: Array | None, azp: Array | None, is_symmetric: bool) -> list[Array]:
    shown = [] if is_symmetric else [azp]
    if scale is None:
        low, high = x.min(axis=1, keepdims=True), x.max(axis=1, keepdims=True)
        scale = np.abs(x).max(axis=1, keepdims=True) / 127 if is_symmetric else (high - low) / 255
        shown = [] if is_symmetric else [np.rint(-128 - low / scale)]
    levels = np.rint(x / scale) + (shown[0] if shown else 0)
    return [np.clip(levels, -128, 127), scale, *[one for one in shown if one is not None]]


def quantised_rows(y: Array, dtype: torch.dtype, bound: Array | None) -> tuple[Array, Array]:
    """Levels and scale of each row."""
    largest, least = (127, 2.0**-23) if dtype == torch.int8 else (LARGEST, _LEAST_FP8_SCALE)
    tops = np.abs(y).max(axis=1, keepdims=True)
    scales = np.maximum((np.minimum(tops, bound) if bound is not None else tops) / largest, least)
    levels = np.clip(np.rint(y / scales), -128, 127) if dtype == torch.int8 else rounded(y / scales)
    return levels, scales


def rms_norm_dynamic_per_token_quant(
    x: Array, weight: Array, epsilon: float, dtype: torch.dtype, bound: Array | None, residual: Array | None
) -> list[Array]:
    total = x if residual is None else x + residual
    return [*quantised_rows(normed(total, weight, epsilon), dtype, bound), *([] if residual is None else [total])]


def rms_norm_per_block_quant(
    x: Array, weight: Array, epsilon: float, dtype: torch.dtype, group: list[int], bound: Array | None,
    residual: Array | None, *_: Any,
) -> list[Array]:  # fmt: skip
    total = x if residual is None else x + residual
    levels, scales = quantised_rows(normed(total, weight, epsilon).reshape(-1, group[1]), dtype, bound)
    return [levels.reshape(x.shape), scales.reshape(len(x), -1), *([] if residual is None else [total])]


def fused_add_rms_norm(x: Array, residual: Array, weight: Array, epsilon: float) -> tuple[Array, Array]:
    return normed(x + residual, weight, epsilon), x + residual


def head_logits(query: Array, keys: Array, table: Array, length: int, scale: float, slope: float) -> Array:
    """(length,) logits of one head over its tokens; keys: (blocks, D / x, B, x)."""
    size = keys.shape[2]
    rows = [keys[table[t // size], :, t % size].reshape(-1) for t in range(length)]
    return np.array([scale * float(query @ row) + slope * (t - length + 1) for t, row in enumerate(rows)])


def attended(arguments: tuple[Any, ...], sequence: int, head: int) -> tuple[Array, Array]:
    """Logits and values of the tokens of one head; `arguments` are those of version 1 from the query on."""
    query, keys, values, kv_heads, scale, tables, lengths, _, _, slopes, kind, k_scale, v_scale = arguments[:13]
    own, length = head // (query.shape[1] // kv_heads), int(lengths[sequence])
    if kind == "fp8":
        keys, values = values_of(keys) * k_scale[0], values_of(values) * v_scale[0]
    slope = float(slopes[head]) if slopes is not None else 0.0
    logits = head_logits(query[sequence, head], keys[:, own], tables[sequence], length, scale, slope)
    size = values.shape[3]
    return logits, np.array([values[tables[sequence, t // size], own, :, t % size] for t in range(length)])


def paged_attention_v1(out: Array, *arguments: Any) -> Array:
    for sequence, head in np.ndindex(out.shape[:2]):
        logits, values = attended(arguments, sequence, head)
        out[sequence, head] = special.softmax(logits) @ values
    return out


def paged_attention_v2(
    out: Array, sums: Array, tops: Array, parts: Array, *arguments: Any
) -> tuple[Array, Array, Array, Array]:
    for sequence, head in np.ndindex(out.shape[:2]):
        logits, values = attended(arguments, sequence, head)
        out[sequence, head] = special.softmax(logits) @ values
        for number, first in enumerate(range(0, len(logits), 512)):
            own = logits[first : first + 512]
            tops[sequence, head, number] = own.max()
            sums[sequence, head, number] = np.exp(own - own.max()).sum()
            parts[sequence, head, number] = special.softmax(own) @ values[first : first + 512]
    return out, sums, tops, parts


def selective_scan_fwd(*arguments: Any) -> list[Array]:
    u, delta, a, b, c, d, z, bias, has_softplus, starts, slots, has_state, states, skipped = arguments[:14]
    answer = (delta if z is None else z).copy()
    for sequence, channel in np.ndindex(len(starts) - 1, len(u)):
        if slots[sequence] == skipped:
            continue
        state = states[slots[sequence], channel] if has_state[sequence] else np.zeros(a.shape[1])
        group = channel // (len(u) // len(b))
        for t in range(starts[sequence], starts[sequence + 1]):
            step = delta[channel, t] + (bias[channel] if bias is not None else 0)
            step = np.logaddexp(0, step) if has_softplus else step
            state = np.exp(step * a[channel]) * state + step * u[channel, t] * b[group, :, t]
            y = float(c[group, :, t] @ state) + (d[channel] * u[channel, t] if d is not None else 0)
            answer[channel, t] = y if z is None else y * z[channel, t] * special.expit(z[channel, t])
        states[slots[sequence], channel] = state
    return [answer, states] if z is None else [delta, answer, states]


ORACLES = {
    "rms_norm": rms_norm,
    "fused_add_rms_norm": fused_add_rms_norm,
    "rotary_embedding": rotary_embedding,
    "fused_qk_norm_rope": fused_qk_norm_rope,
    "apply_repetition_penalties_cuda": apply_repetition_penalties_cuda,
    "moe_sum": moe_sum,
    "hadacore_transform": hadacore_transform,
    "merge_attn_states": merge_attn_states,
    "cutlass_pack_scale_fp8": cutlass_pack_scale_fp8,
    "convert_fp8": convert_fp8,
    "cutlass_scaled_mm": cutlass_scaled_mm,
    "cutlass_scaled_mm_azp": cutlass_scaled_mm_azp,
    "scaled_fp8_quant": scaled_fp8_quant,
    "scaled_int8_quant": scaled_int8_quant,
    "rms_norm_dynamic_per_token_quant": rms_norm_dynamic_per_token_quant,
    "rms_norm_per_block_quant": rms_norm_per_block_quant,
    "paged_attention_v1": paged_attention_v1,
    "paged_attention_v2": paged_attention_v2,
    "selective_scan_fwd": selective_scan_fwd,
}
