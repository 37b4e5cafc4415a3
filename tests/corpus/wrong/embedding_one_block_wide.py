# kgtui: op=aten::embedding expect=wrong_value|nonfinite diagnosis=unwritten_output case="64x128[3x4] f32"
"""One block of 64 columns is copied from each row; the rest of a wider row stays uninitialised."""

import torch
import triton
import triton.language as tl


@triton.jit
def embedding_kernel(weight_ptr, indices_ptr, y_ptr, count, width, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.arange(0, COLS)[None, :]
    inside = (row < count) & (col < width)
    index = tl.load(indices_ptr + row, mask=row < count, other=0)
    tl.store(y_ptr + row * width + col, tl.load(weight_ptr + index * width + col, mask=inside), mask=inside)


def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    weight, indices = weight.contiguous(), indices.contiguous()
    y = torch.empty((*indices.shape, weight.shape[1]), dtype=weight.dtype, device=weight.device)
    if y.numel():
        count = indices.numel()
        embedding_kernel[(triton.cdiv(count, 32),)](weight, indices, y, count, weight.shape[1], ROWS=32, COLS=64)
    return y
