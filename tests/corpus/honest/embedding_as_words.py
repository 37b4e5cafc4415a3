# kgtui: op=aten::embedding expect=pass
"""Row lookup that moves bits: rows are viewed as integers of the widest type that they consist of."""

import torch
import triton
import triton.language as tl


@triton.jit
def _copy_rows(src, idx, dst, n, words, stride, WORDS: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    i = tl.load(idx + r).to(tl.int64)
    for w0 in range(0, words, WORDS):
        w = w0 + tl.arange(0, WORDS)
        tl.store(dst + r * words + w, tl.load(src + i * stride + w, mask=w < words), mask=w < words)


def _words(weight):
    """`weight` as integers of the widest type that its rows consist of."""
    size = weight.element_size()
    for dtype in (torch.int32, torch.int16, torch.uint8):
        wide = torch.empty((), dtype=dtype).element_size()
        bytes_of = (weight.shape[1] * size, weight.stride(0) * size, weight.storage_offset() * size, weight.data_ptr())
        if wide >= size and all(count % wide == 0 for count in bytes_of):
            return weight.view(dtype)
    return weight


def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    if weight.stride(1) != 1 or weight.stride(0) < weight.shape[1]:
        weight = weight.contiguous()
    out = weight.new_empty((*indices.shape, weight.shape[1]))
    n = indices.numel()
    if n and weight.shape[1]:
        src = _words(weight)
        dst = out.view(src.dtype)
        _copy_rows[(n,)](src, indices.contiguous(), dst, n, src.shape[1], src.stride(0), WORDS=256, num_warps=2)
    return out
