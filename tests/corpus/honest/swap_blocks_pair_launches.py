# kgtui: op=vllm::swap_blocks expect=pass
"""One launch per pair, as the mapping is in host memory; blocks as raw 16-bit words."""
import torch
import triton
import triton.language as tl


@triton.jit
def move(src, dst, n, sizes, ss, ds, RANK: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    rest = i
    a = tl.zeros((BLOCK,), tl.int64)
    b = tl.zeros((BLOCK,), tl.int64)
    for d in tl.static_range(RANK - 1, -1, -1):
        a += rest % sizes[d] * ss[d]
        b += rest % sizes[d] * ds[d]
        rest = rest // sizes[d]
    tl.store(dst + b, tl.load(src + a, mask=i < n), mask=i < n)


def swap_blocks(src, dst, block_mapping):
    src, dst = src.view(torch.int16), dst.view(torch.int16)
    n = src[0].numel() if src.shape[0] else 0
    if n == 0:
        return
    for source, target in block_mapping.tolist():
        a, b = src[source], dst[target]
        move[(triton.cdiv(n, 512),)](a, b, n, tuple(a.shape), tuple(a.stride()), tuple(b.stride()), RANK=a.dim(), BLOCK=512)
