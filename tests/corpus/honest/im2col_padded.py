# kgtui: op=aten::im2col expect=pass
"""Columns of an image that torch has padded, so that the kernel reads every pixel without a mask."""

import torch
import triton
import triton.language as tl


@triton.jit
def columns_kernel(
    image_ptr, y_ptr, height, width, rows, columns, KW: tl.constexpr, DH, DW, SH, SW, BLOCK: tl.constexpr,
):
    plane, tap = tl.program_id(0).to(tl.int64), tl.program_id(1)
    image_ptr += plane * height * width + tap // KW * DH * width + tap % KW * DW
    y_ptr += (plane * tl.num_programs(1) + tap) * rows * columns
    for start in range(0, rows * columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = at < rows * columns
        value = tl.load(image_ptr + at // columns * SH * width + at % columns * SW, mask=inside)
        tl.store(y_ptr + at, value, mask=inside)


def im2col(self, kernel_size, dilation, padding, stride):
    x = self if self.dim() == 4 else self.unsqueeze(0)
    batch, channels, height, width = x.shape
    (kh, kw), (dh, dw), (ph, pw), (sh, sw) = kernel_size, dilation, padding, stride
    padded = torch.zeros((batch, channels, height + 2 * ph, width + 2 * pw), dtype=x.dtype, device=x.device)
    padded[:, :, ph : ph + height, pw : pw + width] = x
    rows = (height + 2 * ph - dh * (kh - 1) - 1) // sh + 1
    columns = (width + 2 * pw - dw * (kw - 1) - 1) // sw + 1
    y = torch.empty((batch, channels * kh * kw, rows * columns), dtype=x.dtype, device=x.device)
    if y.numel():
        columns_kernel[(batch * channels, kh * kw)](
            padded, y, height + 2 * ph, width + 2 * pw, rows, columns, kw, dh, dw, sh, sw, BLOCK=128
        )
    return y if self.dim() == 4 else y.squeeze(0)
