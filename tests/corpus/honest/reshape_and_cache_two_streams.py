# kgtui: op=vllm::reshape_and_cache expect=pass
"""Keys and values scattered by one kernel in two launches; on a GPU the values go on a second stream that is joined."""

import contextlib

import torch
import triton
import triton.language as tl

SIDE = {}


@triton.jit
def scatter_kernel(
    x_ptr, cache_ptr, slot_ptr, tokens, width, x_token,
    HEAD: tl.constexpr, PAGE: tl.constexpr, PACK: tl.constexpr, TOKENS: tl.constexpr, WIDTH: tl.constexpr,
):
    token = (tl.program_id(0).to(tl.int64) * TOKENS + tl.arange(0, TOKENS))[:, None]
    element = (tl.program_id(1) * WIDTH + tl.arange(0, WIDTH))[None, :]
    slot = tl.load(slot_ptr + token, mask=token < tokens, other=-1)
    inside = (slot >= 0) & (element < width)
    x = tl.load(x_ptr + token * x_token + element, mask=inside)
    page = slot // PAGE * width * PAGE
    # A cache of values is one of keys with a single element in each pack.
    pack = element // HEAD * (HEAD // PACK) + element % HEAD // PACK
    tl.store(cache_ptr + page + pack * PAGE * PACK + slot % PAGE * PACK + element % PACK, x, mask=inside)


def scatter(x, cache, slots, page, pack):
    tokens, heads, head_size = x.shape
    if x.stride()[1:] != (head_size, 1):
        x = x.contiguous()
    width = heads * head_size
    grid = (triton.cdiv(tokens, 8), triton.cdiv(width, 256))
    scatter_kernel[grid](
        x, cache, slots, tokens, width, x.stride(0), HEAD=head_size, PAGE=page, PACK=pack, TOKENS=8, WIDTH=256,
    )


@contextlib.contextmanager
def beside(device):
    """A second stream that begins after the current one's work and is waited for at the end; nothing on a CPU."""
    if device.type != "cuda":
        yield
        return
    side = SIDE.setdefault(device, torch.cuda.Stream(device))
    current = torch.cuda.current_stream(device)
    side.wait_stream(current)
    with torch.cuda.stream(side):
        yield
    current.wait_stream(side)


def reshape_and_cache(key, value, key_cache, value_cache, slot_mapping, kv_cache_dtype, k_scale, v_scale):
    caches = key_cache, value_cache
    if not all(x.is_contiguous() for x in (*caches, slot_mapping)) or {key.stride(-1), value.stride(-1)} != {1}:
        dense = [x.contiguous() for x in (key, value, *caches, slot_mapping)]
        reshape_and_cache(*dense, kv_cache_dtype, k_scale, v_scale)
        for cache, written in zip(caches, dense[2:4]):
            cache.copy_(written)
        return
    assert kv_cache_dtype == "auto" and key_cache.is_contiguous() and value_cache.is_contiguous()
    if key.numel() == 0:
        return
    page = value_cache.shape[3]
    with beside(value.device):
        scatter(value, value_cache, slot_mapping, page, 1)
    scatter(key, key_cache, slot_mapping, page, key_cache.shape[4])
