# kgtui: op=aten::embedding expect=wrong_value diagnosis=wrong_stride case="40x65[31] f32 weight padded"
"""Takes rows for neighbours wherever the numbers of a row are."""

import torch
import triton
import triton.language as tl


@triton.jit
def embedding_kernel(
    weight_ptr, indices_ptr, y_ptr, count, width, weight_row, weight_col,
    ROWS: tl.constexpr, COLS: tl.constexpr,
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    index = tl.load(indices_ptr + row, mask=row < count, other=0).to(tl.int64)
    inside = (row[:, None] < count) & (col[None, :] < width)
    w = tl.load(weight_ptr + index[:, None] * weight_row + col[None, :] * weight_col, mask=inside)
    tl.store(y_ptr + row[:, None].to(tl.int64) * width + col[None, :], w, mask=inside)


def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    width = weight.shape[1]
    if weight.stride(1) == 1:
        weight = weight.as_strided(weight.shape, (width, 1))
    y = torch.empty((*indices.shape, width), dtype=weight.dtype, device=weight.device)
    if y.numel() == 0:
        return y
    flat = indices.reshape(-1)
    cols = min(triton.next_power_of_2(width), 1024)
    rows = max(1, min(triton.next_power_of_2(flat.numel()), 4096 // cols))
    grid = (triton.cdiv(flat.numel(), rows), triton.cdiv(width, cols))
    embedding_kernel[grid](
        weight, flat.contiguous(), y, flat.numel(), width, *weight.stride(), ROWS=rows, COLS=cols, num_warps=4,
    )
    return y
