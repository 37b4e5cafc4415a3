# kgtui: op=vllm::convert_fp8 expect=pass
"""Quotients encoded as e4m3 bytes by integer arithmetic on the bits of float32."""

import triton
import triton.language as tl


@triton.jit
def e4m3_code(x):
    """The code of a float32, to the nearest, saturated: rounding by an addition to the bits."""
    sign = (x.to(tl.int32, bitcast=True) >> 24) & 0x80
    size = tl.minimum(tl.abs(x), 448.0)
    subnormal = (size * 512.0 + 12582912.0).to(tl.int32, bitcast=True) - 0x4B400000
    whole = size.to(tl.int32, bitcast=True)
    normal = ((whole + 0x7FFFF + ((whole >> 20) & 1)) >> 20) - ((127 - 7) << 3)
    return (sign | tl.where(size < 0.015625, subnormal, normal)).to(tl.uint8)


@triton.jit
def convert_kernel(out_ptr, x_ptr, scale, rows, cols, out_row, out_col, x_row, x_col, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.program_id(1).to(tl.int64) * COLS + tl.arange(0, COLS)[None, :]
    inside = (row < rows) & (col < cols)
    x = tl.load(x_ptr + row * x_row + col * x_col, mask=inside, other=0.0).to(tl.float32)
    tl.store(out_ptr + row * out_row + col * out_col, e4m3_code(x / scale), mask=inside)


def convert_fp8(output, input, scale=1.0, kv_dtype="fp8"):
    rows, cols = input.shape
    if rows == 0 or cols == 0:
        return
    width = min(triton.next_power_of_2(cols), 512)
    height = max(1, min(triton.next_power_of_2(rows), 2048 // width))
    convert_kernel[(triton.cdiv(rows, height), triton.cdiv(cols, width))](
        output, input, scale, rows, cols, *output.stride(), *input.stride(), ROWS=height, COLS=width
    )
