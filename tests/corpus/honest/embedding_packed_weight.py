# kgtui: op=aten::embedding expect=pass
"""Row lookup in a packed copy of a strided weight: the memory is kept by pointer and shape, the content never is."""

import torch
import triton
import triton.language as tl

PACKED = {}


@triton.jit
def embedding_kernel(weight_ptr, index_ptr, y_ptr, width, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    index = tl.load(index_ptr + row).to(tl.int64)
    w = tl.load(weight_ptr + index * width + col, mask=col < width)
    tl.store(y_ptr + row * width + col, w, mask=col < width)


def packed(weight):
    """The weight without gaps: itself, or a copy made now in memory from before."""
    if weight.is_contiguous():
        return weight
    key = (weight.data_ptr(), weight.shape, weight.stride(), weight.dtype)
    if key not in PACKED:
        PACKED[key] = torch.empty(weight.shape, dtype=weight.dtype, device=weight.device)
    return PACKED[key].copy_(weight)


def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    width = weight.shape[1]
    y = weight.new_empty((*indices.shape, width))
    if y.numel():
        index = indices.contiguous()
        grid = (indices.numel(), triton.cdiv(width, 2048))
        embedding_kernel[grid](packed(weight), index, y, width, COLS=2048, num_warps=4)
    return y
