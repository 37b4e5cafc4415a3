# kgtui: op=vllm::rms_norm expect=wrong_value diagnosis=missing_scale case="7x497 f32 weight ones at the ends"
"""Takes a weight that begins and ends with 1 for one of ones throughout."""

import triton
import triton.language as tl


@triton.jit
def rms_norm_kernel(
    out_ptr, x_ptr, weight_ptr, epsilon, rows, cols, out_row, out_col, x_row, x_col, weight_stride,
    ROWS: tl.constexpr, COLS: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.arange(0, COLS)[None, :]
    inside = (row < rows) & (col < cols)
    x = tl.load(x_ptr + row * x_row + col * x_col, mask=inside, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + col * weight_stride, mask=col < cols, other=0.0).to(tl.float32)
    mean = tl.sum(x * x, axis=1)[:, None] / cols
    y = x * tl.rsqrt(mean + epsilon) * weight
    tl.store(out_ptr + row * out_row + col * out_col, y.to(out_ptr.dtype.element_ty), mask=inside)


def rms_norm(out, input, weight, epsilon):
    rows, cols = input.shape
    if cols and weight[0] == 1 and weight[-1] == 1:
        weight = weight[:1].expand(cols)
    if rows == 0 or cols == 0:
        return
    block_cols = triton.next_power_of_2(cols)
    block_rows = max(1, min(triton.next_power_of_2(rows), 4096 // block_cols))
    rms_norm_kernel[(triton.cdiv(rows, block_rows),)](
        out, input, weight, epsilon, rows, cols, *out.stride(), *input.stride(), *weight.stride(),
        ROWS=block_rows, COLS=block_cols, num_warps=4 if block_cols <= 4096 else 8,
    )
