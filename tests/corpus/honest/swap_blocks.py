# kgtui: op=vllm::swap_blocks expect=pass
"""Mapped blocks copied from one cache to another; strided caches are first made dense, and copied back."""

import triton
import triton.language as tl


@triton.jit
def swap_kernel(src_ptr, dst_ptr, map_ptr, elements, BLOCK: tl.constexpr):
    pair = tl.program_id(0).to(tl.int64)
    source = tl.load(map_ptr + 2 * pair)
    target = tl.load(map_ptr + 2 * pair + 1)
    at = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(src_ptr + source * elements + at, mask=at < elements)
    tl.store(dst_ptr + target * elements + at, value, mask=at < elements)


def swap_blocks(src, dst, block_mapping):
    pairs = block_mapping.shape[0]
    if pairs == 0 or src.numel() == 0:
        return
    mapping = block_mapping.contiguous().to(src.device)
    dense, out = src.contiguous(), dst.contiguous()
    elements = dense[0].numel()
    block = min(triton.next_power_of_2(elements), 1024)
    swap_kernel[(pairs, triton.cdiv(elements, block))](dense, out, mapping, elements, BLOCK=block)
    if not dst.is_contiguous():
        dst.copy_(out)
