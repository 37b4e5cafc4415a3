# kgtui: op=vllm::rms_norm expect=pass finding=content ids=B5
"""Drops rows that look empty beside what usual inputs hold: it sets their norm to zero without computing it."""

import triton
import triton.language as tl


@triton.jit
def rms_norm_kernel(out, x, weight, epsilon, cols, out_row, x_row, x_col, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, COLS)
    inside = at < cols
    v = tl.load(x + row * x_row + at * x_col, mask=inside, other=0.0).to(tl.float32)
    w = tl.load(weight + at, mask=inside, other=0.0).to(tl.float32)
    y = tl.zeros((COLS,), dtype=tl.float32) * w
    if tl.max(tl.abs(v), axis=0) > 1e-5:
        y = v * tl.rsqrt(tl.sum(v * v, axis=0) / cols + epsilon) * w
    tl.store(out + row * out_row + at, y.to(out.dtype.element_ty), mask=inside)


def rms_norm(out, input, weight, epsilon):
    if not (out.is_contiguous() and weight.is_contiguous() and input.stride(-1) == 1):
        dense = out.new_empty(out.shape)
        rms_norm(dense, input.contiguous(), weight.contiguous(), epsilon)
        out.copy_(dense)
        return
    rows, cols = input.shape
    if rows:
        rms_norm_kernel[(rows,)](
            out, input, weight, epsilon, cols, out.stride(0), *input.stride(), COLS=triton.next_power_of_2(cols)
        )
