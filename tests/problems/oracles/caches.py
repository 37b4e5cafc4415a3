"""Caches of keys and values: every element moved by its own index, in loops of Python over NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.problems.oracles.float8 import codes_of, values_of

Array = np.ndarray[Any, Any]


def copy_blocks(keys: list[Array], values: list[Array], pairs: Array) -> list[Array]:
    return [copied for caches in (keys, values) for copied in copy_blocks_mla(caches, pairs)]


def copy_blocks_mla(caches: list[Array], pairs: Array) -> list[Array]:
    for cache in caches:
        for source, target in pairs:
            cache[target] = cache[source]
    return caches


def swap_blocks(source: Array, target: Array, pairs: Array) -> Array:
    for one, other in pairs:
        target[other] = source[one]
    return target


def concat_and_cache_mla(latent: Array, rotary: Array, cache: Array, slots: Array, kind: str, scale: Array) -> Array:
    for token, slot in enumerate(slots):
        if slot >= 0:
            entry = np.concatenate((latent[token], rotary[token]))
            cache[divmod(slot, cache.shape[1])] = entry if kind == "auto" else codes_of(entry / scale[0])
    return cache


def reshape_and_cache(
    key: Array, value: Array, keys: Array, values: Array, slots: Array, *_: Any
) -> tuple[Array, Array]:
    size, group = keys.shape[3:]
    for token, slot in enumerate(slots):
        if slot >= 0:
            block, place = divmod(int(slot), size)
            for head, element in np.ndindex(key.shape[1:]):
                keys[block, head, element // group, place, element % group] = key[token, head, element]
                values[block, head, element, place] = value[token, head, element]
    return keys, values


def reshape_and_cache_flash(
    key: Array, value: Array, keys: Array, values: Array, slots: Array, kind: str, key_scale: Array, value_scale: Array
) -> tuple[Array, Array]:
    for new, cache, scale in ((key, keys, key_scale), (value, values, value_scale)):
        for token, slot in enumerate(slots):
            if slot >= 0:
                entry = new[token] if kind == "auto" else codes_of(new[token] / scale[0])
                cache[divmod(int(slot), cache.shape[1])] = entry
    return keys, values


def cp_gather_cache(
    cache: Array, out: Array, table: Array, bounds: Array, count: int, starts: Array | None = None
) -> Array:
    for sequence in range(count):
        for token in range(bounds[sequence + 1] - bounds[sequence]):
            place = token + (starts[sequence] if starts is not None else 0)
            out[bounds[sequence] + token] = cache[table[sequence, place // cache.shape[1]], place % cache.shape[1]]
    return out


def cp_gather_indexer_k_quant_cache(
    cache: Array, keys: Array, scales: Array, table: Array, bounds: Array
) -> tuple[Array, Array]:
    size, width, scale_width = cache.shape[1], keys.shape[1], 4 * scales.shape[1]
    for sequence in range(len(bounds) - 1):
        for token in range(bounds[sequence + 1] - bounds[sequence]):
            held = cache[table[sequence, token // size]].tobytes()
            first, row = token % size, bounds[sequence] + token
            keys[row] = np.frombuffer(held, np.uint8, width, first * width)
            scales[row] = np.frombuffer(held, np.float32, scales.shape[1], size * width + first * scale_width)
    return keys, scales


def gather_and_maybe_dequant_cache(
    cache: Array, out: Array, table: Array, bounds: Array, owners: Array, count: int, kind: str, scale: Array,
    starts: Array | None = None,
) -> Array:  # fmt: skip
    for row in range(count):
        sequence = owners[row]
        place = row - bounds[sequence] + (starts[sequence] if starts is not None else 0)
        held = cache[table[sequence, place // cache.shape[1]], place % cache.shape[1]]
        out[row] = held if kind == "auto" else values_of(held) * scale[0]
    return out


def permute_cols(a: Array, order: Array) -> Array:
    return np.stack([a[:, column] for column in order], axis=1)


def shuffle_rows(a: Array, order: Array) -> Array:
    return np.stack([a[row] for row in order])


ORACLES = {
    "copy_blocks": copy_blocks,
    "copy_blocks_mla": copy_blocks_mla,
    "swap_blocks": swap_blocks,
    "concat_and_cache_mla": concat_and_cache_mla,
    "reshape_and_cache": reshape_and_cache,
    "reshape_and_cache_flash": reshape_and_cache_flash,
    "cp_gather_cache": cp_gather_cache,
    "cp_gather_indexer_k_quant_cache": cp_gather_indexer_k_quant_cache,
    "gather_and_maybe_dequant_cache": gather_and_maybe_dequant_cache,
    "permute_cols": permute_cols,
    "shuffle_rows": shuffle_rows,
}
