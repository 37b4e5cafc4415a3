# kgtui: op=vllm::moe_sum expect=pass
"""Sum of the expert outputs of a token in float32, a block of columns per program."""

import triton
import triton.language as tl


@triton.jit
def moe_sum_kernel(x_ptr, out_ptr, k, cols, x_token, x_expert, x_col, out_token, out_col, COLS: tl.constexpr):
    token = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    total = tl.zeros([COLS], dtype=tl.float32)
    for expert in range(k):
        total += tl.load(x_ptr + token * x_token + expert * x_expert + col * x_col, mask=col < cols, other=0.0).to(tl.float32)
    tl.store(out_ptr + token * out_token + col * out_col, total.to(out_ptr.dtype.element_ty), mask=col < cols)


def moe_sum(input, output):
    tokens, k, cols = input.shape
    if tokens == 0 or cols == 0:
        return
    width = min(triton.next_power_of_2(cols), 1024)
    moe_sum_kernel[(tokens, triton.cdiv(cols, width))](
        input, output, k, cols, *input.stride(), *output.stride(), COLS=width
    )
