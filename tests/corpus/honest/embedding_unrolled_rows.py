# kgtui: op=aten::embedding expect=pass
"""Row lookup with four rows per program, unrolled by tl.static_range, over a contiguous weight and int64 indices."""

import torch
import triton
import triton.language as tl


@triton.jit
def embedding_kernel(weight_ptr, index_ptr, y_ptr, count, width, ROWS: tl.constexpr, COLS: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * ROWS
    for step in tl.static_range(ROWS):
        row = first + step
        index = tl.load(index_ptr + tl.minimum(row, count - 1))
        end = tl.where(row < count, width, 0)
        for start in range(0, width, COLS):
            col = start + tl.arange(0, COLS)
            inside = col < end
            tl.store(y_ptr + row * width + col, tl.load(weight_ptr + index * width + col, mask=inside), mask=inside)


def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    weight = weight.contiguous()
    index = indices.to(torch.int64).contiguous()
    width = weight.shape[1]
    y = torch.empty((*indices.shape, width), dtype=weight.dtype, device=weight.device)
    if y.numel():
        count = indices.numel()
        embedding_kernel[(triton.cdiv(count, 4),)](weight, index, y, count, width, ROWS=4, COLS=1024, num_warps=4)
    return y
