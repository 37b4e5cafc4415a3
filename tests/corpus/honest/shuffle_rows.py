# kgtui: op=vllm::shuffle_rows expect=pass
"""Rows gathered by a map, one block of a row per program."""

import torch
import triton
import triton.language as tl


@triton.jit
def shuffle_rows_kernel(x_ptr, map_ptr, out_ptr, cols, x_row, x_col, map_stride, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    source = tl.load(map_ptr + row * map_stride).to(tl.int64)
    value = tl.load(x_ptr + source * x_row + col * x_col, mask=col < cols)
    tl.store(out_ptr + row * cols + col, value, mask=col < cols)


def shuffle_rows(input_tensor, dst2src_map):
    rows, cols = dst2src_map.shape[0], input_tensor.shape[1]
    out = torch.empty((rows, cols), dtype=input_tensor.dtype, device=input_tensor.device)
    if out.numel() == 0:
        return out
    width = min(triton.next_power_of_2(cols), 2048)
    shuffle_rows_kernel[(rows, triton.cdiv(cols, width))](
        input_tensor, dst2src_map, out, cols, *input_tensor.stride(), dst2src_map.stride(0), COLS=width
    )
    return out
